"""The Games page: the list, one game, and adding games."""
