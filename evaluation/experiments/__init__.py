"""Experiments: treatment against control, A/B tests, and TinyTroupe's Table 1."""
