"""Use cases of raters: assignments, and sheets of ratings."""
