"""Checks of single messages by a judge, over a seeded sample and within a budget."""
