"""The questions that each of the five persona dimensions puts to a judge."""
