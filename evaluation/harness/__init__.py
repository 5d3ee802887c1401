"""Runs evaluations of agents over what is stored and what is shipped, and tells people what came out."""
