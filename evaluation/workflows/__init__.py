"""The application layer: one function for each thing that a user does, called by the CLI, the dashboard and the API."""
