"""Speech acts: what a message does in the game."""
