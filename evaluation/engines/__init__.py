"""Where transcripts are scored: in this process, or in a pool of processes."""
