"""Opinions, themes and quotes that a judge extracts from a discussion, traced back to the text."""
