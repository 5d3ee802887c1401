"""The address of adding games, which leads to the Games page."""
