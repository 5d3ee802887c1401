"""Speech acts: accusing, defending, asking and other acts of a message."""
