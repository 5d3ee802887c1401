"""Building blocks of readers: documents, drafts of transcripts, players, limits and results."""
