"""Run experiments and A/B tests, and store what comes of them."""
