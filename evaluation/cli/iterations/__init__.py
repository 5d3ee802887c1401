"""Commands about iterations: the board, comparisons and reports."""
