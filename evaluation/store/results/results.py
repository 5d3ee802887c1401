"""Metric results: stored unchanged, and read with ratings and overrides applied."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from evaluation.engines.garbage_collection import collection_paused
from evaluation.errors import NotFoundError
from evaluation.escaping import well_formed
from evaluation.iterations.board import metrics_by_transcript
from evaluation.precedence import results_as_they_stand
from evaluation.rubric.controls import WITHOUT_CHANCE, attach_controls
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT
from evaluation.rubric.metrics.engagement import measure_ratings
from evaluation.rubric.rows_in_doubt import ReviewItem
from evaluation.rubric.verdict import MetricScore
from evaluation.score import LedgerRow, MetricResult
from evaluation.store.engine.bulk_rows import append, append_rows, in_parts, marks, next_numbers, numbers
from evaluation.store.engine.transactions import Units
from evaluation.store.games.transcripts import iterations_of, require_transcript
from evaluation.store.ratings.engagement_decisions import EngagementDecisions
from evaluation.store.ratings.ratings import Ratings
from evaluation.store.results._kept_scores import LEDGER_STAMPS, KeptScores
from evaluation.store.results._result_rows import (
    LEDGER_COLUMNS,
    RESULT_COLUMNS,
    ledger_row,
    metric_result,
)
from evaluation.store.results._rows_in_doubt import rows_in_doubt
from evaluation.store.results._scores import score_table
from evaluation.store.results.controls import read_controls
from evaluation.store.results.judge_decisions import Decisions
from evaluation.store.results.overrides import Overrides
from evaluation.store.results.packed_results import PackedResult, PackedScores
from evaluation.store.settings import Settings
from evaluation.transcript import Transcript

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection

    from evaluation.engines.scoring import ScoreFailure


def replace_failures(
    cursor: DuckDBPyConnection, tried: Mapping[str, Collection[str]], failures: Sequence[tuple[str, ScoreFailure]]
) -> None:
    """Records what failed this time, in place of what failed before.

    Args:
        cursor: Of a writing unit.
        tried: By transcript id, the metrics that were computed or failed.
        failures: With the ids of their transcripts.
    """
    query = "SELECT DISTINCT transcript_id, scorer FROM score_failures WHERE list_contains(?::text[], transcript_id)"
    for transcript_id, metric in cursor.execute(query, [list(tried)]).fetchall():
        if metric in tried[transcript_id]:
            cursor.execute("DELETE FROM score_failures WHERE transcript_id = ? AND scorer = ?", [transcript_id, metric])
    rows = [
        {
            "transcript_id": transcript_id,
            "scorer": failure.metric,
            "subject": well_formed(failure.what),
            "reason": well_formed(failure.why),
            "traceback": well_formed(failure.traceback),
        }
        for transcript_id, failure in failures
    ]
    append_rows(cursor, "score_failures", rows)


def read_failures(cursor: DuckDBPyConnection, transcript_id: str) -> list[ScoreFailure]:
    """Metrics that failed when the transcript was last evaluated."""
    from evaluation.engines.scoring import ScoreFailure

    query = "SELECT scorer, subject, reason, traceback FROM score_failures WHERE transcript_id = ? ORDER BY scorer"
    return [ScoreFailure(*row) for row in cursor.execute(query, [transcript_id]).fetchall()]


class ScoredTranscript(Protocol):
    """A transcript with its results by metric, as the engine returns them."""

    @property
    def transcript(self) -> Transcript: ...
    @property
    def metrics(self) -> Mapping[str, MetricResult]: ...
    @property
    def failures(self) -> Sequence[ScoreFailure]: ...


class Results:
    """Stores and reads metric results."""

    def __init__(
        self,
        units: Units,
        ratings: Ratings,
        overrides: Overrides,
        decisions: Decisions,
        engagement_decisions: EngagementDecisions,
        settings: Settings,
    ) -> None:
        self._units = units
        self._ratings = ratings
        self._overrides = overrides
        self._decisions = decisions
        self._engagement_decisions = engagement_decisions
        self._settings = settings
        self._kept = KeptScores()

    def save(self, evaluations: Iterable[ScoredTranscript]) -> None:
        """Stores the results of a batch in one transaction.

        A result equal to the one that is current, in every number, reason and ledger row, is not stored again. What is
        stored is never changed. Engagement is not stored: it follows from the ratings, which are. A metric that failed
        is recorded as such until it is computed.

        Raises:
            NotFoundError: A transcript of the batch is not stored.
        """
        self.save_packed([PackedScores.of(one.transcript.id, one.metrics, one.failures) for one in evaluations])

    def save_packed(self, games: Sequence[PackedScores]) -> None:
        """The same for results that are packed already.

        Raises:
            NotFoundError: A transcript of the batch is not stored.
        """
        packed = [result for game in games for result in game.results]
        failures = [(game.transcript_id, failure) for game in games for failure in game.failures]
        tried = {game.transcript_id: game.tried for game in games}
        with self._units.unit(write=True, join=True) as cursor:
            _require_transcripts(cursor, list(tried))
            _insert(cursor, _unknown_ones(cursor, packed))
            replace_failures(cursor, tried, failures)

    def load(self, transcript_id: str) -> dict[str, MetricResult]:
        """The transcript's results as they stand, in the rubric's order, engagement from ratings and a lead's decision.

        :func:`~evaluation.precedence.results_as_they_stand` says who has the last word on a row. A metric that was
        never computed is missing; engagement never is.

        Raises:
            NotFoundError: The transcript is not stored.
        """
        with self._units.unit() as cursor:
            require_transcript(cursor, transcript_id)
            ruled = _current_results(cursor, transcript_id)
            decisions = self._decisions.current(transcript_id)
            overrides = self._overrides.current(transcript_id)
            ratings = self._ratings.history(transcript_id)
            counting = {rating.token for rating in self._ratings.latest(transcript_id)}
            threshold = self._settings.thresholds()[ENGAGEMENT.name]
            decision = self._engagement_decisions.current().get(transcript_id)
        results = self._with_controls(transcript_id, results_as_they_stand(ruled, decisions, overrides))
        rated = measure_ratings(ratings, counting=counting, threshold=threshold, decision=decision)
        results[ENGAGEMENT.name] = replace(rated, control=WITHOUT_CHANCE[ENGAGEMENT.name])
        return {name: results[name] for name in DEFINITIONS if name in results}

    def failures(self, transcript_id: str) -> list[ScoreFailure]:
        """The metrics that could not be computed when the transcript was last evaluated, and why."""
        with self._units.unit() as cursor:
            return read_failures(cursor, transcript_id)

    def scores(self, iteration: str | None = None) -> pd.DataFrame:
        """Every transcript's scores as they stand, without their ledgers.

        Args:
            iteration: Only its transcripts; ``None`` for all.

        Returns:
            One row per transcript and metric: ``transcript_id``, ``metric``, ``score`` (on the metric's scale; empty
            when not applicable or pending), ``numerator``, ``denominator``, ``status``, ``threshold`` (the one it was
            judged by), ``method``, ``version``, ``reason``, ``considered`` (rows of the ledger, for metrics that leave
            some out; ``denominator`` of these have weight), ``control`` (as
            :func:`~evaluation.rubric.controls.compute_controls` describes it; ``None`` while it is not computed).
            Transcripts in the order in which they were put into their iteration, metrics in the rubric's. Engagement is
            there for all of them.
        """
        with self._units.unit() as cursor:
            generation, threshold = self._units.generation, self._settings.thresholds()[ENGAGEMENT.name]
            if iteration is None:
                read = partial(self._read_scores, cursor, None, threshold)
                return self._kept.table(cursor, generation, threshold, read)
            return self._read_scores(cursor, iteration, threshold, None)

    def rows_in_doubt(self, transcript_ids: Sequence[str]) -> dict[str, tuple[ReviewItem, ...]]:
        """Rows that :func:`~evaluation.rubric.rows_in_doubt.review_items` finds in the results that ``load`` returns.

        By transcript, in the order given, without reading all of their ledgers; empty where there is nothing to check.
        """
        found: dict[str, tuple[ReviewItem, ...]] = dict.fromkeys(transcript_ids, ())
        with self._units.unit() as cursor, collection_paused():
            overrides = self._overrides.current()
            for some in in_parts(transcript_ids, _GAMES_AT_ONCE):
                found |= rows_in_doubt(cursor, some, overrides)
        return found

    def ledger_stamps(self, transcript_ids: Collection[str]) -> dict[str, int]:
        """By transcript, a number that changes with its results, controls, overrides and judges' decisions.

        All that ``load`` returns follows from these, but for engagement. A transcript without any of them is left out.
        """
        with self._units.unit() as cursor:
            return {
                str(key): int(stamp) for key, stamp in cursor.execute(LEDGER_STAMPS, [list(transcript_ids)]).fetchall()
            }

    def versions(self) -> set[tuple[str, str]]:
        """The metrics of all stored results with the versions that computed them, results of before included."""
        with self._units.unit() as cursor:
            return {(str(metric), str(version)) for metric, version in cursor.execute(_VERSIONS).fetchall()}

    def metric_scores(self, iteration: str | None = None) -> dict[str, dict[str, MetricScore]]:
        """The table of ``scores`` as :func:`~evaluation.iterations.metrics_by_transcript` reads it.

        Nobody changes what it returns: a game that did not change since the last call has the same mapping again.

        Args:
            iteration: Only its transcripts; ``None`` for all.
        """
        if iteration is not None:
            return metrics_by_transcript(self.scores(iteration))
        with self._units.unit() as cursor:
            generation, threshold = self._units.generation, self._settings.thresholds()[ENGAGEMENT.name]
            read = partial(self._read_scores, cursor, None, threshold)
            return dict(self._kept.metrics(cursor, generation, threshold, read))

    def _read_scores(
        self, cursor: DuckDBPyConnection, iteration: str | None, threshold: float, only: Sequence[str] | None
    ) -> pd.DataFrame:
        decided = self._engagement_decisions.current()
        return score_table(cursor, iteration, self._overrides.current(), threshold, decided, only)

    def _with_controls(self, transcript_id: str, results: dict[str, MetricResult]) -> dict[str, MetricResult]:
        """The results with the controls that were computed for their versions."""
        with self._units.unit() as cursor:
            known, links = read_controls(cursor, transcript_id)
        controls = {name: control for name, control in WITHOUT_CHANCE.items() if name in results} | {
            name: known[key] for name, one in results.items() if (key := (name, one.definition.version)) in known
        }
        return attach_controls(results, controls, links)


def _unknown_ones(cursor: DuckDBPyConnection, packed: Sequence[PackedResult]) -> list[PackedResult]:
    transcript_ids = sorted({result.key[0] for result in packed})
    # Read in the order in which they were stored, so that the latest of each is the one that stays.
    rows = cursor.execute(_DIGESTS.format(marks(transcript_ids)), transcript_ids).fetchall()
    current = {tuple(key): held for *key, held in rows}
    unknown = []
    for result in packed:
        if current.get(result.key) != result.digest:
            current[result.key] = result.digest
            unknown.append(result)
    return unknown


def _require_transcripts(cursor: DuckDBPyConnection, transcript_ids: Sequence[str]) -> None:
    known = iterations_of(cursor, transcript_ids)
    for transcript_id in transcript_ids:
        if transcript_id not in known:
            raise NotFoundError(f"The transcript {transcript_id!r} is not stored.", remedy="Store it first.")


def _insert(cursor: DuckDBPyConnection, packed: Sequence[PackedResult]) -> None:
    numbered = list(zip(next_numbers(cursor, "result_numbers", len(packed)), packed, strict=True))
    append_rows(cursor, "metric_results", (result.own_row(number) for number, result in numbered))
    rows = ((number, position, *values) for number, result in numbered for position, values in enumerate(result.ledger))
    names = ("result_id", "position", *LEDGER_COLUMNS)
    for some in in_parts(rows):
        append(cursor, "ledger", dict(zip(names, zip(*some, strict=True), strict=True)))


def _current_results(cursor: DuckDBPyConnection, transcript_id: str) -> dict[str, MetricResult]:
    query = f"SELECT {', '.join(RESULT_COLUMNS)}, digest FROM current_results WHERE transcript_id = ?"
    columns = (*RESULT_COLUMNS, "digest")
    rows = [dict(zip(columns, row, strict=True)) for row in cursor.execute(query, [transcript_id]).fetchall()]
    held = {row["result_id"]: ledger for row in rows if (ledger := _KEPT_LEDGERS.get(row["digest"])) is not None}
    missing = {row["result_id"]: row["digest"] for row in rows if row["result_id"] not in held}
    with collection_paused():
        read = _ledgers(cursor, list(missing))
    for result_id, digest in missing.items():
        held[result_id] = tuple(read.get(result_id, ()))
        _KEPT_LEDGERS.keep(digest, held[result_id])
    return {row["metric"]: metric_result(row, held[row["result_id"]]) for row in rows}


class _KeptLedgers:
    """The longest ledgers read last, by the digest of their results, so that a long game opens sooner the next time.

    Nothing in them is changed: a digest stands for every column and row of a result, whichever database it lies in.
    """

    def __init__(self) -> None:
        self._held: OrderedDict[str, tuple[LedgerRow, ...]] = OrderedDict()
        self._lock = Lock()

    def get(self, digest: str) -> tuple[LedgerRow, ...] | None:
        with self._lock:
            return self._held.get(digest)

    def keep(self, digest: str, ledger: tuple[LedgerRow, ...]) -> None:
        if not _LONG_LEDGER <= len(ledger) <= _KEPT_ROWS:
            return
        with self._lock:
            self._held[digest] = ledger
            while sum(map(len, self._held.values())) > _KEPT_ROWS:
                self._held.popitem(last=False)


_GAMES_AT_ONCE = 500
_LONG_LEDGER = 500
_KEPT_ROWS = 30_000
_KEPT_LEDGERS = _KeptLedgers()


def _ledgers(cursor: DuckDBPyConnection, result_ids: Sequence[int]) -> dict[int, list[LedgerRow]]:
    query = f"""SELECT result_id, {", ".join(LEDGER_COLUMNS)} FROM ledger
        WHERE result_id IN ({numbers(result_ids)}) ORDER BY result_id, position"""
    ledgers: dict[int, list[LedgerRow]] = {}
    for result_id, *values in cursor.execute(query).fetchall() if result_ids else ():
        ledgers.setdefault(result_id, []).append(ledger_row(tuple(values)))
    return ledgers


_VERSIONS = "SELECT DISTINCT metric, version FROM metric_results WHERE method = 'rule'"

_DIGESTS = """
SELECT transcript_id, metric, method, digest FROM metric_results WHERE transcript_id IN ({}) ORDER BY result_id
"""
