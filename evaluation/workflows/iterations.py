"""Iterations as they are stored: their board, decisions, comparisons, and why messages fail."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from evaluation.comparison.iterations import IterationComparison, compare_iterations, pair_key, paired_games
from evaluation.comparison.movers import (
    Example,
    IterationFailures,
    Losses,
    biggest_movers,
    example_of,
    failure_reasons,
    find_losses,
    player_names,
    with_patterns,
)
from evaluation.comparison.runs import Run, RunComparison, compare_runs, runs_apart_words
from evaluation.errors import InputError, NotFoundError
from evaluation.iterations.board import Board, games_by_iteration, make_board
from evaluation.iterations.game_tests import Game, judges_apart, mean_scores, metrics_of
from evaluation.iterations.iteration import Fate, Iteration, current_iteration, departs_from, reference_of
from evaluation.iterations.keep_or_revert import Choice, IterationSide
from evaluation.rubric.advice import failing_first
from evaluation.rubric.definitions import DEFINITIONS, ROLE_CONSISTENCY
from evaluation.rubric.verdict import MetricScore
from evaluation.statistics.comparison import Difference, Measure, compare
from evaluation.store.database import Store

if TYPE_CHECKING:
    import pandas as pd


def stored_board(store: Store, metrics: Mapping[str, Mapping[str, MetricScore]] | None = None) -> Board:
    """All known facts of the iterations, under today's thresholds.

    Args:
        store: Where to read.
        metrics: ``Results.metric_scores``, where the caller has it already.
    """
    with store.unit():
        metrics = metrics or store.results.metric_scores()
        games = games_by_iteration(store.transcripts.summaries(), metrics, store.transcripts.originals())
        settings = store.settings
        return make_board(store.iterations.list(), games, settings.thresholds(), settings.test_size())


def iteration_names(store: Store) -> list[str]:
    """The names of all iterations, in their order."""
    return [one.name for one in store.iterations.list()]


def record_decision(store: Store, name: str, fate: Fate, *, who: str, reason: str, note: str = "") -> Iteration:
    """Records that a person keeps or reverts the change of an iteration, with the rule's answer at this time.

    Args:
        store: Where to.
        name: Of the iteration.
        fate: What was decided.
        who: The person.
        reason: Why.
        note: Why it departs from the rule; needed where it does.

    Raises:
        NotFoundError: There is no iteration of that name.
        InputError: There is nothing to compare it with, nobody or no reason is named, or the note is missing.
    """
    with store.unit(write=True, join=True):
        store.iterations.get(name)
        decision = stored_board(store)[name].decision
        if decision is None:
            raise InputError(
                f"{name!r} has no reference, so there is no change to keep or to revert.",
                place="decision",
                remedy="Name its parent, or decide on a later iteration.",
            )
        rule = decision.answer
        if departs_from(fate, rule) and not note.strip():
            raise InputError(
                f"By the rule the change {rule.words}."
                if rule in (Choice.NOT_YET, Choice.UNDECIDABLE)
                else f"The rule says {rule}, not {fate}.",
                place="note",
                remedy="Say in a note why the decision departs from it: --note.",
            )
        return store.iterations.record_decision(
            name, fate, who=who, reason=reason, note=note, reference=decision.reference, rule=rule
        )


def current(store: Store) -> str | None:
    """The name of the current iteration, see ``current_iteration``; ``None`` without any."""
    with store.unit():
        names = [one.name for one in store.iterations.list()]
        return current_iteration(names, set(store.transcripts.summaries()["iteration"].dropna()))


def default_pair(store: Store) -> tuple[str, str] | None:
    """The reference of the current iteration, else the one before it, and the current one; ``None`` without another."""
    with store.unit():
        iterations, name = store.iterations.list(), current(store)
    own = next((one for one in iterations if one.name == name), None)
    if own is None:
        return None
    before = reference_of(own, iterations) or max(
        (one for one in iterations if one is not own), key=lambda one: one.position, default=None
    )
    return None if before is None else (before.name, own.name)


def stored_comparison(store: Store, before: str, after: str) -> IterationComparison:
    """Two stored iterations compared, with the scores as they stand and today's thresholds.

    Args:
        store: Where to read.
        before: The name of the control.
        after: The name of the iteration whose change is in question.

    Raises:
        NotFoundError: There is no iteration of that name.
        InputError: Both are the same.
    """
    if before == after:
        raise InputError(f"{before!r} cannot be compared with itself.", remedy="Name two iterations.")
    with store.unit():
        for name in (before, after):
            store.iterations.get(name)
        board = stored_board(store)
        sides = [IterationSide(board[name].iteration, board[name].games) for name in (before, after)]
        old, new = (_names(side.games) for side in sides)
        metadata = store.transcripts.metadata([*old, *new])
        pairs = paired_games(*({key: pair_key(metadata[key]) for key in side} for side in (old, new)))
        # Reasons of different judges have other words, and would all be found to have moved.
        alike = [name for name in DEFINITIONS if not judges_apart(name, *(metrics_of(side.games) for side in sides))]
        rows = _ledger_rows(store, {**old, **new}, alike)
        rows["is_after"] = rows["transcript_id"].isin(list(new))
        first, second = (mean_scores(side.games) for side in sides)
        scored = {name: (len(first[name].values), len(second[name].values)) for name in DEFINITIONS}
        found = biggest_movers(rows, scored)
        texts = _texts(store, [example for mover in found for side in mover.sides for example in side])
    movers = [replace(mover, examples=texts(mover.examples), beside=texts(mover.beside)) for mover in found]
    return compare_iterations(board, before, after, pairs, movers)


def stored_message_lengths(store: Store, before: str, after: str) -> Difference:
    """The difference of two iterations in the mean words a message, with a game as the unit of sampling.

    Args:
        store: Where to read.
        before: The name of the reference.
        after: The name of the iteration whose change is in question.
    """
    with store.unit():
        old, new = (list(store.messages.mean_words(name).values()) for name in (before, after))
    return compare({"words": Measure(old, new)})["words"]


def side_scores(store: Store) -> dict[tuple[str, str], float]:
    """Role consistency (0 to 100) by stored game and side (``mafia`` or ``town``) that has rows with weight."""
    with store.unit():
        names = store.transcripts.game_names()
        rows = _ledger_rows(store, names, [ROLE_CONSISTENCY.name])
        sides = store.transcripts.alignments(list(names))
    keys = zip(rows["transcript_id"], rows["player"], strict=True)
    rows["side"] = [sides.get((str(key), str(player))) for key, player in keys]
    sums = rows[rows["side"].notna()].groupby(["transcript_id", "side"], sort=False)[["numerator", "denominator"]].sum()
    scores = 100.0 * sums["numerator"] / sums["denominator"]
    return dict(zip(sums.index.tolist(), scores.tolist(), strict=True))


def stored_losses(store: Store, name: str, board: Board | None = None) -> dict[str, Losses]:
    """The points that an iteration's games lose, by metric that fails and reason.

    Args:
        store: Where to read.
        name: Of the iteration.
        board: :func:`~evaluation.workflows.iterations.stored_board`, where the caller has it already.

    Raises:
        NotFoundError: There is no iteration of that name.
    """
    with store.unit():
        store.iterations.get(name)
        summary = (board or stored_board(store))[name]
        failing = failing_first(summary.means)
        if not failing:
            return {}
        names = _names(summary.games)
        scored = {metric: len(mean.values) for metric, mean in summary.means.items()}
        losses = find_losses(_ledger_rows(store, names, failing), store.transcripts.alignments(list(names)), scored)
        texts = _texts(store, [example for one in losses.values() for example in one.examples])
    return {metric: replace(one, examples=texts(one.examples)) for metric, one in losses.items()}


def stored_failure_reasons(
    store: Store, name: str, before: str | None = None, only: str | None = None
) -> IterationFailures:
    """Why messages of an iteration fail, with the trend since its reference and examples with their texts.

    Args:
        store: Where to read.
        name: Of the iteration.
        before: What the trend is against; the iteration's own reference when left out.
        only: The one metric that is asked for; all when left out.

    Raises:
        NotFoundError: There is no iteration of that name.
    """
    with store.unit():
        rows, reference, games = _rows_beside_reference(store, name, before)
        found = failure_reasons(rows, has_reference=reference is not None, only=only)
        texts = _texts(store, [e for metric in found for reason in metric.reasons for e in reason.examples])
    metrics = tuple(
        replace(one, reasons=tuple(replace(reason, examples=texts(reason.examples)) for reason in one.reasons))
        for one in found
    )
    return IterationFailures(name, reference, games, metrics)


def stored_failing_messages(
    store: Store, name: str, metric: str, label: str, before: str | None = None
) -> tuple[tuple[Example, ...], tuple[Example, ...]]:
    """The ledger rows that lose points by one reason, with their messages' texts, game by game.

    Args:
        store: Where to read.
        name: Of the iteration.
        metric: The metric's name.
        label: The reason, as :class:`FailureReason` has it; one that does not occur has no rows.
        before: As for :func:`stored_failure_reasons`.

    Returns:
        Those of the reference, and those of the iteration.

    Raises:
        NotFoundError: There is no iteration of that name.
    """
    with store.unit():
        # Of both sides and all metrics, as :func:`stored_failure_reasons` reads them: else its labels could differ.
        rows, _, _ = _rows_beside_reference(store, name, before)
        losing = with_patterns(rows[rows["metric"] == metric], player_names(rows))
        chosen = losing[losing["pattern"] == label]
        sides = [chosen[~chosen["is_after"]], chosen[chosen["is_after"]]]
        old, new = (tuple(example_of(row) for row in side.to_dict("records")) for side in sides)
        texts = _texts(store, (*old, *new))
        return texts(old), texts(new)


def first_losses(store: Store, transcript_ids: Sequence[str], metric: str) -> dict[str, Example]:
    """By which row each game loses points of a metric first, the row of a message where one does, with its text.

    Args:
        store: Where to read.
        transcript_ids: The games; those that lose none are missing in what is returned.
        metric: The metric's name.
    """
    with store.unit():
        rows = _ledger_rows(store, dict.fromkeys(transcript_ids, ""), [metric])
        losing = rows[rows["numerator"] < rows["denominator"]]
        first = losing.sort_values("message_id", key=lambda ids: ids.isna(), kind="stable").drop_duplicates(
            "transcript_id"
        )
        found = tuple(example_of(row) for row in first.to_dict("records"))
        return {one.transcript_id: one for one in _texts(store, found)(found)}


def stored_run_comparison(store: Store, before: str, after: str) -> RunComparison:
    """Two stored evaluation runs compared.

    Args:
        store: Where to read.
        before: The id of the run that is the control.
        after: The id of the other.

    Raises:
        NotFoundError: There is no completed run of that id.
        InputError: Both are the same, or their judges differ.
    """
    if before == after:
        raise InputError("A run cannot be compared with itself.", place=before, remedy="Name two runs.")
    with store.unit():
        runs = {str(row["run_id"]): row for row in store.evaluations.runs().to_dict("records")}
        for wanted in (before, after):
            if wanted not in runs or runs[wanted]["status"] != "completed":
                raise NotFoundError(
                    f"There is no completed evaluation run {wanted!r}.", remedy="See them on the Agents page."
                )
        rows = store.evaluations.scores(before), store.evaluations.scores(after)
    sides = Run.of(runs[before]), Run.of(runs[after])
    if apart := runs_apart_words({"The first run": sides[0]}, sides[1]):
        raise InputError(apart, place=f"{before}, {after}", remedy="Name two runs of one judge.")
    return compare_runs(*sides, rows)


def _names(games: Sequence[Game]) -> dict[str, str]:
    return {game.transcript_id: game.name for game in games}


def _ledger_rows(store: Store, names: Mapping[str, str], metrics: Collection[str] = tuple(DEFINITIONS)) -> pd.DataFrame:
    """The rows with weight as they stand, of the games given (names by transcript id), with their ``game``."""
    rows = store.ledger.rows(list(names), metrics)
    rows["game"] = rows["transcript_id"].map(names)
    return rows


def _rows_beside_reference(store: Store, name: str, wanted: str | None) -> tuple[pd.DataFrame, str | None, int]:
    """The ledger rows with weight of an iteration and its reference, the reference's name, and the number of games."""
    iteration = store.iterations.get(name)
    reference = store.iterations.get(wanted) if wanted else reference_of(iteration, store.iterations.list())
    after = store.transcripts.game_names(name)
    before = store.transcripts.game_names(reference.name) if reference else {}
    rows = _ledger_rows(store, before | after)
    rows["is_after"] = rows["transcript_id"].isin(list(after))
    if reference:
        # Without those of the reference there is no trend, as there is none between different judges.
        sides = [store.results.metric_scores(one) for one in (name, reference.name)]
        apart = [metric for metric in DEFINITIONS if judges_apart(metric, *(side.values() for side in sides))]
        rows = rows[rows["is_after"] | ~rows["metric"].isin(apart)]
    return rows, reference.name if reference else None, len(after)


def _texts(store: Store, examples: Sequence[Example]) -> Callable[[tuple[Example, ...]], tuple[Example, ...]]:
    """A function that puts the messages' texts into examples, all read at once."""
    known = store.messages.texts([(one.transcript_id, one.message_id or "") for one in examples])

    def filled(some: tuple[Example, ...]) -> tuple[Example, ...]:
        return tuple(replace(one, text=known.get((one.transcript_id, one.message_id or ""), "")) for one in some)

    return filled
