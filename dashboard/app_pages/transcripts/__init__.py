"""The Transcripts page."""
