"""The rating desk beyond the rating itself: what is put aside for good, pace, practice, the style check and sheets."""
