"""Statistics of games: intervals, tests, effect sizes, agreement, and sentences for all of them."""
