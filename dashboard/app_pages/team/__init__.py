"""The Team page."""
