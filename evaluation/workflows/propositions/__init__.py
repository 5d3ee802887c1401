"""Propositions in force: the shipped ones, those saved in the store, and a folder's; and trials of edited ones."""
