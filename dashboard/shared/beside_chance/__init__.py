"""Scores beside the scores that chance gives, and their companions."""
