"""Agents, their evaluations, runtime corrections and experiments."""
