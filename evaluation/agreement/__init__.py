"""Agreement between raters, metrics and judges."""
