"""Statistics of games: intervals, tests, effect sizes, agreement, and sentences for all of them."""

from evaluation.statistics._effects import EffectSize, cohens_d
from evaluation.statistics._multiplicity import holm
from evaluation.statistics.agreement import gwet_ac1, krippendorff_alpha, mean_bias, quadratic_kappa, spearman
from evaluation.statistics.clusters import clustered_difference
from evaluation.statistics.comparison import Comparison, Difference, Summary, compare
from evaluation.statistics.intervals import Interval, difference_interval, mean_interval, proportion_interval
from evaluation.statistics.power import games_needed, minimum_detectable_difference
from evaluation.statistics.resampling import bootstrap_interval, resample_weights
from evaluation.statistics.tests import SignificanceTest, paired_t, sign_flip, smallest_p, welch

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
    "paired_t",
    "proportion_interval",
    "quadratic_kappa",
    "resample_weights",
    "sign_flip",
    "smallest_p",
    "spearman",
    "welch",
]
