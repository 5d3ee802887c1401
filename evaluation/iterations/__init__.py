"""Iterations, their tests of three games, and the decisions about them."""
