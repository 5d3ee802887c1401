"""Data of the cockpit: seven metrics before and after, with the games and iterations behind every mark.

Independent of Streamlit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from dashboard.shared.answer import Fact
from dashboard.shared.clicked_marks import MarkTarget, MarkTargets
from dashboard.shared.comparison_tables import METRIC_LABELS, signed
from dashboard.shared.formatting import label_with_unit, look, rules_text, score_text, spread_text, threshold_text
from evaluation.comparison.iterations import IterationComparison, compare_iterations
from evaluation.iterations.board import Board, IterationSummary
from evaluation.iterations.game_tests import (
    GameFailure,
    MetricMean,
    judges_apart,
    metrics_of,
    with_open_engagement,
)
from evaluation.iterations.iteration import Iteration
from evaluation.iterations.keep_or_revert import FEWEST_GAMES, Choice
from evaluation.rubric.at_chance import above_chance_change
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT
from evaluation.rubric.verdict import marked_status
from evaluation.score import AT_CHANCE, MetricDefinition, Status, changed_words
from evaluation.statistics.comparison import Difference, Outcome
from evaluation.statistics.intervals import ALL_EQUAL, mean_interval
from evaluation.statistics.words import (
    MOST_GAMES_SAID,
    change_words,
    direction_of,
    directions_words,
    evidence_words,
    interval_words,
    more_words,
    needed_words,
    needs_many,
)
from evaluation.text.display import cost_text, counted, fixed, listed, shortened
from evaluation.validity import Trust, metric_trust, trust_sentence

_MOST_DOTS = 30
_BINS = 50
_LONGEST_NAME = 60
_LONGEST_SENTENCE, _SHORTEST_CHANGE = 250, 40
_SHORT_NAME = 24


def legend_of(*sides: IterationSummary | None) -> dict[str, object]:
    """The legend of the rows of an iteration, and of what it is compared with, by name: untrusted text."""
    now, *before = (shortened(one.iteration.name, _SHORT_NAME) for one in sides if one)
    marks = [*(f"○ {name}, the reference" for name in before), f"● {now}, 95 % interval", "· a game"]
    return {"now": now, "legend": [*marks, "┃ threshold: left of it fails", "a mark opens its games"]}


def axis_of(row: Mapping[str, Any], definition: MetricDefinition) -> dict[str, object]:
    """The axis of a row that stands alone, so that games which lie close are told apart.

    Args:
        row: As in :func:`cockpit_of`.
        definition: Of its metric.

    Returns:
        ``begin``, the last quarter of the scale below which no mark lies, and ``ticks``, the numbers from there on.
    """
    places = [one["place"] for one in row["games"]] + [*(row["interval"] or ()), row["before"], row["threshold"]]
    begin = min(3, math.floor(4 * min(place for place in places if place is not None)))
    scale = definition.scale
    return {"begin": begin / 4, "ticks": [scale.low + scale.width * at / 4 for at in range(begin, 5)]}


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
    if shown.iteration.recorded is not None:
        return NextStep.NEXT_ITERATION
    if is_settled(shown):
        return NextStep.RECORD
    if waiting_games(board, shown):
        return NextStep.RATE
    if any(len(side.games) < FEWEST_GAMES for side in sides(board, shown)):
        return NextStep.ADD_GAMES
    if shown.decision is None:
        return NextStep.NEXT_ITERATION
    return NextStep.READ


def is_settled(shown: IterationSummary) -> bool:
    """Whether the rule says keep or revert, whatever games and ratings are still missing."""
    return shown.decision is not None and shown.decision.answer in (Choice.KEEP, Choice.REVERT)


def critical_failures(shown: IterationSummary, *, is_hidden: bool) -> list[GameFailure]:
    """The iteration's critical failures; a low rating may be why, so none while ratings are hidden."""
    failures = [] if is_hidden else [failure for test in shown.tests for failure in test.failures]
    return [failure for failure in failures if failure.is_critical]


def blockers(shown: IterationSummary, *, is_hidden: bool) -> list[str]:
    """Reasons that have decided alone; while neither rule nor person has decided, what is missing. One line each."""
    critical = critical_failures(shown, is_hidden=is_hidden)
    many = f"✗ {len(critical)} of {counted(len(shown.games), 'game')} failed critically"
    failed = [f"{many}. {critical[0].words}"] if critical else []
    if shown.iteration.recorded is not None or is_settled(shown):
        return failed
    rated = shown.means[ENGAGEMENT.name]
    unrated = (f"{rated.waiting} of {counted(rated.games, 'game')} not rated yet.",) if rated.waiting else ()
    return [*failed, *(shown.decision.missing if shown.decision else unrated)]


