"""Judges: questions, answers, and getting, storing and paying for judgements."""
