"""Iterations and transcripts, their messages, deletions and imports."""
