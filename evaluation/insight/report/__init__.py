"""The report on one discussion, and recommendations from its figures."""
