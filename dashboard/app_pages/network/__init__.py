"""The Insights page."""
