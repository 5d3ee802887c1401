"""Scored games as partitioned Parquet: written by any number of workers, compacted, and imported into a store."""
