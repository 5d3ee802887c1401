"""Changes of what is stored: authors, undo, and decisions to keep or revert."""
