"""Who uses the dashboard, and signing in."""
