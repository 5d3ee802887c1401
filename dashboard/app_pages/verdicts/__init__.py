"""The "Verdicts to check" page."""
