"""A scripted model provider: for trials without a key, and for tests."""