def caveat(board: Board, shown: IterationSummary) -> str:
    """The rule's words with their reserve, without what would settle it; empty where the games say the same."""
    return board.disagreement(shown).partition(":")[0].rstrip(".")


def sentence(board: Board, shown: IterationSummary, pair: IterationComparison | None) -> str:
    """Whether it is shown to be better, the target, and what was changed, in two lines at most: untrusted text.

    Such as "Better than Prompt v2 (kept) on Depth (+7.5 points), beyond luck. Changed: Shorter prompt."

    Args:
        board: All iterations.
        shown: The one in question.
        pair: Its comparison, without what the person must not see; ``None`` where there is none.
    """
    change = shown.iteration.change.rstrip(". ")
    if pair is None:
        return _as_sentence(change, _LONGEST_SENTENCE)
    reference = board[pair.before.iteration.name].iteration
    marks = ", ".join(filter(None, ("the baseline" * reference.is_baseline, "kept" * reference.is_kept)))
    against = f"{shortened(reference.name, _LONGEST_NAME)}{f' ({marks})' if marks else ''}"
    if between := [shortened(name, _LONGEST_NAME) for name in versions_between(board, shown.iteration, reference)]:
        ends = f"{len(between)} versions, {between[0]} to {between[-1]}" if len(between) > 2 else listed(between)
        against = f"{against} with the changes of {ends} between"
    beside = pair.fallen_companions.get(pair.primary or "", "")
    fell = f", but its {beside[2:]}" if beside else ""
    evidence = f"{evidence_words(pair.comparison.values(), METRIC_LABELS, against)}{fell}."
    evidence += " Changed: " if change else ""
    return evidence + _as_sentence(change, max(_SHORTEST_CHANGE, _LONGEST_SENTENCE - len(evidence)))


def versions_between(board: Board, shown: Iteration, reference: Iteration) -> list[str]:
    """The names of the versions through which one came from the other, the earliest first; empty where it did not.

    A version comes from its parent; where none is named, from the latest before it that was not reverted.
    """
    known = {one.iteration.name: one.iteration for one in board.iterations}
    before = [one for one in known.values() if not one.is_reverted]
    passed, at = [shown], shown
    while at.name != reference.name:
        earlier = [one for one in before if one.position < at.position]
        found = known.get(at.parent or "") or max(earlier, key=lambda one: one.position, default=None)
        if found is None or found in passed:
            return []
        passed, at = [found, *passed], found
    return [one.name for one in passed[1:-1]]


def _as_sentence(words: str, limit: int) -> str:
    whole = f"{words}." if words else ""
    return whole if len(whole) <= limit else shortened(words, limit)


def chips(shown: IterationSummary, pair: IterationComparison | None) -> list[Fact]:
    """The facts of a comparison: games, metrics that are higher and lower, the cost, the target, and what to trust."""
    if pair is None:
        return [Fact(counted(len(shown.games), "game"))]
    differences = pair.comparison.values()
    facts = [Fact(directions_words(differences, len(pair.after.games), len(pair.before.games)))]
    if cost := pair.cost_words:
        facts.append(Fact(cost, "orange" if pair.is_dear else "gray"))
    scored = [one.name for one in differences if one.before.n and one.after.n]
    target = shown.decision.target if shown.decision else None
    facts += [Fact(words, "red") for name, words in pair.fallen_companions.items() if name != pair.primary]
    known = [one for one in metric_trust() if one.metric in scored]
    beside = above_chance_change(*pair.controls[target]) if target else ""
    why = trust_sentence(known, scored, target, "The rule", beside)
    doubts = [one for one in known if one.trust in (Trust.WITH_CARE, Trust.HARDLY)]
    doubt = next((one.trust for one in doubts if one.metric == target), None)
    if shown.decision and target:
        named = "target, named after the games" if shown.iteration.is_target_late else "target"
        word = named if shown.decision.is_target_named else "no target named, decides"
        said = f"{word}: {METRIC_LABELS[target]}{f', {doubt}' if doubt else ''}"
        facts.append(Fact(said, "orange" if doubt else "gray", why if doubt else ""))
    # What could be luck needs no trust.
    told = [one for one in known if pair.comparison[one.metric].outcome.is_beyond_luck and one.metric != target]
    if weak := [METRIC_LABELS[one.metric] for one in told if one.trust is Trust.HARDLY]:
        facts.append(Fact(f"low trust: {', '.join(weak)}", why=why))
    return facts


