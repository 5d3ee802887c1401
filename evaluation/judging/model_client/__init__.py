"""The connection to language models: calls, retries, budgets, prices and usage."""
