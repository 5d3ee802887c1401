"""The Rate page."""
