"""The probability that the next three tests pass, estimated from the tests so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.iterations.tests import GameTest
from evaluation.text.display import counted

STREAK = 3
_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Chance:
    """The chance that the next three tests all pass, with its 95 % interval; all three from 0 to 1.

    Attributes:
        passed: How many of the ``tests`` that were decided passed.
    """

    value: float
    low: float
    high: float
    passed: int
    tests: int

    @property
    def words(self) -> str:
        """The chance with its interval and what it rests on."""
        return (
            f"Chance that the next three tests all pass: {100 * self.value:.0f} % (95 % interval {100 * self.low:.0f} "
            f"to {100 * self.high:.0f} %), from {self.passed} of {counted(self.tests, 'decided test')} passed."
        )


NO_CHANCE = "Chance that the next three tests all pass: unknown, no test is decided yet."


def chance_of_streak(tests: Sequence[GameTest]) -> Chance | None:
    """The cube of the pass rate over complete, decided tests; ``None`` when there is none.

    The interval is Jeffreys' for the pass rate (Beta(passed + 1/2, failed + 1/2), its lower end 0 when none passed and
    its upper end 1 when all did; Brown, Cai and DasGupta 2001), with both ends cubed. It supposes that the tests are
    alike: after a change of the prompt they need not be.
    """
    outcomes = [test.has_passed for test in tests if test.has_passed is not None]
    if not outcomes:
        return None
    passed, total = sum(outcomes), len(outcomes)
    low, high = jeffreys_interval(passed, total)
    return Chance((passed / total) ** STREAK, low**STREAK, high**STREAK, passed, total)


def jeffreys_interval(successes: int, trials: int, level: float = _LEVEL) -> tuple[float, float]:
    """Jeffreys' interval for a proportion, both ends from 0 to 1.

    Raises:
        ValueError: No trial, or more successes than trials.
    """
    if not 0 <= successes <= trials or trials < 1:
        raise ValueError(f"{successes} successes in {trials} trials")
    from scipy.special import betaincinv  # slow to import, and needed only where a chance is shown

    tail = (1.0 - level) / 2.0
    a, b = successes + 0.5, trials - successes + 0.5
    low = 0.0 if successes == 0 else float(betaincinv(a, b, tail))
    high = 1.0 if successes == trials else float(betaincinv(a, b, 1.0 - tail))
    return low, high
