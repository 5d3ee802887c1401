"""Measurements of speed and scale; each module prints a table beside what is wanted."""
