"""What readers are built of: documents, drafts of transcripts, players, limits and results."""
