"""The DuckDB file: transactions, the queue of processes, bulk rows and errors."""
