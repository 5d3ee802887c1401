"""Background jobs: starting them, and showing how far they are."""
