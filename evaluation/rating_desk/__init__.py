"""The rating desk beyond the rating itself: discards, pace, practice, the style check and sheets."""
