"""Data of the cockpit: seven metrics before and after, with the games and iterations behind every mark.

Independent of Streamlit.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from dashboard.shared.comparison_tables import METRIC_LABELS
from dashboard.shared.formatting import look, score_text, spread_text, threshold_text
from dashboard.shared.marks.targets import MarkTarget, MarkTargets
from evaluation.comparison.iterations import IterationComparison
from evaluation.iterations.board import Board, IterationSummary
from evaluation.iterations.keep_or_revert import FEWEST_GAMES, Choice
from evaluation.iterations.tests import MetricMean, judges_apart, metrics_of, with_open_engagement
from evaluation.rubric.control_words import ControlSummary
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT
from evaluation.rubric.verdict import has_low_evidence, shown_status
from evaluation.score import MetricDefinition, Status
from evaluation.statistics.intervals import mean_interval
from evaluation.statistics.words import evidence_words, interval_words, shown_change, sizes_words
from evaluation.text.display import counted, shortened

LAST_ITERATIONS = 8
_MOST_DOTS = 30
_BINS = 50
_LONGEST_NAME = 60
_LONGEST_CHANGE = 110
_MINUS = "\u2212"
_CHANCE_MEANING = (
    "A scrambled copy is the same game with what the metric measures destroyed at random. A game that scores no better "
    "than its copies shows nothing but chance."
)
_LEGEND = (
    "○ before, the reference",
    "● now, the mean, with its 95 % interval",
    "· a game",
    "┃ threshold: left of it fails",
    "every mark opens its games",
)


class NextStep(StrEnum):
    """The next action for an iteration, as its button says it; rating says how many games."""

    RATE = "Rate"
    ADD_GAMES = "Add games"
    RECORD = "Record the decision"
    READ = "Read the games"
    NEXT_ITERATION = "Begin the next iteration"


def waiting_games(board: Board, shown: IterationSummary) -> int:
    """Number of games that nobody has rated, of the iteration and of what it is compared with."""
    return sum(side.means[ENGAGEMENT.name].waiting for side in sides(board, shown))


def sides(board: Board, shown: IterationSummary) -> list[IterationSummary]:
    """The iteration, and what it is compared with where there is something."""
    return [shown, *([board[shown.decision.reference]] if shown.decision else [])]


def next_step(board: Board, shown: IterationSummary) -> NextStep:
    """The one action that brings the decision on an iteration further, or the work after it."""
    if waiting_games(board, shown):
        return NextStep.RATE
    if any(len(side.games) < FEWEST_GAMES for side in sides(board, shown)):
        return NextStep.ADD_GAMES
    if shown.decision is None or shown.iteration.recorded is not None:
        return NextStep.NEXT_ITERATION
    return NextStep.RECORD if shown.decision.choice in (Choice.KEEP, Choice.REVERT) else NextStep.READ


def blockers(shown: IterationSummary) -> list[str]:
    """Reasons that stand in the way of a decision, or have decided alone, one line each."""
    critical = sum(failure.is_critical for test in shown.tests for failure in test.failures)
    failed = [f"✗ {critical} of {counted(len(shown.games), 'game')} failed critically"] if critical else []
    rated = shown.means[ENGAGEMENT.name]
    unrated = (f"{rated.waiting} of {counted(rated.games, 'game')} not rated yet.",) if rated.waiting else ()
    return [*failed, *(shown.decision.missing if shown.decision else unrated)]


def sentence(board: Board, shown: IterationSummary, hidden: Collection[str] = ()) -> str:
    """The change and how it did: "Shorter prompt · higher than Prompt v2 (kept) on 5 of 7 · 3 games against 2".

    Nothing is said of the metrics in ``hidden``.
    """
    if shown.decision is None:
        return " · ".join(
            filter(
                None,
                (shortened(shown.iteration.change.rstrip(". "), _LONGEST_CHANGE), counted(len(shown.games), "game")),
            )
        )
    reference = board[shown.decision.reference]
    marks = ("the baseline" * reference.iteration.is_baseline, "kept" * reference.iteration.is_kept)
    beside = f" ({', '.join(filter(None, marks))})" if any(marks) else ""
    here, there = len(shown.games), len(reference.games)
    games = sizes_words(here, there)
    better = board.better_words(shown.iteration.name, hidden)
    against = shortened(reference.iteration.name, _LONGEST_NAME)
    compared = better.replace(f"than {against} on", f"than {against}{beside} on") or f"compared with {against}{beside}"
    return " · ".join(filter(None, (shortened(shown.iteration.change.rstrip(". "), _LONGEST_CHANGE), compared, games)))


def evidence_sentence(found: IterationComparison | None) -> str:
    """Tell the outcome of the tests: "Better beyond luck on Strategic depth; the others could be luck." Or nothing."""
    words = evidence_words(found.comparison.differences, METRIC_LABELS) if found else ""
    return f"{words[0].upper()}{words[1:]}." if words else ""


@dataclass(frozen=True, slots=True)
class Cockpit:
    """The seven rows of one iteration.

    Attributes:
        data: The payload of the component, for ``cockpit_rows.js``.
        targets: What each row's marks open; kinds ``metric``, ``before``, ``after``, ``game`` and ``history``.
        words: Each row as one sentence, for people who do not see the picture.
    """

    data: Mapping[str, Any]
    targets: tuple[MarkTargets, ...]
    words: tuple[str, ...]


def cockpit_of(board: Board, name: str) -> Cockpit:
    """The rows of the iteration of that name, beside its reference where it has one."""
    shown = board[name]
    reference = board[shown.decision.reference] if shown.decision else None
    place = board.iterations.index(shown)
    history = board.iterations[max(0, place + 1 - LAST_ITERATIONS) : place + 1]
    statuses = {metric: shown_status(mean) for metric, mean in with_open_engagement(shown.means).items()}
    target = shown.decision.target if shown.decision else shown.iteration.target_metric
    rows = [_row(metric, shown, reference, history, statuses[metric], metric == target) for metric in DEFINITIONS]
    return Cockpit(
        {
            "rows": [row for row, _, _ in rows],
            "history": f"last {len(history)} iterations" if len(history) > 1 else "this iteration",
            "legend": list(_LEGEND if reference else _LEGEND[1:]),
        },
        tuple(targets for _, targets, _ in rows),
        tuple(words for _, _, words in rows),
    )


def without_ratings(found: Cockpit) -> Cockpit:
    """The rows, without engagement: what others gave the games of both sides a rater must not see yet."""
    rows, targets, words = list(found.data["rows"]), list(found.targets), list(found.words)
    place = list(DEFINITIONS).index(ENGAGEMENT.name)
    hidden = "hidden until you have rated these games"
    texts = {"before": hidden, "after": hidden, "current": "hidden", "change": "", "no_score": ""}
    # A new row: the one that was made is shared with people who may see it.
    rows[place] = rows[place] | {
        "before": None,
        "after": None,
        "interval": None,
        "games": [],
        "history": [],
        "status": {"name": "hidden", "color": "gray", "text": "hidden"},
        "texts": rows[place]["texts"] | texts,
        "words": f"Engagement: {hidden}.",
    }
    targets[place] = {**targets[place], "before": (), "game": (), "history": ()}
    words[place] = f"Engagement: {hidden}."
    return replace(found, data={**found.data, "rows": rows}, targets=tuple(targets), words=tuple(words))


def _row(
    metric: str,
    shown: IterationSummary,
    reference: IterationSummary | None,
    history: Sequence[IterationSummary],
    status: str,
    is_target: bool,
) -> tuple[dict[str, Any], MarkTargets, str]:
    definition, mean = DEFINITIONS[metric], shown.means[metric]
    is_apart = reference is not None and bool(
        judges_apart(metric, metrics_of(reference.games), metrics_of(shown.games))
    )
    before = reference.means[metric].score if reference and not is_apart else None
    interval = mean_interval(mean.values, limits=definition.scale.limits)
    appearance, dots = look(status), _dots(shown, definition)
    points = [(one, one.means[metric]) for one in history]
    words = _words(definition, mean, before, status)
    current = score_text(mean.score, definition.scale, mean.threshold)
    own = shown.iteration.name
    row = {
        "label": definition.label,
        "words": words,
        "isTarget": is_target,
        "threshold": _share(mean.threshold, definition),
        "before": _share(before, definition),
        "after": _share(mean.score, definition),
        "interval": [_share(interval.low, definition), _share(interval.high, definition)]
        if interval.is_known
        else None,
        "status": {"name": status, "color": appearance.color, "text": appearance.label},
        "texts": {
            "threshold": threshold_text(mean.threshold, definition.scale)
            + (", axis 1 to 5" if definition is ENGAGEMENT else "")
            + (" · low evidence" if has_low_evidence(mean) else ""),
            "before": f"reference: {score_text(before, definition.scale)}",
            "after": f"this iteration: {current}",
            "current": current if mean.score is not None else "no score",
            "change": "other judges" if is_apart else _change_text(definition, before, mean.score),
            "chance": _chance_words(mean.control),
            "chance_meaning": _CHANCE_MEANING,
            "no_score": _no_score_words(mean),
        },
        "games": [{"place": place, "label": label} for place, label, _ in dots],
        "history": [
            {
                "place": _share(one.score, definition),
                "passes": one.status is Status.PASSED,
                "label": f"{shortened(summary.iteration.name, _LONGEST_NAME)}: "
                f"{score_text(one.score, definition.scale, one.threshold)}, {look(shown_status(one)).word}",
            }
            for summary, one in points
        ],
    }
    all_games = MarkTarget(metric, iteration=own)
    targets = {
        "metric": (all_games,),
        "before": (MarkTarget(metric, iteration=reference.iteration.name),) if reference else (),
        "after": (all_games,),
        "game": tuple(MarkTarget(metric, transcript_id=transcript_id) for _, _, transcript_id in dots),
        "history": tuple(MarkTarget(metric, iteration=summary.iteration.name) for summary, _ in points),
    }
    return row, targets, words


def _share(value: float | None, definition: MetricDefinition) -> float | None:
    """A score's place on its scale, from 0 to 1."""
    return None if value is None else definition.scale.share(value)


