"""Statistical power: the minimum detectable difference, and the number of games that a difference needs.

Two-sided tests at 0.05 with a power of 0.8 unless told otherwise, normal scores, standard deviations as seen.
"""

from __future__ import annotations

import math

LEVEL = 0.05
POWER = 0.8
MOST_GAMES = 100_000


def minimum_detectable_difference(
    sd_treatment: float,
    sd_control: float,
    n_treatment: int,
    n_control: int,
    *,
    level: float = LEVEL,
    power: float = POWER,
) -> float:
    """The true difference of means that Welch's test would find with probability ``power``, on the scores' scale.

    Checked against ``statsmodels.stats.power.TTestIndPower`` where sizes and deviations are equal.

    Args:
        sd_treatment: Standard deviation (ddof = 1).
        sd_control: Standard deviation (ddof = 1).
        n_treatment: Games.
        n_control: Games.
        level: Of the two-sided test.
        power: Wanted.

    Returns:
        NaN when a side has fewer than two games, a deviation is NaN, or neither group has any spread.
    """
    if min(n_treatment, n_control) < 2 or not sd_treatment + sd_control > 0:
        return math.nan
    parts = sd_treatment**2 / n_treatment, sd_control**2 / n_control
    total = sum(parts)
    freedom = total**2 / (parts[0] ** 2 / (n_treatment - 1) + parts[1] ** 2 / (n_control - 1))
    return _needed_shift(freedom, level, power) * math.sqrt(total)


def games_needed(
    difference: float, sd_treatment: float, sd_control: float, *, level: float = LEVEL, power: float = POWER
) -> int | None:
    """Number of games on each side that Welch's test needs to find ``difference`` with probability ``power``.

    Args:
        difference: The true difference to be found, on the scores' scale; its sign does not matter.
        sd_treatment: Standard deviation (ddof = 1).
        sd_control: Standard deviation (ddof = 1).
        level: Of the two-sided test.
        power: Wanted.

    Returns:
        At least 2; ``None`` when there is no difference, no spread, or more than 100,000 would be needed.
    """
    if not abs(difference) > 0 or not sd_treatment + sd_control > 0:
        return None

    def shows(games: int) -> bool:
        found = minimum_detectable_difference(sd_treatment, sd_control, games, games, level=level, power=power)
        return found <= abs(difference)

    enough = 2
    while not shows(enough):
        enough *= 2
        if enough > MOST_GAMES:
            return None
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        enough, too_few = (middle, too_few) if shows(middle) else (enough, middle)
    return enough


def _needed_shift(freedom: float, level: float, power: float) -> float:
    """The non-centrality at which a two-sided t-test has that power. The far tail adds nothing where power matters."""
    from scipy.special import nctdtrinc, stdtrit  # a tenth of what scipy.stats takes to import

    return float(nctdtrinc(freedom, 1.0 - power, stdtrit(freedom, 1.0 - level / 2.0)))
