"""Readers of traces, and of agent frameworks' own files: states, message lists and logs of simulations."""