def _dots(shown: IterationSummary, definition: MetricDefinition) -> list[tuple[float, str, str]]:
    """The games with a score: place, label and transcript id. Many games are put together where they lie close.

    A dot that stands for several opens the lowest of them.
    """
    scored = sorted(
        (one.score, game.name, game.transcript_id)
        for game in shown.games
        if (one := game.metrics.get(definition.name)) is not None and one.score is not None
    )
    if len(scored) <= _MOST_DOTS:
        return [
            (definition.scale.share(score), _dot_label(name, score, definition), key) for score, name, key in scored
        ]
    bins: dict[int, list[tuple[float, str]]] = {}
    for score, _, key in scored:
        bins.setdefault(round(definition.scale.share(score) * _BINS), []).append((score, key))
    return [
        (place / _BINS, f"{counted(len(held), 'game')} from {score_text(held[0][0], definition.scale)}", held[0][1])
        for place, held in bins.items()
    ]


def _dot_label(name: str, score: float, definition: MetricDefinition) -> str:
    return f"{shortened(name, _LONGEST_NAME)}: {score_text(score, definition.scale)}"


def _change_text(definition: MetricDefinition, before: float | None, after: float | None) -> str:
    if before is None or after is None:
        return "" if after is None else "no reference"
    unit = "%" if definition.scale.high == 100 else ""
    return shown_change(before, after, unit).replace("-", _MINUS)


