"""Scores beside what chance gives, and their companions."""
