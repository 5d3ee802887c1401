"""One module for each file format that is read."""
