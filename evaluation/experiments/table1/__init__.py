"""Table 1 of the TinyTroupe paper: as published, and recomputed from raw scores."""
