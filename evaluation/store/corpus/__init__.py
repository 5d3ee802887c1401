"""Scored games as partitioned Parquet: written by any number of workers, and imported into a store."""
