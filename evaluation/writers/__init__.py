"""Writers: transcripts as files that other programs read, and that Dramaturg can import again."""
