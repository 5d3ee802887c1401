"""Read boards, agreement and comparisons from a store, each in one unit of work."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from evaluation.agreement.report import AgreementReport, agreement_report
from evaluation.agreement.rows import Confirmed, DecidedRow
from evaluation.comparison.iterations import IterationComparison, PairKey, compare_iterations, pair_key, paired_games
from evaluation.comparison.movers import (
    Example,
    IterationFailures,
    Losses,
    Mover,
    biggest_movers,
    example_of,
    failure_reasons,
    find_losses,
    player_names,
    with_patterns,
)
from evaluation.comparison.runs import Run, RunComparison, compare_runs
from evaluation.errors import InputError, NotFoundError
from evaluation.iterations import (
    Board,
    Game,
    IterationSide,
    games_by_iteration,
    make_board,
    reference_of,
)
from evaluation.kept_values import KeptValues
from evaluation.overrides import Override
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT, ROLE_CONSISTENCY
from evaluation.rubric.lowest_metric import failing_first
from evaluation.rubric.verdict import MetricScore
from evaluation.score import LedgerRow, Method, RowVerdict
from evaluation.store.database import Store
from evaluation.store.engine.bulk_rows import marks
from evaluation.store.games.transcript_rows import metadata_of

if TYPE_CHECKING:
    import pandas as pd

    from evaluation.store.engine.transactions import Cursor


def stored_board(store: Store, metrics: Mapping[str, Mapping[str, MetricScore]] | None = None) -> Board:
    """All known facts of the iterations, under today's thresholds.

    Args:
        store: Where to read.
        metrics: ``Results.metric_scores``, where the caller has it already.
    """
    with store.unit():
        games = games_by_iteration(store.transcripts.summaries(), metrics or store.results.metric_scores())
        settings = store.settings
        return make_board(store.iterations.list(), games, settings.thresholds(), settings.test_size())


def stored_agreement(store: Store, *, seed: int = 0) -> AgreementReport:
    """Agreement over all current ratings, with the scores as they stand and today's thresholds.

    Args:
        store: Where to read.
        seed: Of the bootstrap intervals.
    """
    with store.unit() as cursor:
        names = store.transcripts.game_names()
        # A transcript in the bin keeps its ratings; only those of stored ones count.
        ratings = store.ratings.all()
        ratings = ratings.loc[[key in names for key in ratings["transcript_id"]]]
        scores, thresholds = store.results.scores(), store.settings.thresholds()
        overrides = [one for one in store.overrides.current() if one.transcript_id in names]
        decided, confirmed = _read_decided_rows(cursor, names, overrides, scores)
    return agreement_report(ratings, scores, names, thresholds, decided, confirmed, seed=seed)


def stored_comparison(store: Store, before: str, after: str, *, seed: int = 0) -> IterationComparison:
    """Two stored iterations compared, with the scores as they stand and today's thresholds.

    Args:
        store: Where to read.
        before: The name of the control.
        after: The name of the iteration whose change is in question.
        seed: Of what is drawn for the intervals.

    Raises:
        NotFoundError: There is no iteration of that name.
        InputError: Both are the same.
    """
    if before == after:
        raise InputError(f"{before!r} cannot be compared with itself.", remedy="Name two iterations.")
    with store.unit() as cursor:
        for name in (before, after):
            store.iterations.get(name)
        board = stored_board(store)
        sides = [IterationSide(board[name].iteration, board[name].games) for name in (before, after)]
        old, new = (_names(side.games) for side in sides)
        source = (list(old.items()), list(new.items()), store.results.ledger_stamps([*old, *new]))
        pairs, movers = _compared.get(f"{before}\n{after}", source, partial(_read_compared, cursor, store, old, new))
    return compare_iterations(board, before, after, pairs, movers, seed=seed)


_Compared: TypeAlias = tuple[list[tuple[str, str]], list[Mover]]
_compared: KeptValues[_Compared] = KeptValues(20)
"""By the two names: hundreds of games have ledger rows by the hundred thousand, and no rating changes one of them."""


def _read_compared(cursor: Cursor, store: Store, old: Mapping[str, str], new: Mapping[str, str]) -> _Compared:
    """The pairs among the games of two iterations, and their biggest movers with texts."""
    pairs = paired_games(*(_pair_keys(cursor, list(side)) for side in (old, new)))
    rows = _ledger_rows(cursor, store, {**old, **new})
    rows["is_after"] = rows["transcript_id"].isin(list(new))
    return pairs, _with_texts(cursor, biggest_movers(rows))


def _names(games: Sequence[Game]) -> dict[str, str]:
    return {game.transcript_id: game.game_id for game in games}


def _pair_keys(cursor: Cursor, ids: Sequence[str]) -> dict[str, PairKey | None]:
    if not ids:
        return {}
    query = f"SELECT transcript_id, document FROM transcripts WHERE transcript_id IN ({marks(ids)})"
    documents = dict(cursor.execute(query, list(ids)).fetchall())
    return {transcript_id: pair_key(metadata_of(documents[transcript_id])) for transcript_id in ids}


def side_scores(store: Store) -> dict[tuple[str, str], float]:
    """Role consistency (0 to 100) by stored game and side (``mafia`` or ``town``) that has rows with weight."""
    with store.unit() as cursor:
        names = store.transcripts.game_names()
        rows = _ledger_rows(cursor, store, names, [ROLE_CONSISTENCY.name])
        sides = _alignments(cursor, list(names))
    keys = zip(rows["transcript_id"], rows["player"], strict=True)
    rows["side"] = [sides.get((str(key), str(player))) for key, player in keys]
    sums = rows[rows["side"].notna()].groupby(["transcript_id", "side"], sort=False)[["numerator", "denominator"]].sum()
    sums = sums[sums["denominator"] > 0]
    scores = 100.0 * sums["numerator"] / sums["denominator"]
    return dict(zip(sums.index.tolist(), scores.tolist(), strict=True))


def _alignments(cursor: Cursor, ids: Sequence[str]) -> dict[tuple[str, str], str]:
    """The side of every player of the games given, by (transcript id, name), where known."""
    found = cursor.execute(_ALIGNMENTS.format(marks(ids)), list(ids)).fetchall()
    return {(key, who): side for key, who, side in found}


def _ledger_rows(
    cursor: Cursor, store: Store, names: Mapping[str, str], metrics: Collection[str] = tuple(DEFINITIONS)
) -> pd.DataFrame:
    """The ledger as it stands, of the games given (game ids by transcript id)."""
    import pandas as pd

    # Few games have rows that a judge or a person decided; theirs are put together one by one.
    decided = {one.transcript_id for one in store.overrides.current()}
    decided |= {key for (key,) in cursor.execute("SELECT DISTINCT transcript_id FROM row_decisions").fetchall()}
    ruled = [key for key in names if key not in decided]
    rows = cursor.execute(_LEDGER.format(marks(ruled), marks(list(metrics))), [*ruled, *metrics]).df()
    special = [
        (key, metric, row.player, row.message_id, row.numerator, row.denominator, row.reason)
        for key in names
        if key in decided
        for metric, result in store.results.load(key).items()
        # Ratings are rows of no stored ledger: those of these few games must not stand for all.
        if metric in metrics and metric != ENGAGEMENT.name
        for row in result.ledger
    ]
    if special:
        parts = [rows, pd.DataFrame(special, columns=list(rows.columns))]
        rows = pd.concat([part for part in parts if len(part)], ignore_index=True)
    rows["game_id"] = rows["transcript_id"].map(names)
    return rows


def stored_losses(store: Store, name: str, board: Board | None = None) -> dict[str, Losses]:
    """The points that an iteration's games lose, by metric that fails and reason.

    Args:
        store: Where to read.
        name: Of the iteration.
        board: :func:`stored_board`, where the caller has it already.

    Raises:
        NotFoundError: There is no iteration of that name.
    """
    with store.unit() as cursor:
        store.iterations.get(name)
        summary = (board or stored_board(store))[name]
        failing = failing_first(summary.means)
        if not failing:
            return {}
        names = _names(summary.games)
        source = (names, tuple(failing), store.results.ledger_stamps(names))
        return _losses.get(name, source, partial(_read_losses, cursor, store, names, failing))


def _read_losses(cursor: Cursor, store: Store, names: Mapping[str, str], failing: Collection[str]) -> dict[str, Losses]:
    losses = find_losses(_ledger_rows(cursor, store, names, failing), _alignments(cursor, list(names)))
    texts = _texts(cursor, [example for one in losses.values() for example in one.examples])
    return {metric: replace(one, examples=texts(one.examples)) for metric, one in losses.items()}


_losses: KeptValues[dict[str, Losses]] = KeptValues(200)


def stored_failure_reasons(store: Store, name: str) -> IterationFailures:
    """Why messages of an iteration fail, with the trend since its reference and examples with their texts.

    Args:
        store: Where to read.
        name: Of the iteration.

    Raises:
        NotFoundError: There is no iteration of that name.
    """
    with store.unit() as cursor:
        rows, reference, games = _rows_beside_reference(cursor, store, name)
        found = failure_reasons(rows, has_reference=reference is not None)
        texts = _texts(cursor, [e for metric in found for reason in metric.reasons for e in reason.examples])
    metrics = tuple(
        replace(one, reasons=tuple(replace(reason, examples=texts(reason.examples)) for reason in one.reasons))
        for one in found
    )
    return IterationFailures(name, reference, games, metrics)


def stored_failing_messages(store: Store, name: str, metric: str, label: str) -> tuple[Example, ...]:
    """The ledger rows that lose points by one reason, with their messages' texts, game by game.

    Args:
        store: Where to read.
        name: Of the iteration.
        metric: The metric's name.
        label: The reason, as :class:`FailureReason` has it; one that does not occur has no rows.

    Raises:
        NotFoundError: There is no iteration of that name.
    """
    with store.unit() as cursor:
        # Of both sides and all metrics, as :func:`stored_failure_reasons` reads them: else its labels could differ.
        rows, _, _ = _rows_beside_reference(cursor, store, name)
        losing = with_patterns(rows[rows["metric"] == metric], player_names(rows))
        chosen = losing[losing["is_after"] & (losing["pattern"] == label)]
        found = tuple(example_of(row) for row in chosen.to_dict("records"))
        return _texts(cursor, found)(found)


def _rows_beside_reference(cursor: Cursor, store: Store, name: str) -> tuple[pd.DataFrame, str | None, int]:
    """The ledger rows with weight of an iteration and its reference, the reference's name, and the number of games."""
    iteration = store.iterations.get(name)
    reference = reference_of(iteration, store.iterations.list())
    summaries = store.transcripts.summaries()
    sides = {name: True} | ({reference.name: False} if reference else {})
    games = summaries[summaries["iteration"].isin(list(sides))]
    is_after = dict(zip(games["transcript_id"], games["iteration"].map(sides), strict=True))
    names = dict(zip(games["transcript_id"], games["game_id"], strict=True))
    rows = _ledger_rows(cursor, store, names)
    rows["is_after"] = rows["transcript_id"].map(is_after).astype(bool)
    return rows[rows["denominator"] > 0], reference.name if reference else None, sum(is_after.values())


