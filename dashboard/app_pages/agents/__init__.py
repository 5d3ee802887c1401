"""The Personas page."""