def more_games_sentence(shown: IterationSummary, pair: IterationComparison | None) -> str:
    """Number of further games that would show the target's change, and their price; empty where nothing is open.

    Such as "Coherence could be luck: if its change is as large as seen, 30 games on each side would show it: 27 and 27
    more, about 85.59 USD at 1.75 USD a game of Prompt v4 and 1.42 USD a game of Prompt v5."
    """
    if pair is None or shown.decision is None:
        return ""
    one = pair.comparison.get(shown.decision.target or "")
    if one is None or not direction_of(one):
        return ""
    label = METRIC_LABELS[one.name]
    if one.outcome is Outcome.AT_CHANCE:
        settled = any(other.outcome.is_beyond_luck for other in pair.comparison.values())
        return "" if settled else f"More games would not settle {label}: it is {AT_CHANCE}."
    if one.outcome is not Outcome.NO_EVIDENCE:
        return ""
    if needs_many(one):
        return f"{label} could be luck; it would take more than {MOST_GAMES_SAID} games on each side to tell."
    usd = pair.more_usd(one)
    cost = f"; about {cost_text(usd)} at {pair.price_words}" if usd is not None else ""
    return (
        f"{label} could be luck: if its change is as large as seen, {needed_words(one)} games on each side "
        f"would show it, {more_words(one)}{cost}."
    )


CockpitRow = tuple[dict[str, Any], MarkTargets]
"""A metric's row for ``cockpit_rows.js``, and what its marks open: ``metric``, ``before``, ``after`` and ``game``."""


def cockpit_of(
    board: Board, name: str, beside: str | None, rule_means: Mapping[str, float] = MappingProxyType({})
) -> list[CockpitRow]:
    """The rows of the iteration of that name, beside another one where ``beside`` names it.

    The means by rules alone, ``rule_means``, are told where they stand on the other side of the threshold.
    """
    shown, reference = board[name], board[beside] if beside else None
    pair = compare_iterations(board, beside, name) if beside else None
    differences = pair.comparison if pair else {}
    statuses = {metric: marked_status(metric, mean) for metric, mean in with_open_engagement(shown.means).items()}
    # Where nobody named a target, the decision takes the lowest, at which nobody aimed.
    target = shown.iteration.target_metric
    return [
        _row(
            metric,
            shown,
            reference,
            differences.get(metric),
            statuses[metric],
            pair.companion_words(metric) if pair else "",
            rule_means.get(metric),
            is_target=metric == target,
        )
        for metric in DEFINITIONS
    ]


def without_ratings(found: Sequence[CockpitRow]) -> list[CockpitRow]:
    """The rows, without engagement: what others gave the games of both sides a rater must not see yet."""
    place = list(DEFINITIONS).index(ENGAGEMENT.name)
    row, targets = found[place]
    hidden = "hidden until you have rated these games"
    texts = {"before": hidden, "after": hidden, "current": "hidden"}
    # A new row: the one that was made is shared with people who may see it.
    row = row | {
        "before": None,
        "after": None,
        "interval": None,
        "games": [],
        "status": look("hidden").label,
        "texts": dict.fromkeys(row["texts"], "") | {"threshold": row["texts"]["threshold"]} | texts,
        "words": f"Engagement: {hidden}.",
    }
    return [*found[:place], (row, {**targets, "before": (), "game": ()}), *found[place + 1 :]]


def _row(
    metric: str,
    shown: IterationSummary,
    reference: IterationSummary | None,
    difference: Difference | None,
    status: str,
    companion: str,
    rule_mean: float | None,
    *,
    is_target: bool,
) -> CockpitRow:
    definition, mean = DEFINITIONS[metric], shown.means[metric]
    is_apart = reference is not None and bool(
        judges_apart(metric, metrics_of(reference.games), metrics_of(shown.games))
    )
    before = reference.means[metric].score if reference and not is_apart else None
    interval = mean_interval(mean.values, limits=definition.scale.limits)
    dots, outcome = _dots(shown, definition), _outcome_words(difference, companion, status)
    current = score_text(mean.score, definition.scale, mean.threshold)
    own = shown.iteration.name
    row = {
        "label": definition.label,
        "words": _words(definition, mean, before, status),
        "isTarget": is_target,
        "threshold": _share(mean.threshold, definition),
        "before": _share(before, definition),
        "after": _share(mean.score, definition),
        "interval": [_share(interval.low, definition), _share(interval.high, definition)]
        if interval.is_known
        else None,
        "status": look(status).label,
        # What is said beside a verdict is none, but for a companion that fell.
        "isNote": outcome == companion and not companion.startswith("▼"),
        "texts": {
            "threshold": threshold_text(mean.threshold, definition.scale)
            + (", axis 1 to 5" if definition is ENGAGEMENT else "")
            + (" · no spread" if interval.note == ALL_EQUAL else "")
            + (f" · {changed_words(mean.changed)}" if mean.changed else "")
            + (f" · {alone}" if (alone := rules_text(rule_mean, mean.score, mean.threshold)) else ""),
            "before": f"{reference.iteration.name if reference else ''}: {score_text(before, definition.scale)}",
            "after": f"{own}: {current}",
            "current": current if mean.score is not None else "no score",
            "change": "other judges" if is_apart else change_text(definition, before, mean.score),
            "outcome": outcome,
            "range": _range_words(difference) if difference else "",
            "no_score": "does not apply" if mean.status is Status.NOT_APPLICABLE else "no score yet",
        },
        "games": [{"place": place, "label": label} for place, label, _ in dots],
    }
    all_games = MarkTarget(metric, iteration=own)
    targets = {
        "metric": (all_games,),
        "before": (MarkTarget(metric, iteration=reference.iteration.name),) if reference else (),
        "after": (all_games,),
        "game": tuple(MarkTarget(metric, transcript_id=transcript_id) for _, _, transcript_id in dots),
    }
    return row, targets


