"""Simulated conversations: personas, populations, and environments in which agents meet step by step."""
