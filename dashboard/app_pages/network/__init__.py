"""The Network and cost page."""
