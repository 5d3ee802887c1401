"""Figures of a discussion: activity, addressing, sentiment, and the events they come from."""
