"""Agents that talk: personas, populations, and the rooms in which they meet step by step."""
