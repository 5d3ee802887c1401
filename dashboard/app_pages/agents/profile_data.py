"""The profile of an agent: each dimension's score with its games and earlier runs.

Independent of Streamlit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard.shared.marks.targets import MarkTargets, RunTarget
from dashboard.shared.personas import SelectableAgent, judge_words, score_text
from evaluation.comparison.runs import by_game
from evaluation.judging.answers import HIGHEST_SCORE
from evaluation.judging.propositions import Dimension
from evaluation.persona.dimensions import DIMENSIONS, LABELS
from evaluation.statistics.intervals import Interval, mean_interval
from evaluation.statistics.words import interval_words, shown_change
from evaluation.text.display import counted, shortened

LAST_RUNS = 8
_MOST_GAMES = 30
_LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class AgentProfile:
    """The profile of an agent in one run.

    Attributes:
        data: The payload of the component, for ``profile_rows.js``.
        targets: What each row's marks open; kinds ``metric``, ``before``, ``after``, ``game`` and ``history``.
        words: Each row in sentences.
    """

    data: Mapping[str, Any]
    targets: tuple[MarkTargets, ...]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    """One dimension with its score, games, interval and earlier runs."""

    dimension: Dimension
    said: Mapping[str, Any]
    games: Mapping[str, float]
    interval: Interval
    history: Sequence[tuple[SelectableAgent, float | None]]
    top: float

    @property
    def score(self) -> float | None:
        return self.history[-1][1]

    @property
    def before(self) -> float | None:
        """The score of the run before."""
        return self.history[-2][1] if len(self.history) > 1 else None


def profile(
    runs: Sequence[SelectableAgent], scores: pd.DataFrame, games: Mapping[str, str], dimensions: Sequence[Dimension]
) -> AgentProfile:
    """The profile of the last of ``runs``.

    Args:
        runs: The agent with each of its completed runs, the oldest first, up to the one that is shown.
        scores: Of the run that is shown, as ``Evaluations.scores`` gives them.
        games: Names of the stored games, by id.
        dimensions: Those that are drawn.
    """
    found = [_row(runs, scores, each) for each in dimensions]
    return AgentProfile(
        {"rows": [_drawn(row, games) for row in found]},
        tuple(_targets(row, runs) for row in found),
        tuple(_words(row) for row in found),
    )


def _row(runs: Sequence[SelectableAgent], scores: pd.DataFrame, dimension: Dimension) -> _Row:
    # The lowest first: of many games not all are drawn, and these are what a reader looks for.
    held = sorted(by_game(scores, dimension).items(), key=lambda one: one[1])
    values = {key: value for key, value in held if key}
    is_counted = dimension is Dimension.IDEAS_QUANTITY
    interval = mean_interval(values.values(), limits=None if is_counted else (0.0, float(HIGHEST_SCORE)))
    history = [(run, run.score(dimension)) for run in runs[-LAST_RUNS:]]
    known = [value for _, value in history if value is not None]
    # Ideas are counts without a scale: the picture ends at the largest one.
    top = max([1.0, *known, *values.values()]) if is_counted else float(HIGHEST_SCORE)
    return _Row(dimension, runs[-1].dimension(dimension), values, interval, history, top)


def _drawn(row: _Row, games: Mapping[str, str]) -> dict[str, Any]:
    def place(value: float | None) -> float | None:
        return None if value is None else min(1.0, max(0.0, value / row.top))

    label = LABELS[row.dimension]
    return {
        "label": label,
        "words": _words(row),
        "before": place(row.before),
        "after": place(row.score),
        # That of the games' mean is in the words: around the score of all judgements it would be another's.
        "interval": None,
        "games": [
            {"place": place(value), "label": f"{_name(games, key)}: {score_text(value, row.dimension)}"}
            for key, value in list(row.games.items())[:_MOST_GAMES]
        ],
        "history": [
            {
                "place": place(value),
                "label": f"{_when(run)}, {judge_words(run.run)}: {score_text(value, row.dimension)}",
            }
            for run, value in row.history
        ],
        "texts": {
            "top": f"{row.top:g}",
            "score": score_text(row.score, row.dimension),
            "change": _change(row),
            "before": f"{label} in the run before: {score_text(row.before, row.dimension)}",
            "after": f"{label}: {score_text(row.score, row.dimension)}",
            "judged": counted(int(row.said.get("items") or 0), "judgement"),
            "no_score": "no score",
        },
    }


def _name(games: Mapping[str, str], transcript_id: str) -> str:
    return shortened(games.get(transcript_id, "a shipped game"), _LONGEST_NAME)


def _when(run: SelectableAgent) -> str:
    return f"{run.run['created_at']:%Y-%m-%d %H:%M}" if run.run else ""


def _change(row: _Row) -> str:
    if row.score is None or row.before is None:
        return ""
    return shown_change(row.before, row.score, "")


def _targets(row: _Row, runs: Sequence[SelectableAgent]) -> MarkTargets:
    def target(run: SelectableAgent, game: str | None = None) -> RunTarget:
        return RunTarget(run.id, str(run.run["run_id"]) if run.run else "", str(row.dimension), game)

    shown = target(runs[-1])
    return {
        "metric": [shown],
        "after": [shown],
        "before": [target(row.history[-2][0])] if len(row.history) > 1 else [],
        "game": [target(runs[-1], key) for key in list(row.games)[:_MOST_GAMES]],
        "history": [target(run) for run, _ in row.history],
    }


def _words(row: _Row) -> str:
    said = row.said
    parts = [f"{LABELS[row.dimension]}: {score_text(row.score, row.dimension)}"]
    if row.interval.is_known:
        parts.append(f"{counted(len(row.games), 'game')}, 95 % interval of their mean {interval_words(row.interval)}")
    parts.append(counted(int(said.get("items") or 0), "judgement"))
    if said.get("marked"):
        without = score_text(said.get("score_without_marked"), row.dimension)
        parts.append(f"{said['marked']} say nothing about the agent; without them {without}")
    if said.get("unscored"):
        parts.append(f"{said['unscored']} without a score")
    if row.before is not None:
        parts.append(f"{score_text(row.before, row.dimension)} in the run before")
    sentences = [", ".join(filter(None, parts))]
    return ". ".join([*sentences, *([str(said["reason"])] if said.get("reason") else [])])


def shown_dimensions(person: SelectableAgent) -> list[Dimension]:
    """The dimensions that the agent's run was asked about."""
    return [each for each in DIMENSIONS if person.dimension(each)]
