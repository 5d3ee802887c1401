"""The rubric's success criteria and the gate to the next iteration, as a checklist with measured values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from evaluation.iterations.game_tests import STREAK, Game, GameTest, KnownMean, known_mean
from evaluation.iterations.iteration import Iteration
from evaluation.rubric.definitions import ENGAGEMENT
from evaluation.rubric.verdict import VerdictStatus
from evaluation.score import Status, status_of
from evaluation.text.display import counted, dollars, fixed, telling_digits

COST_GOAL_USD = 2.0
CACHE_HIT_GOAL = 0.7


class CheckState(StrEnum):
    """``unknown``: something was not recorded or not rated, and what is known does not decide it."""

    MET = "met"
    NOT_MET = "not_met"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Criterion:
    """One criterion: what is asked, whether it is met, and what was measured, in words."""

    name: str
    label: str
    state: CheckState
    measured: str


@dataclass(frozen=True, slots=True)
class Checklist:
    """The five criteria, measured on the latest three complete tests (fewer when there are fewer).

    Attributes:
        success: The rubric's success criteria: three consecutive passes, engagement and cost.
        gate: Whether the project may move on: the passes, the sign-off and the cache hit rate.
    """

    streak: Criterion
    engagement: Criterion
    cost: Criterion
    cache: Criterion
    sign_off: Criterion

    @property
    def checks(self) -> tuple[Criterion, ...]:
        """All five, in the order in which they are shown."""
        return (self.streak, self.engagement, self.cost, self.cache, self.sign_off)

    @property
    def success(self) -> CheckState:
        return all_met(check.state for check in (self.streak, self.engagement, self.cost))

    @property
    def gate(self) -> CheckState:
        return all_met(check.state for check in (self.streak, self.sign_off, self.cache))


def all_met(states: Iterable[CheckState]) -> CheckState:
    """Not met when one is not met, else unknown when one is unknown, else met."""
    given = set(states)
    return next((state for state in (CheckState.NOT_MET, CheckState.UNKNOWN) if state in given), CheckState.MET)


def checklist(tests: Sequence[GameTest], current: Iteration | None) -> Checklist:
    """The checklist over ``tests``, oldest first, which may belong to several iterations.

    Tests with fewer games than their size prove nothing and are passed over.

    Args:
        tests: All tests, in the order in which they were played.
        current: The iteration whose sign-off counts; ``None`` when there is none.
    """
    latest = [test for test in tests if test.is_complete][-STREAK:]
    return Checklist(_streak(latest), _engagement(latest), _cost(latest), _cache(latest), _sign_off(current))


def _streak(latest: Sequence[GameTest]) -> Criterion:
    passed = sum(test.has_passed is True for test in latest)
    pending = sum(test.verdict.status is VerdictStatus.PENDING for test in latest)
    state = CheckState.UNKNOWN if pending else CheckState.MET
    if passed + pending < STREAK:
        state = CheckState.NOT_MET
    open_words = f", {pending} pending" if pending else ""
    measured = (
        f"over all iterations, {passed} of the latest {counted(len(latest), 'test')} passed{open_words}"
        if latest
        else "no test yet"
    )
    return Criterion("streak", f"{STREAK} consecutive tests pass", state, measured)


def _engagement(latest: Sequence[GameTest]) -> Criterion:
    games = [game for test in latest for game in test.games]
    scores = [_engagement_of(game) for game in games]
    states = [
        _known_state(score, lambda value: status_of(value, ENGAGEMENT.threshold) is Status.PASSED) for score in scores
    ]
    label = f"Engagement is at least {ENGAGEMENT.threshold:.1f} in every game"
    measured = _lowest_words(scores, "not rated", _rating_words)
    return Criterion("engagement", label, all_met([*states, *_missing(latest)]), measured)


def _engagement_of(game: Game) -> float | None:
    scored = game.metrics.get(ENGAGEMENT.name)
    return None if scored is None else scored.score


def _rating_words(score: float) -> str:
    return f"lowest {fixed(score, telling_digits(score, ENGAGEMENT.threshold, 1))}"


def _cost(latest: Sequence[GameTest]) -> Criterion:
    costs = [game.total_usd for test in latest for game in test.games]
    states = [_known_state(cost, lambda value: value < COST_GOAL_USD) for cost in costs]
    label = f"Cost is below {COST_GOAL_USD:.2f} USD in every game"
    return Criterion(
        "cost", label, all_met([*states, *_missing(latest)]), _lowest_words(costs, "unknown", _usd_words, max)
    )


def _known_state(value: float | None, is_good: Callable[[float], bool]) -> CheckState:
    return CheckState.UNKNOWN if value is None else _met(is_good(value))


def _lowest_words(
    values: Sequence[float | None],
    missing: str,
    words: Callable[[float], str],
    worst: Callable[[Sequence[float]], float] = min,
) -> str:
    """The worst game, and in how many nothing is known: "lowest 2.5, 1 of the 9 games of these tests not rated"."""
    known = [value for value in values if value is not None]
    lacking = len(values) - len(known)
    parts = [words(worst(known))] if known else []
    parts += [f"{lacking} of the {counted(len(values), 'game')} of these tests {missing}"] if lacking else []
    return ", ".join(parts) or "no test yet"


def _cache(latest: Sequence[GameTest]) -> Criterion:
    games = [game for test in latest for game in test.games]
    rate = known_mean(games, lambda game: game.cache_hit_rate)
    state = CheckState.UNKNOWN
    if rate.mean is not None and rate.is_complete:
        state = _met(rate.mean > CACHE_HIT_GOAL)
    label = f"Cache hit rate is above {100 * CACHE_HIT_GOAL:.0f} %"
    return Criterion("cache", label, state, _rate_words(rate))


def _rate_words(rate: KnownMean) -> str:
    if rate.mean is None:
        return "unknown"
    digits = telling_digits(100 * rate.mean, 100 * CACHE_HIT_GOAL, 1)
    return f"mean {fixed(100 * rate.mean, digits)} %{rate.partly}"


def _sign_off(current: Iteration | None) -> Criterion:
    label = "A person found it fascinating to watch"
    if current is None or not current.is_signed_off:
        return Criterion("sign_off", label, CheckState.NOT_MET, "not signed off")
    when = f" on {current.signed_off_at:%Y-%m-%d}" if current.signed_off_at else ""
    note = f": {current.signed_off_note}" if current.signed_off_note else ""
    return Criterion("sign_off", label, CheckState.MET, f"{current.signed_off_by}{when}{note}")


def _missing(latest: Sequence[GameTest]) -> list[CheckState]:
    # What the tests that are still to be played will show is unknown.
    return [CheckState.UNKNOWN] * (STREAK - len(latest))


def _met(condition: bool) -> CheckState:
    return CheckState.MET if condition else CheckState.NOT_MET


def _usd_words(cost: float) -> str:
    return f"highest {dollars(cost)} USD"
