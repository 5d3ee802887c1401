"""Figures of a discussion: activity, memory, the network of players, and cost."""
