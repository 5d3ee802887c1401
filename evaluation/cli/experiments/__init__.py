"""Commands that run experiments and A/B tests."""
