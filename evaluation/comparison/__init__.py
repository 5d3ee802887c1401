"""Comparison of two iterations, two runs, and the reasons why messages fail."""