_ALIGNMENTS = "SELECT transcript_id, name, alignment FROM players WHERE alignment IS NOT NULL AND transcript_id IN ({})"


def _with_texts(cursor: Cursor, movers: Sequence[Mover]) -> list[Mover]:
    texts = _texts(cursor, [example for mover in movers for example in mover.examples])
    return [replace(mover, examples=texts(mover.examples)) for mover in movers]


def _texts(cursor: Cursor, examples: Sequence[Example]) -> Callable[[tuple[Example, ...]], tuple[Example, ...]]:
    """A function that puts the messages' texts into examples, all read at once."""
    transcript_ids = sorted({example.transcript_id for example in examples})
    message_ids = sorted({example.message_id or "" for example in examples})
    query = _TEXTS.format(marks(transcript_ids), marks(message_ids))
    known = {tuple(key): text for *key, text in cursor.execute(query, [*transcript_ids, *message_ids]).fetchall()}

    def filled(some: tuple[Example, ...]) -> tuple[Example, ...]:
        return tuple(replace(one, text=known.get((one.transcript_id, one.message_id), "")) for one in some)

    return filled


_TEXTS = """
SELECT transcript_id, message_id, text FROM messages WHERE transcript_id IN ({}) AND message_id IN ({})
"""

_LEDGER = """
SELECT transcript_id, metric, player, message_id, l.numerator, l.denominator, l.reason
FROM current_results JOIN ledger l USING (result_id)
WHERE transcript_id IN ({}) AND metric IN ({}) ORDER BY result_id, position
"""


