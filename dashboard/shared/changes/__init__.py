"""Changes of what is stored: who makes them, undo, and decisions to keep or revert."""
