"""Runs experiments and stores what comes out of them."""