def default_pair(store: Store) -> tuple[str, str] | None:
    """The latest iteration that has a reference, after that reference; ``None`` when none has."""
    iterations = store.iterations.list()
    for one in reversed(iterations):
        if (reference := reference_of(one, iterations)) is not None:
            return reference.name, one.name
    return None


def iteration_names(store: Store) -> list[str]:
    """The names of all iterations, in their order."""
    return [one.name for one in store.iterations.list()]


def stored_run_comparison(store: Store, before: str, after: str, *, seed: int = 0) -> RunComparison:
    """Two stored evaluation runs compared.

    Args:
        store: Where to read.
        before: The id of the run that is the control.
        after: The id of the other.
        seed: Of what is drawn for the intervals.

    Raises:
        NotFoundError: There is no completed run of that id.
        InputError: Both are the same.
    """
    if before == after:
        raise InputError("A run cannot be compared with itself.", place=before, remedy="Name two runs.")
    with store.unit():
        runs = {str(row["run_id"]): row for row in store.evaluations.runs().to_dict("records")}
        for wanted in (before, after):
            if wanted not in runs or runs[wanted]["status"] != "completed":
                raise NotFoundError(
                    f"There is no completed evaluation run {wanted!r}.", remedy="See them with: dramaturg persona show."
                )
        rows = store.evaluations.scores(before), store.evaluations.scores(after)
    return compare_runs(Run.of(runs[before]), Run.of(runs[after]), rows, seed=seed)


