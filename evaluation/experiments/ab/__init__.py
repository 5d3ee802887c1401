"""A/B tests: variants of one configuration against each other."""
