"""Evaluations of agents against golden baselines, for repositories and continuous integration."""
