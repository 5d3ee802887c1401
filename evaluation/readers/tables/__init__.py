"""Tables with one row a message: CSV, TSV, JSON Lines and Parquet."""
