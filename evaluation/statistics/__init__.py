"""Statistics of games: intervals, tests, effect sizes, agreement, and sentences for all of them."""

from evaluation.statistics.agreement import gwet_ac1, krippendorff_alpha, mean_bias, quadratic_kappa, spearman
from evaluation.statistics.comparison import Comparison, Difference, EffectSize, Summary, cohens_d, compare, holm
from evaluation.statistics.intervals import (
    Interval,
    bootstrap_interval,
    difference_interval,
    mean_interval,
    proportion_interval,
    resample_weights,
)
from evaluation.statistics.tests import (
    SignificanceTest,
    clustered_difference,
    games_needed,
    minimum_detectable_difference,
    sign_flip,
    smallest_p,
    welch,
)

__all__ = [
    "Comparison",
    "Difference",
    "EffectSize",
    "Interval",
    "SignificanceTest",
    "Summary",
    "bootstrap_interval",
    "clustered_difference",
    "cohens_d",
    "compare",
    "difference_interval",
    "games_needed",
    "gwet_ac1",
    "holm",
    "krippendorff_alpha",
    "mean_bias",
    "mean_interval",
    "minimum_detectable_difference",
    "proportion_interval",
    "quadratic_kappa",
    "resample_weights",
    "sign_flip",
    "smallest_p",
    "spearman",
    "welch",
]
