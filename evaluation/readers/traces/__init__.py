"""Readers of traces: spans and runs that tools for observability record, turned into messages."""
