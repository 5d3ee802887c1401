"""Ratings, drafts, discards, assignments and answers to the style check."""
