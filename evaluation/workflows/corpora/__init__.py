"""Use cases of corpora too large for one machine: score to partitions, collect them, open them."""
