"""Project of a team in its own repository: its configuration, its pull requests, and how it starts."""
