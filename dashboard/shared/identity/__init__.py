"""The person who uses the dashboard, and signing in."""