def _outcome_words(difference: Difference | None, companion: str, status: str) -> str:
    """The result of a row's difference, and its companion where that fell beyond luck, or where the status says it all.

    That it is at chance, or on low evidence, is said beside it; the companion may still tell the sides apart.
    """
    is_said = status.endswith("low_evidence") and difference and difference.outcome is Outcome.LOW_EVIDENCE
    is_worse = difference is not None and difference.outcome is Outcome.WORSE
    if difference is None or (status in (AT_CHANCE, "failed_at_chance") and not is_worse) or is_said:
        return companion
    # Where this side has a verdict of its own, it is the other that is at chance.
    whose = f"reference {AT_CHANCE}" if difference.outcome is Outcome.AT_CHANCE else difference.words
    outcome = signed(difference.outcome, whose)
    return f"{companion}; score {outcome}" if companion.startswith("▼") and not is_worse else outcome


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
            (
                definition.scale.share(score),
                f"{shortened(name, _LONGEST_NAME)}: {score_text(score, definition.scale)}",
                key,
            )
            for score, name, key in scored
        ]
    bins: dict[int, list[tuple[float, str]]] = {}
    for score, _, key in scored:
        bins.setdefault(round(definition.scale.share(score) * _BINS), []).append((score, key))
    return [
        (place / _BINS, f"{counted(len(held), 'game')} from {score_text(held[0][0], definition.scale)}", held[0][1])
        for place, held in bins.items()
    ]


def change_text(definition: MetricDefinition, before: float | None, after: float | None) -> str:
    """The change of a score in its unit, such as "+4.6 points"; "no reference" without one, empty without a score."""
    if before is None or after is None:
        return "" if after is None else "no reference"
    unit = "%" if definition.scale.high == 100 else ""
    return change_words(before, after, unit)


def _range_words(one: Difference) -> str:
    """The range of the true change, at the level that decided: it holds 0 just where the change could be luck."""
    low, high = one.deciding_interval.low, one.deciding_interval.high
    if low is None or high is None:
        return one.welch.reason
    return f"the true change may be {fixed(low, signed=True)} to {fixed(high, signed=True)}"


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


def iteration_means(board: Board, shown: IterationSummary) -> dict[str, str]:
    """The means of an iteration by label: "▲ 84.0", "✗ 1.1, at chance"; ▲ and ▼ are told against its own reference."""
    reference = board[shown.decision.reference] if shown.decision else None
    pair = None
    if reference is not None and reference.games and shown.games:
        pair = compare_iterations(board, reference.iteration.name, shown.iteration.name).comparison
    return {
        label_with_unit(name): _mean_cell(name, shown.means[name].score, open_mean, (pair or {}).get(name))
        for name, open_mean in with_open_engagement(shown.means).items()
    }


def _mean_cell(metric: str, score: float | None, mean: MetricMean, difference: Difference | None) -> str:
    shown = look(marked_status(metric, mean))
    symbol, caution = shown.symbol, shown.word.partition(", ")[2]
    if score is None:
        return symbol
    number = score_text(score, DEFINITIONS[metric].scale, mean.threshold).split()[0]
    cell = f"{f'{symbol} ' if symbol in '✗…≈' else ''}{number}{f', {caution}' * (bool(caution) and symbol != '…')}"
    return signed(difference.outcome, cell) if difference and difference.outcome is not Outcome.AT_CHANCE else cell


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
