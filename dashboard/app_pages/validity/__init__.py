"""The Validity page."""
