"""The part of the Games page that adds games from files."""
