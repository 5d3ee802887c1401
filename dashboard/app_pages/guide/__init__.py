"""The Guide page."""
