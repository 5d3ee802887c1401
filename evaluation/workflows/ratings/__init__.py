"""Use cases of raters: sheets of ratings, and blind marks that calibrate a judge."""
