"""The report on one discussion, and what its figures suggest."""
