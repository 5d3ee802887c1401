"""The Agreement page."""