def _read_decided_rows(
    cursor: Cursor, names: Mapping[str, str], overrides: Sequence[Override], scores: pd.DataFrame
) -> tuple[list[DecidedRow], Confirmed]:
    """The rows on which a judge's or a person's decision stands, with the verdicts of all who gave one.

    The rule's verdict is the one of its current ledger. A judge's decision on a row that the ledger no longer has is
    left out, unless a person decided that row too.

    Args:
        cursor: Where to read.
        names: Game ids by transcript id.
        overrides: Those that stand, of these transcripts.
        scores: As ``Store.results.scores`` returns them.

    Returns:
        The rows on which rule and judge differ or that a person decided, and how many others the judge confirmed.
    """
    made = {(one.transcript_id, one.metric, one.row_id): one for one in overrides}
    keys = list(zip(*made, strict=True)) or [(), (), ()]
    values = dict(zip(("transcripts", "metrics", "rows"), map(list, keys), strict=True))
    rows = [row for row in cursor.execute(_DIFFERENT, values).fetchall() if row[0] in names]
    concerned = scores[scores["transcript_id"].isin({row[0] for row in rows})]
    sums = zip(*(concerned[name] for name in ("transcript_id", "metric", "numerator", "denominator")), strict=True)
    results = {(key, metric): (numerator, denominator) for key, metric, numerator, denominator in sums}
    decided = [_decided(row, names[row[0]], made.get(row[:3]), results.get(row[:2], (0.0, 0.0))) for row in rows]
    confirmed = {
        (transcript_id, metric, RowVerdict(verdict)): rows
        for transcript_id, metric, verdict, rows in cursor.execute(_CONFIRMED, values).fetchall()
        if transcript_id in names
    }
    return decided, confirmed


def _decided(row: Sequence[Any], game_id: str, override: Override | None, result: tuple[float, float]) -> DecidedRow:
    transcript_id, metric, row_id, rule, judge, judge_reason, *fields = row
    computed = _row(row_id, rule, *fields)
    given = {
        Method.RULE: (rule, computed.reason),
        Method.JUDGE: (judge, judge_reason),
        Method.HUMAN: (override and override.verdict, override and override.reason),
    }
    return DecidedRow(
        transcript_id,
        game_id,
        metric,
        computed,
        {method: RowVerdict(verdict) for method, (verdict, _) in given.items() if verdict is not None},
        {method: str(reason) for method, (verdict, reason) in given.items() if verdict is not None},
        override.author if override else "",
        *result,
    )


def _row(
    row_id: str,
    verdict: str | None,
    message_id: str | None,
    player: str | None,
    numerator: float | None,
    denominator: float | None,
    reason: str | None,
) -> LedgerRow:
    return LedgerRow(
        row_id,
        "",
        RowVerdict(verdict or RowVerdict.EXCLUDED),
        reason or "",
        message_id=message_id,
        player=player,
        numerator=numerator or 0.0,
        denominator=denominator or 0.0,
    )


_WANTED = """
WITH latest AS (SELECT max(decision_id) AS decision_id FROM row_decisions GROUP BY transcript_id, metric, row_id),
judged AS (
    SELECT decision_id, transcript_id, metric, row_id, verdict, reason FROM row_decisions SEMI JOIN latest
    USING (decision_id) WHERE verdict IS NOT NULL
),
overruled AS (
    SELECT unnest($transcripts::text[]) AS transcript_id, unnest($metrics::text[]) AS metric,
        unnest($rows::text[]) AS row_id, generate_subscripts($rows::text[], 1) AS place
),
wanted AS (
    SELECT transcript_id, metric, row_id, decision_id, j.verdict AS judge, j.reason AS judge_reason, place
    FROM judged j FULL JOIN overruled USING (transcript_id, metric, row_id)
)
"""

_FOUND = """
FROM wanted w {join} (
    SELECT r.transcript_id, r.metric, l.* FROM current_results r SEMI JOIN wanted USING (transcript_id, metric)
    JOIN ledger l USING (result_id)
) l USING (transcript_id, metric, row_id)
"""

# In the order in which they were decided: what judges decided first, then what only people did.
_DIFFERENT = f"""
{_WANTED}
SELECT transcript_id, metric, row_id, l.verdict, w.judge, w.judge_reason, l.message_id, l.player, l.numerator,
    l.denominator, l.reason
{_FOUND.format(join="LEFT JOIN")}
WHERE place IS NOT NULL OR l.verdict <> w.judge
ORDER BY decision_id NULLS LAST, place
"""

_CONFIRMED = f"""
{_WANTED}
SELECT transcript_id, metric, w.judge, count(*)
{_FOUND.format(join="JOIN")}
WHERE place IS NULL AND l.verdict = w.judge GROUP BY ALL ORDER BY ALL
"""