def _no_score_words(mean: MetricMean) -> str:
    return "does not apply" if mean.status is Status.NOT_APPLICABLE else "no score yet"


def _chance_words(control: ControlSummary) -> str:
    """In how many games the score is above that of scrambled copies; empty where none was compared."""
    return (
        f"better than scrambled copies in\u00a0{control.above}\u00a0of\u00a0{control.compared}"
        if control.compared
        else ""
    )


def mean_detail(metric: str, mean: MetricMean) -> str:
    """The values behind a mean: "mean of 3 games, 71.0 to 88.2 %, 1 pending"."""
    if not mean.values:
        return f"{counted(mean.games, 'game')}, no score" if mean.games else "no games yet"
    spread = spread_text(list(mean.values), DEFINITIONS[metric].scale)
    many = f"mean of {counted(len(mean.values), 'game')}" if len(mean.values) > 1 else "1 game"
    waiting = f"{mean.waiting} pending" if mean.waiting else ""
    missing = mean.games - len(mean.values) - mean.waiting
    others = f"{missing} not applicable" if missing else ""
    rests_on = mean.coverage.words if mean.coverage else ""
    return ", ".join(part for part in (many, spread, waiting, others, rests_on) if part)


def _words(definition: MetricDefinition, mean: MetricMean, before: float | None, status: str) -> str:
    interval = mean_interval(mean.values, limits=definition.scale.limits)
    parts = [
        f"{definition.label}: {score_text(mean.score, definition.scale, mean.threshold)}, {look(status).word}",
        threshold_text(mean.threshold, definition.scale),
        f"reference {score_text(before, definition.scale)}" if before is not None else "",
        f"95 % interval {interval_words(interval)}" if mean.values else "",
        mean_detail(definition.name, mean),
        mean.control.words,
    ]
    return "; ".join(part for part in parts if part) + "."
