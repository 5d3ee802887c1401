"""The profile of an agent: each dimension's score with its claims and earlier runs.

Independent of Streamlit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard.shared.clicked_marks import MarkTargets, RunTarget
from dashboard.shared.local_time import local_time
from dashboard.shared.personas import SelectableAgent, score_text
from evaluation.comparison.runs import Run, by_game, claim_of
from evaluation.judging.answers import HIGHEST_SCORE
from evaluation.judging.propositions import Dimension
from evaluation.persona.dimensions import DIMENSIONS, LABELS
from evaluation.statistics.intervals import Interval, mean_interval, no_interval
from evaluation.statistics.words import change_words, interval_words
from evaluation.text.display import counted, shortened

LAST_RUNS = 8
_LONGEST_CLAIM = 90


@dataclass(frozen=True, slots=True)
class ScoredClaim:
    """A claim with what one run gave it.

    Attributes:
        text: The claim in words: untrusted text, as it names the agent.
        score: The mean of its judgements, 0 to 9, or a count for ideas; ``None`` where it was not asked.
        judgements: How many judgements its score is the mean of.
    """

    dimension: Dimension
    id: str
    text: str
    score: float | None = None
    judgements: int = 0


def scored_claims(scores: pd.DataFrame) -> list[ScoredClaim]:
    """The claims that a run asked, the worst first, counted ideas last.

    Args:
        scores: Of the run, as ``Evaluations.scores`` gives them.
    """
    found = []
    for _, rows in scores.groupby(["dimension", "proposition_id"], sort=False):
        first, marks = rows.iloc[0], rows["score"].dropna()
        text = claim_text(claim_of(first), is_fault=bool(first["is_inverted"]))
        score = None if marks.empty else float(marks.mean())
        found.append(ScoredClaim(Dimension(first["dimension"]), str(first["proposition_id"]), text, score, len(rows)))
    return sorted(
        found, key=lambda one: (one.dimension is Dimension.IDEAS_QUANTITY, one.score is None, one.score or 0.0)
    )


def game_intervals(scores: pd.DataFrame, dimensions: Sequence[Dimension]) -> dict[Dimension, tuple[int, Interval]]:
    """Number of games with a score in a dimension, and the 95 % interval of their mean; only where there is one."""
    found = {}
    for each in dimensions:
        games = [value for game, value in by_game(scores, each).items() if game]
        limits = None if each is Dimension.IDEAS_QUANTITY else (0.0, float(HIGHEST_SCORE))
        interval = mean_interval(games, limits=limits)
        if interval.is_known:
            found[each] = len(games), interval
    return found


def claim_text(claim: str, *, is_fault: bool) -> str:
    """A claim; one that scores high where it does not happen begins with "Should not happen: "."""
    return f"Should not happen: {claim}" if is_fault else claim


@dataclass(frozen=True, slots=True)
class _Row:
    """One dimension with its score, claims and earlier runs, and the interval of the mean over games."""

    dimension: Dimension
    said: Mapping[str, Any]
    claims: Sequence[ScoredClaim]
    history: Sequence[tuple[SelectableAgent, float | None]]
    top: float
    games: int
    interval: Interval

    @property
    def score(self) -> float | None:
        return self.history[-1][1]

    @property
    def before(self) -> float | None:
        """The score of the run before."""
        return self.history[-2][1] if len(self.history) > 1 else None


def profile(
    runs: Sequence[SelectableAgent],
    claims: Sequence[ScoredClaim],
    dimensions: Sequence[Dimension],
    intervals: Mapping[Dimension, tuple[int, Interval]],
) -> list[tuple[dict[str, Any], MarkTargets]]:
    """The profile of the last of ``runs``: its rows for ``cockpit_rows.js``, each with what its marks open.

    Args:
        runs: The agent with each of its completed runs, the oldest first, up to the one that is shown.
        claims: Of the run that is shown.
        dimensions: Those that are drawn.
        intervals: As :func:`game_intervals` gives them.

    Returns:
        One row per dimension; kinds of marks are ``metric``, ``before``, ``after``, ``game`` (the dots of claims) and
        ``history``.
    """
    found = [
        _row(runs, [one for one in claims if one.dimension is each], each, *intervals.get(each, (0, no_interval(""))))
        for each in dimensions
    ]
    return [(_drawn(row), _targets(row, runs)) for row in found]


def _row(
    runs: Sequence[SelectableAgent], claims: Sequence[ScoredClaim], dimension: Dimension, games: int, interval: Interval
) -> _Row:
    history = [(run, run.score(dimension)) for run in runs[-LAST_RUNS:]]
    # Ideas are counts without a scale: the picture ends at the largest one.
    top = float(HIGHEST_SCORE)
    if dimension is Dimension.IDEAS_QUANTITY:
        known = [value for _, value in history] + [one.score for one in claims]
        top = float(math.ceil(max([1.0, *(value for value in known if value is not None)])))
    return _Row(dimension, runs[-1].dimension(dimension), claims, history, top, games, interval)


def _drawn(row: _Row) -> dict[str, Any]:
    def place(value: float | None) -> float | None:
        return None if value is None else min(1.0, max(0.0, value / row.top))

    label = LABELS[row.dimension]
    return {
        "label": label,
        "words": _words(row),
        "before": place(row.before),
        "after": place(row.score),
        "interval": [place(row.interval.low), place(row.interval.high)],
        # The small dots of the shared picture.
        "games": [
            {
                "place": place(one.score),
                "label": f"{score_text(one.score, row.dimension)}: {shortened(one.text, _LONGEST_CLAIM)}",
            }
            for one in row.claims
        ],
        "history": [
            {
                "place": place(value),
                "label": f"{_when(run)}: {score_text(value, row.dimension)}",
            }
            for run, value in row.history
        ],
        "texts": {
            "current": score_text(row.score, row.dimension),
            "change": _change(row),
            "before": f"{label} in the run before: {score_text(row.before, row.dimension)}",
            "after": f"{label}: {score_text(row.score, row.dimension)}",
            "threshold": _counts(row) + ("" if row.top == HIGHEST_SCORE else f", axis 0 to {row.top:g}"),
        },
    }


def _counts(row: _Row) -> str:
    return f"{counted(len(row.claims), 'claim')}, {counted(int(row.said.get('items') or 0), 'judgement')}"


def _when(run: SelectableAgent) -> str:
    return f"{local_time(run.run['created_at'])}, {Run.of(run.run).judge}" if run.run else ""


def _change(row: _Row) -> str:
    if row.score is None or row.before is None:
        return ""
    return change_words(row.before, row.score, "")


def _targets(row: _Row, runs: Sequence[SelectableAgent]) -> MarkTargets:
    def target(run: SelectableAgent, claim: str | None = None) -> RunTarget:
        return RunTarget(run.id, str(run.run["run_id"]) if run.run else "", str(row.dimension), claim)

    shown = target(runs[-1])
    return {
        "metric": [shown],
        "after": [shown],
        "before": [target(row.history[-2][0])] if len(row.history) > 1 else [],
        "game": [target(runs[-1], one.id) for one in row.claims],
        "history": [target(run) for run, _ in row.history],
    }


def _words(row: _Row) -> str:
    said = row.said
    parts = [f"{LABELS[row.dimension]}: {score_text(row.score, row.dimension)}", _counts(row)]
    if said.get("marked"):
        without = score_text(said.get("score_without_marked"), row.dimension)
        parts.append(f"{said['marked']} say nothing about the agent; without them {without}")
    if said.get("unscored"):
        parts.append(f"{said['unscored']} without a score")
    if row.before is not None:
        parts.append(f"{score_text(row.before, row.dimension)} in the run before")
    if row.games:
        parts.append(f"{counted(row.games, 'game')}, 95 % interval of their mean {interval_words(row.interval)}")
    sentences = [", ".join(filter(None, parts))]
    return ". ".join([*sentences, *([str(said["reason"])] if said.get("reason") else [])])


def shown_dimensions(person: SelectableAgent) -> list[Dimension]:
    """The dimensions that the agent's run was asked about."""
    return [each for each in DIMENSIONS if person.dimension(each)]
