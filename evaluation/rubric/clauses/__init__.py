"""Clauses of a message as word classes, and patterns over them."""
