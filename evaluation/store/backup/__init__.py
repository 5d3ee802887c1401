"""Backups of the database, and the check of their integrity."""
