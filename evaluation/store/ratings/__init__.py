"""Ratings, drafts, discards, practice ratings and answers to the style check."""
