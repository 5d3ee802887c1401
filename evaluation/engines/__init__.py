"""Engines that score transcripts, in this process or in a pool of processes."""
