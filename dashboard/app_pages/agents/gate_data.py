"""Tables and values for the Agents page. Independent of Streamlit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dashboard.shared.formatting import share_text
from dashboard.shared.personas import people
from evaluation.corrections.action_gate import Attempt, DimensionCheck, GateOutcome, LoggedMessage
from evaluation.corrections.statistics import (
    OUTCOME_MEANINGS,
    OUTCOMES,
    FailureRate,
    failure_rates,
    gate_statistics,
    statistics_words,
)
from evaluation.statistics.intervals import proportion_interval
from evaluation.statistics.words import percent_interval
from evaluation.store import Store


@dataclass(frozen=True, slots=True)
class Looked:
    """The messages that are looked at.

    Attributes:
        messages: The latest, newest first.
        count: How many there are in all.
    """

    messages: tuple[LoggedMessage, ...]
    count: int


def looked_at(store: Store, agent: str | None) -> Looked:
    """The latest messages that were checked, of one agent or of all."""
    with store.unit():
        return Looked(tuple(store.corrections.messages(agent)), store.corrections.count(agent))


def names_of_agents(store: Store) -> dict[str, str]:
    """Names of all agents that can be configured, by id: checked ones, speakers of games, shipped ones."""
    names = {one.id: one.name for one in people(store) if not one.is_channel}
    return {key: names.get(key, key) for key in dict.fromkeys([*store.corrections.agents(), *names])}


def agent_words(names: Mapping[str, str], key: str) -> str:
    """An agent as lists of choices name it: "Michael Scott (michael)"."""
    return key if names[key] == key else f"{names[key]} ({key})"


def outcome_rows(messages: Sequence[LoggedMessage]) -> list[dict[str, object]]:
    """One row per outcome: ``Outcome``, ``Messages``, ``Share``, Wilson's ``95 % interval``, and what it means."""
    found, count = gate_statistics(one.result for one in messages).outcomes, len(messages)
    return [
        {
            "Outcome": OUTCOMES[each],
            "Messages": found[each],
            "Share": share_text(found[each] / count),
            "95 % interval": percent_interval(proportion_interval(found[each], count)),
            "What it means": OUTCOME_MEANINGS[each],
        }
        for each in GateOutcome
    ]


def failure_rows(messages: Sequence[LoggedMessage]) -> list[dict[str, object]]:
    """One row per check: ``Check``, then for first texts and for rewritten texts the rate and what it is of."""
    rates = failure_rates(one.result for one in messages)
    first, again = ([rate for rate in rates if rate.is_retry is is_retry] for is_retry in (False, True))
    return [
        {
            "Check": check_name(one.check),
            "First texts that failed": rate_text(one),
            "95 % interval": percent_interval(one.interval),
            "Rewritten texts that failed": rate_text(two),
            "95 % interval (rewritten)": percent_interval(two.interval),
            "Mean score, first": mean_text(one),
            "Mean score, rewritten": mean_text(two),
            "No answer": one.unanswered + two.unanswered,
        }
        for one, two in zip(first, again, strict=True)
    ]


def mean_text(rate: FailureRate) -> str:
    """The mean score, or for similarity the mean share; a dash for none."""
    return "\u2013" if rate.mean is None else f"{rate.mean:.2f}"


def statistics_rows(messages: Sequence[LoggedMessage]) -> list[dict[str, object]]:
    """One row per statistic of the gate: ``Statistic``, ``Value``."""
    told = statistics_words(gate_statistics(one.result for one in messages))
    return [{"Statistic": name, "Value": value} for name, value in told]


def check_lines(attempt: Attempt, limit: float) -> list[str]:
    """Each check of an attempt in a line, "✗ Adherence: 2 of 9, at least 7 is needed"; untrusted text.

    Args:
        attempt: One text with its checks.
        limit: The share that texts may be alike, 0 to 1, as it is set today: it is told where it fits the verdict.
    """
    lines = [_line(check) for check in attempt.checks]
    if attempt.similarity is not None:
        holds = (attempt.similarity > limit) is attempt.is_similar
        allowed = f", at most {share_text(limit)} is allowed" if holds else ""
        like = "too much" if attempt.is_similar else "little enough"
        lines.append(
            f"{'✗' if attempt.is_similar else '✓'} Similarity: {share_text(attempt.similarity)} like an earlier message"
            + (allowed or f", {like}")
        )
    return lines


def _line(check: DimensionCheck) -> str:
    name = check_name(check.dimension)
    if not check.is_answered:
        return f"… {name}: {'not asked: the judge kept failing' if check.found.is_breaker_open else 'no answer'}"
    score = "no score" if check.found.score is None else f"{check.found.score:g} of 9"
    return f"{'✓' if check.is_passed else '✗'} {name}: {score}, at least {check.threshold:g} is needed"


def check_name(check: str) -> str:
    """The display name of a check."""
    return check.capitalize()


def rate_text(rate: FailureRate) -> str:
    """ "3 of 12 (25 %)", or that nothing was judged."""
    return "none judged" if rate.rate is None else f"{rate.failed:,} of {rate.judged:,} ({share_text(rate.rate)})"
