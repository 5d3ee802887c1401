"""The chat view: a discussion in reading order with the verdicts on every message."""
