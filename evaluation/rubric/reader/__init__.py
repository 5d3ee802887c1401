"""The small reader that ships: probabilities for every message, learned from ``data/labels``."""
