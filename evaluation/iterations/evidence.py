"""Statistical evidence about the target of a change, beside the rule that compares means alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from evaluation.iterations.keep_or_revert import Choice, Decision
from evaluation.iterations.tests import Game, MetricMean
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.score import PERCENT, Status
from evaluation.statistics.comparison import Difference, Measure, Outcome, compare
from evaluation.statistics.power import MOST_GAMES
from evaluation.statistics.words import more_games, p_words
from evaluation.text.display import counted

_RULES = {Choice.KEEP: "keep", Choice.REVERT: "revert"}


def measure_games(
    name: str, before: Sequence[Game], after: Sequence[Game], pairs: Sequence[tuple[str, str]] = ()
) -> Measure:
    """One metric of two sets of games, for a comparison.

    Args:
        name: Of the metric.
        before: Games of the reference.
        after: Games of the iteration in question.
        pairs: Ids of games that share a scenario or seed, before and after.
    """
    scale = DEFINITIONS[name].scale
    old, new = ({game.transcript_id: _score(game, name) for game in games} for games in (before, after))
    return Measure(
        [_score(game, name) for game in before],
        [_score(game, name) for game in after],
        [(old[one], new[other]) for one, other in pairs],
        scale.limits,
        "%" if scale == PERCENT else "",
    )


def target_difference(decision: Decision, before: Sequence[Game], after: Sequence[Game]) -> Difference | None:
    """The difference of a decision's target; ``None`` without a target.

    One that was named is tested alone. One that was taken as the reference's lowest was not chosen beforehand: it is
    adjusted together with all other metrics.
    """
    target = decision.target
    if target is None:
        return None
    names = (target,) if decision.is_target_named else tuple(DEFINITIONS)
    measures = {name: measure_games(name, before, after) for name in names}
    return compare(measures, primary=target if decision.is_target_named else None)[target]


def disagreement_words(decision: Decision, target: Difference | None) -> str:
    """One sentence where the rule and the games do not say the same; empty where they do, or nothing is decided.

    Args:
        decision: The rule's.
        target: The difference of its target, see :func:`target_difference`.
    """
    if target is None or decision.choice not in _RULES:
        return ""
    rule, agreeing = _RULES[decision.choice], Outcome.BETTER if decision.choice is Choice.KEEP else Outcome.WORSE
    if target.outcome is agreeing:
        return ""
    label = DEFINITIONS[target.name].label
    if target.outcome is Outcome.UNTESTABLE:
        return f"The rule says {rule}, but no test of {label} is possible: {target.welch.reason}."
    if target.outcome is Outcome.NO_EVIDENCE:
        change = decision.change
        if change is None or change.is_none:
            return f"The rule says {rule}, but the games show no difference of {label}, so no number would settle it."
        seen = "rise" if change.difference > 0 else "fall"
        return f"The rule says {rule}, but the games cannot tell the {seen} of {label} from chance" + _settled(target)
    verb = "rose" if target.outcome is Outcome.BETTER else "fell"
    return f"The rule says {rule} although {label} {verb} more than chance would do (p {p_words(target.p)})."


def _settled(target: Difference) -> str:
    p = f" (p {p_words(target.p)})"
    if target.games_needed is None:
        return (
            f"{p}; more than {MOST_GAMES:,} games on each side would settle it, if the difference is as large as seen."
        )
    more = counted(max(more_games(target), 1), "game")
    return f"{p}; {more} more on each side would settle it, if the difference is as large as seen."


def regression_words(decision: Decision, reference: Mapping[str, MetricMean]) -> str:
    """The warning beside a target that failed in the reference, and so may have been chosen for that; else empty.

    The figure is from simulations without any change, see ``docs/statistics.md``.
    """
    target = decision.target
    if target is None or decision.change is None or reference[target].status is not Status.FAILED:
        return ""
    return (
        f"{DEFINITIONS[target].label} failed in the reference. A metric chosen because it is low tends to rise by "
        "itself: without any change, the lowest of seven rises in 87 of 100 repetitions."
    )


def _score(game: Game, name: str) -> float:
    scored = game.metrics.get(name)
    return math.nan if scored is None or scored.score is None else scored.score
