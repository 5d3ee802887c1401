"""Figures that several pages draw."""
