"""Populations of simulated people: profiles, plans and personas."""
