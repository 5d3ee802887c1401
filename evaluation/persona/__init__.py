"""Persona scores of agents: adherence, consistency, fluency, voice distinctness and ideas quantity."""
