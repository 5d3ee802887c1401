"""Statements about the past: parsed from messages, and checked against the game record."""
