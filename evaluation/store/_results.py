"""Metric results: what was computed is stored unchanged; how scores stand is rewritten with whatever changes them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evaluation.errors import NotFoundError
from evaluation.escaping import well_formed
from evaluation.judged_by import JudgedBy, Judges
from evaluation.overrides import Override
from evaluation.rubric.controls import CONTROLLED, WITHOUT_CHANCE, attach_controls
from evaluation.rubric.definitions import COHERENCE, DEFINITIONS, ENGAGEMENT, VERSIONS
from evaluation.rubric.link_strength import Link
from evaluation.rubric.metrics.engagement import measure_ratings
from evaluation.rubric.rows_in_doubt import ReviewItem, ReviewKind
from evaluation.rubric.verdict import MetricScore
from evaluation.score import Coverage, LedgerRow, MetricResult, RowVerdict, Status, status_by, status_of, summarise
from evaluation.store._bulk_rows import (
    append,
    append_rows,
    by_name,
    from_json,
    in_parts,
    marks,
    next_numbers,
    numbers,
)
from evaluation.store.result_rows import (
    LEDGER_COLUMNS,
    ControlRow,
    ResultRows,
    RowVerdicts,
    ScoredGame,
    decided_rows,
    doubt_rows,
    ledger_row,
    metric_result,
    score_row,
)
from evaluation.store.transactions import StorePart, UnitsPart
from evaluation.store.transcripts import iterations_of, require_transcript

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection

    from evaluation.engines.scoring import Evaluation, ScoreFailure


_ALL = tuple(DEFINITIONS)
_CURRENT = ("current_scores", "decided_rows", "rows_in_doubt")
"""The tables that ``rewrite`` writes."""


class Results(StorePart):
    """Stores computed results, reads them as they stand, and keeps ``current_scores`` true to both."""

    def save(self, evaluations: Iterable[Evaluation]) -> None:
        """Stores the results of a batch in one transaction.

        A result equal to the one that is current, in every number, reason and ledger row, is not stored again. What is
        stored is never changed. Engagement is not stored: it follows from the ratings, which are. A metric that failed
        is recorded as such until it is computed.

        Raises:
            NotFoundError: A transcript of the batch is not stored.
        """
        self.save_rows([ScoredGame.of(one.transcript.id, one.metrics, one.failures) for one in evaluations])

    def save_rows(self, games: Sequence[ScoredGame]) -> None:
        """The same for results that are rows already.

        Raises:
            NotFoundError: A transcript of the batch is not stored.
        """
        failures = [(game.transcript_id, failure) for game in games for failure in game.failures]
        tried = {game.transcript_id: game.tried for game in games}
        with self._store.unit(write=True, join=True) as cursor:
            _require_transcripts(cursor, list(tried))
            new = _unknown_ones(cursor, [result for game in games for result in game.results])
            _insert(cursor, new)
            replace_failures(cursor, tried, failures)
            # Where nobody has decided anything, results stand as they were computed, unless by other thresholds.
            qualified = _qualified(cursor, sorted({one.transcript_id for _, one in new}))
            today = self._store.settings.thresholds()
            others = {one.transcript_id for _, one in new if one.values["threshold"] != today[one.values["metric"]]}
            qualified = sorted({*qualified, *others})
            latest = {one.key: (number, one) for number, one in new if one.transcript_id not in qualified}
            _clear(cursor, latest)
            append_rows(cursor, "current_scores", [one.score | {"result_id": n} for n, one in latest.values()])
            append_rows(cursor, "rows_in_doubt", (row for _, one in latest.values() for row in one.in_doubt))
            self.rewrite(qualified)

    def begin(self, transcript_ids: Sequence[str]) -> None:
        """Gives new transcripts the score that they have before anything is known: engagement, which is pending."""
        with self._store.unit(write=True, join=True) as cursor:
            pending = summarise(ENGAGEMENT, (), threshold=self._store.settings.thresholds()[ENGAGEMENT.name])
            append_rows(cursor, "current_scores", [score_row(one, None, pending) for one in transcript_ids])

    def rewrite(self, transcript_ids: Iterable[str], metrics: Sequence[str] = _ALL) -> None:
        """Writes the scores of these transcripts as they stand now.

        Call in the transaction that changed what they follow from, with the metrics that it concerns.
        """
        with self._store.unit(write=True, join=True) as cursor:
            for transcript_id in transcript_ids:
                ids, results = self._standing(cursor, transcript_id, metrics)
                _clear(cursor, [(transcript_id, metric) for metric in metrics])
                for name, result in results.items():
                    append_rows(cursor, "current_scores", [score_row(transcript_id, ids.get(name), result)])
                    if ResultRows.is_stored(result):
                        append_rows(cursor, "decided_rows", decided_rows(transcript_id, result))
                        append_rows(cursor, "rows_in_doubt", doubt_rows(transcript_id, result))

    def judge_again(self, metric: str, threshold: float) -> None:
        """Judges a metric by another threshold in every game, deleted ones included.

        A failure that is not by score stays one whatever the threshold.
        """
        with self._store.unit(write=True, join=True) as cursor:
            found = cursor.execute(_JUDGED_BY_SCORE, [metric]).fetchall()
            for status in (Status.PASSED, Status.FAILED):
                ids = [key for key, score in found if status_of(score, threshold) is status]
                cursor.execute(_SET_STATUS, [status.value, metric, ids])
            cursor.execute("UPDATE current_scores SET threshold = ? WHERE metric = ?", [threshold, metric])

    def load(self, transcript_id: str) -> dict[str, MetricResult]:
        """The transcript's results as they stand, in the rubric's order, judged by today's thresholds.

        :func:`~evaluation.precedence.results_as_they_stand` says who has the last word on a row. A metric that was
        never computed is missing; engagement never is.

        Raises:
            NotFoundError: The transcript is not stored.
        """
        with self._store.unit() as cursor:
            require_transcript(cursor, transcript_id)
            results = self._standing(cursor, transcript_id, _ALL)[1]
        return {
            name: replace(results[name], control=WITHOUT_CHANCE.get(name, results[name].control))
            for name in DEFINITIONS
            if name in results
        }

    def _standing(
        self, cursor: DuckDBPyConnection, transcript_id: str, metrics: Collection[str]
    ) -> tuple[dict[str, int], dict[str, MetricResult]]:
        """The numbers of the computed results by metric, and the results as they stand."""
        store, thresholds = self._store, self._store.settings.thresholds()
        results: dict[str, MetricResult] = {}
        ids, computed = _computed(cursor, transcript_id, [name for name in metrics if name != ENGAGEMENT.name])
        if computed:
            # It loads what judges need, which most imports of games do without.
            from evaluation.precedence import results_as_they_stand

            decided = store.decisions.current(transcript_id), store.overrides.current(transcript_id)
            controls, links = read_controls(cursor, transcript_id)
            known = {
                name: controls[key]
                for name, one in computed.items()
                if (key := (name, one.definition.version)) in controls
            }
            standing = attach_controls(results_as_they_stand(computed, *decided), known, links)
            results = {
                name: replace(one, status=status_by(one, thresholds[name]), threshold=thresholds[name])
                for name, one in standing.items()
            }
        if ENGAGEMENT.name in metrics:
            ratings, counting = store.ratings.of_transcript(transcript_id)
            results[ENGAGEMENT.name] = measure_ratings(
                ratings,
                counting=counting,
                threshold=thresholds[ENGAGEMENT.name],
                decision=store.engagement_decisions.current(transcript_id).get(transcript_id),
            )
        return ids, results

    def failures(self, transcript_id: str) -> list[ScoreFailure]:
        """The metrics that could not be computed when the transcript was last evaluated, and why."""
        from evaluation.engines.scoring import ScoreFailure

        query = "SELECT scorer, subject, reason, traceback FROM score_failures WHERE transcript_id = ? ORDER BY scorer"
        return [ScoreFailure(*row) for row in self._store.rows(query, [transcript_id])]

    def scores(self, iteration: str | None = None) -> pd.DataFrame:
        """Every transcript's scores as they stand, without their ledgers.

        Args:
            iteration: Only its transcripts; ``None`` for all.

        Returns:
            One row per transcript and metric: ``transcript_id``, ``metric``, ``score`` (on the metric's scale; empty
            when not applicable or pending), ``numerator``, ``denominator``, ``status``, ``threshold`` (today's),
            ``method``, ``version``, ``reason``, ``considered`` (rows of the ledger, for metrics that leave some out;
            ``denominator`` of these have weight), ``control`` (as
            :func:`~evaluation.rubric.controls.compute_controls` describes it; ``None`` while it is not computed).
            Transcripts in the order in which they were put into their iteration, metrics in the rubric's. Engagement is
            there for all of them.
        """
        import pandas as pd

        table = self._store.table(_SCORES.format(columns=_TABLE_COLUMNS), _chosen(iteration))
        pairs = zip(table["metric"], table["control"], strict=True)
        controls = [
            WITHOUT_CHANCE.get(metric) or from_json(text if isinstance(text, str) else None) for metric, text in pairs
        ]
        table["control"] = pd.Series(controls, index=table.index, dtype=object)
        return table

    def metric_scores(
        self, iteration: str | None = None, *, transcript_id: str | None = None
    ) -> dict[str, dict[str, MetricScore]]:
        """The same by transcript and metric, as verdicts and tests take them.

        Args:
            iteration: Only its transcripts; ``None`` for all.
            transcript_id: Only this one; ``None`` for all.
        """
        found: dict[str, dict[str, MetricScore]] = {}
        with self._store.unit() as cursor:
            rows = cursor.execute(
                _SCORES.format(columns=_OUTCOME_COLUMNS), _chosen(iteration, transcript_id)
            ).fetchall()
            judges = self.judges()
            changed = {(key, metric): count for key, metric, count in cursor.execute(_CHANGED).fetchall()}
        for key, metric, status, score, threshold, reason, right, settled, considered, control in rows:
            rule = DEFINITIONS[metric].coverage
            has_coverage = considered or (considered is not None and score is not None)
            coverage = Coverage(rule, round(settled), round(considered), right) if rule and has_coverage else None
            # Why a metric fails whatever its score, or does not apply, is what later readings of it must know.
            told = reason if status in (Status.FAILED, Status.NOT_APPLICABLE) else ""
            held = WITHOUT_CHANCE.get(metric) or from_json(control)
            by = judges.get((key, metric), ())
            many = changed.get((key, metric), 0)
            outcome = MetricScore(_STATUSES[status], score, threshold, told, coverage, held, by, many)
            found.setdefault(key, {})[metric] = outcome
        return found

    def rule_means(self, iteration: str) -> dict[str, float]:
        """The mean score by rules alone of each metric that something else read in a game of the iteration."""
        return {str(metric): float(mean) for metric, mean in self._store.rows(_RULE_MEANS, [iteration])}

    def judges(self) -> dict[tuple[str, str], Judges]:
        """The judges whose decisions stand, by transcript and metric; those that none decided are missing."""
        found: dict[tuple[str, str], list[JudgedBy]] = {}
        for key, metric, model, instructions in self._store.rows(_JUDGES):
            found.setdefault((key, metric), []).append(JudgedBy(model, instructions))
        return {place: tuple(judges) for place, judges in found.items()}

    def rows_in_doubt(self, transcript_ids: Sequence[str]) -> dict[str, list[ReviewItem]]:
        """Rows that :func:`~evaluation.rubric.rows_in_doubt.review_items` finds in the results as they stand.

        By transcript that has any, in the order given, and in the order of metrics and rows.
        """
        chosen = {"ids": list(transcript_ids), "metrics": list(_ALL)}
        found: dict[str, list[ReviewItem]] = {}
        with self._store.unit() as cursor:
            results = [number for (number,) in cursor.execute(_RESULTS_IN_DOUBT, [chosen["ids"]]).fetchall()]
            for row in cursor.execute(_IN_DOUBT.format(numbers(results)), chosen).fetchall():
                key, metric, row_id, verdict, kind, *scores = row
                item = ReviewItem(metric, row_id, _VERDICTS[verdict], _REVIEW_KINDS[kind], *scores)
                found.setdefault(key, []).append(item)
        return found

    def outcomes_in_doubt(self, iteration: str) -> list[tuple[str, tuple[float | None, ...]]]:
        """The metric and the four scores of each row that ``rows_in_doubt`` has of an iteration, in no order."""
        return [(metric, tuple(scores)) for metric, *scores in self._store.rows(_OUTCOMES, [iteration])]

    def versions(self) -> set[tuple[str, str]]:
        """The metrics of all stored results with the versions that computed them, results of before included."""
        found = self._store.rows(
            "SELECT DISTINCT metric, version FROM metric_results SEMI JOIN living_games USING (transcript_id)"
        )
        return {(str(metric), str(version)) for metric, version in found}


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


def _require_transcripts(cursor: DuckDBPyConnection, transcript_ids: Sequence[str]) -> None:
    known = iterations_of(cursor, transcript_ids)
    for transcript_id in transcript_ids:
        if transcript_id not in known:
            raise NotFoundError(f"The transcript {transcript_id!r} is not stored.", remedy="Store it first.")


def _unknown_ones(cursor: DuckDBPyConnection, results: Sequence[ResultRows]) -> list[tuple[int, ResultRows]]:
    """The results that are not current already, with numbers for them."""
    transcript_ids = sorted({result.transcript_id for result in results})
    # Read in the order in which they were stored, so that the latest of each is the one that stays.
    rows = cursor.execute(_DIGESTS.format(marks(transcript_ids)), transcript_ids).fetchall()
    current = {tuple(key): held for *key, held in rows}
    unknown = []
    for result in results:
        if current.get(result.key) != result.digest:
            current[result.key] = result.digest
            unknown.append(result)
    return list(zip(next_numbers(cursor, "result_numbers", len(unknown)), unknown, strict=True))


def _insert(cursor: DuckDBPyConnection, numbered: Sequence[tuple[int, ResultRows]]) -> None:
    append_rows(cursor, "metric_results", (result.own_row(number) for number, result in numbered))
    rows = ((number, position, *values) for number, result in numbered for position, values in enumerate(result.ledger))
    names = ("result_id", "position", *LEDGER_COLUMNS)
    for some in in_parts(rows):
        append(cursor, "ledger", dict(zip(names, zip(*some, strict=True), strict=True)))


def _qualified(cursor: DuckDBPyConnection, transcript_ids: Sequence[str]) -> list[str]:
    """Those among the transcripts that have decisions, overrides or controls."""
    query = _QUALIFIED.format(marks(transcript_ids))
    return [str(key) for (key,) in cursor.execute(query, [*transcript_ids] * 3).fetchall()]


def _clear(cursor: DuckDBPyConnection, places: Collection[tuple[str, str]]) -> None:
    """Removes how scores stood: of these transcripts, for these metrics."""
    transcript_ids, metrics = [key for key, _ in places], [metric for _, metric in places]
    some = list(dict.fromkeys(transcript_ids))
    for table in _CURRENT if set(metrics) != {ENGAGEMENT.name} else _CURRENT[:1]:
        # The first condition uses the index.
        query = f"""DELETE FROM {table} WHERE transcript_id IN ({marks(some)})
            AND (transcript_id, metric) IN (SELECT unnest(?::text[]), unnest(?::text[]))"""
        cursor.execute(query, [*some, transcript_ids, metrics])


def _computed(
    cursor: DuckDBPyConnection, transcript_id: str, metrics: Sequence[str]
) -> tuple[dict[str, int], dict[str, MetricResult]]:
    """The numbers of the current results by metric, and the results as they were computed."""
    query = "SELECT * EXCLUDE (created_at) FROM current_results WHERE transcript_id = ?"
    rows = by_name(cursor.execute(query, [transcript_id])) if metrics else []
    ids: dict[str, int] = {row["metric"]: row["result_id"] for row in rows if row["metric"] in metrics}
    ledgers = _ledgers(cursor, list(ids.values()))
    results = {
        row["metric"]: metric_result(row, tuple(ledgers.get(row["result_id"], ())))
        for row in rows
        if row["metric"] in ids
    }
    return ids, results


def _ledgers(cursor: DuckDBPyConnection, result_ids: Sequence[int]) -> dict[int, list[LedgerRow]]:
    query = f"""SELECT result_id, {", ".join(LEDGER_COLUMNS)} FROM ledger
        WHERE result_id IN ({numbers(result_ids)}) ORDER BY result_id, position"""
    ledgers: dict[int, list[LedgerRow]] = {}
    for result_id, *values in cursor.execute(query).fetchall() if result_ids else ():
        ledgers.setdefault(result_id, []).append(ledger_row(values))
    return ledgers


def _chosen(iteration: str | None, transcript_id: str | None = None) -> dict[str, Any]:
    return {"iteration": iteration and well_formed(iteration), "transcript": transcript_id, "metrics": list(_ALL)}


_STATUSES = {status.value: status for status in Status}
_VERDICTS = {verdict.value: verdict for verdict in RowVerdict}
_REVIEW_KINDS = {kind.value: kind for kind in ReviewKind}

_TABLE_COLUMNS = """transcript_id, metric, score, numerator, denominator, status, threshold, method, version, reason,
    considered, control"""
_OUTCOME_COLUMNS = """transcript_id, metric, status, score, threshold, reason, numerator, denominator, considered,
    control"""

_SCORES = """
SELECT {columns} FROM current_scores JOIN transcripts t USING (transcript_id)
WHERE ($iteration::text IS NULL OR t.iteration = $iteration)
    AND ($transcript::text IS NULL OR t.transcript_id = $transcript) AND list_contains($metrics, metric)
ORDER BY t.position, list_position($metrics, metric)
"""

# How a decision was asked for stands with the judgement that it follows from.
_CHANGED = """
SELECT transcript_id, metric, count(*) FROM (
    SELECT * FROM overrides o
    WHERE undoes IS NULL AND NOT EXISTS (SELECT 1 FROM overrides u WHERE u.undoes = o.override_id)
    QUALIFY row_number() OVER (PARTITION BY transcript_id, metric, row_id ORDER BY override_id DESC) = 1
) o SEMI JOIN decided_rows USING (transcript_id, metric, row_id) JOIN current_scores c USING (transcript_id, metric)
LEFT JOIN ledger l ON l.result_id = c.result_id AND l.row_id = o.row_id
WHERE l.verdict IS DISTINCT FROM o.verdict GROUP BY ALL
"""
_JUDGES = """
WITH latest AS (SELECT max(decision_id) AS decision_id FROM row_decisions GROUP BY transcript_id, metric, row_id),
asked AS (
    SELECT DISTINCT transcript_id, metric, model, judgement_key AS key FROM row_decisions SEMI JOIN latest
    USING (decision_id) SEMI JOIN decided_rows USING (transcript_id, metric, row_id) WHERE verdict IS NOT NULL
)
SELECT transcript_id, metric, a.model, array_to_string(list_sort(list(DISTINCT concat_ws(
    ', temperature ', j.prompt->>'version', j.answer->'parameters'->>'temperature'))), '; ')
FROM asked a LEFT JOIN judgements j USING (key) GROUP BY ALL ORDER BY ALL
"""

_RULE_MEANS = """
SELECT c.metric, avg(coalesce((r.details->'by_rule'->>'score')::double, c.score)) FROM current_scores c
SEMI JOIN (FROM transcripts WHERE iteration = ?) t USING (transcript_id) JOIN metric_results r USING (result_id)
WHERE c.score IS NOT NULL GROUP BY c.metric HAVING bool_or((r.details->'by_rule') IS NOT NULL)
"""

_JUDGED_BY_SCORE = """
SELECT transcript_id, score FROM current_scores
WHERE metric = ? AND score IS NOT NULL AND NOT (status = 'failed' AND reason <> '')
"""

_SET_STATUS = """
UPDATE current_scores SET status = ? WHERE metric = ? AND transcript_id IN (SELECT unnest(?::text[]))
"""

_DIGESTS = "SELECT transcript_id, metric, digest FROM metric_results WHERE transcript_id IN ({}) ORDER BY result_id"

_QUALIFIED = """
SELECT transcript_id FROM row_decisions WHERE transcript_id IN ({0})
UNION SELECT transcript_id FROM overrides WHERE transcript_id IN ({0})
UNION SELECT transcript_id FROM controls WHERE transcript_id IN ({0})
"""

_RESULTS_IN_DOUBT = """
SELECT DISTINCT result_id FROM current_scores SEMI JOIN rows_in_doubt USING (transcript_id, metric)
WHERE transcript_id IN (SELECT unnest(?::text[]))
"""

_OUTCOMES = """
SELECT metric, before, if_counts, if_not, if_excluded
FROM rows_in_doubt SEMI JOIN (FROM transcripts WHERE iteration = ?) USING (transcript_id)
"""

_IN_DOUBT = """
SELECT d.transcript_id, d.metric, d.row_id, l.verdict, d.kind, before, if_counts, if_not, if_excluded
FROM rows_in_doubt d JOIN current_scores c USING (transcript_id, metric)
JOIN ledger l ON l.result_id = c.result_id AND l.row_id = d.row_id
WHERE l.result_id IN ({})
ORDER BY list_position($ids::text[], d.transcript_id), list_position($metrics, d.metric), l.position
"""


class Controls(StorePart):
    """Stores controls and finds the transcripts that lack them."""

    def save(self, transcript_id: str, rows: Iterable[ControlRow]) -> None:
        """Stores controls of a transcript.

        Raises:
            NotFoundError: The transcript is not stored.
        """
        with self._store.unit(write=True, join=True) as cursor:
            require_transcript(cursor, transcript_id)
            for row in rows:
                cursor.execute(_INSERT, [transcript_id, *row])
            self._store.results.rewrite([transcript_id], list(CONTROLLED))

    def missing(self, iteration: str | None = None) -> list[str]:
        """The transcripts of which a stored result of today's version has no control yet, in their order.

        Args:
            iteration: Only its transcripts; ``None`` for all.
        """
        with self._store.unit() as cursor:
            values = {
                "metrics": list(CONTROLLED),
                "versions": [VERSIONS[name] for name in CONTROLLED],
                "iteration": iteration,
            }
            return [str(key) for (key,) in cursor.execute(_MISSING, values).fetchall()]


def read_controls(
    cursor: DuckDBPyConnection, transcript_id: str
) -> tuple[dict[tuple[str, str], dict[str, Any]], tuple[Link, ...]]:
    """The controls of a transcript by metric and version, and the link strengths of its messages."""
    controls: dict[tuple[str, str], dict[str, Any]] = {}
    links: tuple[Link, ...] = ()
    for metric, version, control, listed in cursor.execute(_SELECT, [transcript_id]).fetchall():
        controls[metric, version] = from_json(control)
        if metric == COHERENCE.name:
            found = from_json(listed) or ()
            links = tuple(Link(one["message_id"], one["strength"], tuple(one["words"])) for one in found)
    return controls, links


_INSERT = "INSERT INTO controls (transcript_id, metric, version, control, links) VALUES (?, ?, ?, ?, ?)"

_SELECT = "SELECT metric, version, control, links FROM controls WHERE transcript_id = ? ORDER BY control_id"

_MISSING = """
WITH today AS (SELECT unnest($metrics::text[]) AS metric, unnest($versions::text[]) AS version)
SELECT t.transcript_id FROM transcripts t
WHERE ($iteration::text IS NULL OR t.iteration = $iteration) AND EXISTS (
    FROM current_results r JOIN today USING (metric, version)
    WHERE r.transcript_id = t.transcript_id AND NOT EXISTS (
        FROM controls c
        WHERE c.transcript_id = r.transcript_id AND c.metric = r.metric AND c.version = r.version
    )
)
ORDER BY t.position
"""


class LedgerReading(UnitsPart):
    """Reads rows of ledgers without building results of them."""

    def rows(self, transcript_ids: Sequence[str], metrics: Collection[str] = tuple(DEFINITIONS)) -> pd.DataFrame:
        """The rows with weight of computed metrics as they stand, decided and added ones among the others.

        Returns:
            ``transcript_id``, ``metric``, ``player``, ``message_id`` (both may be empty), ``numerator``,
            ``denominator``, ``reason``; result by result in the order in which they were stored, rows in theirs.
        """
        with self._units.unit() as cursor:
            return cursor.execute(_ROWS, [list(transcript_ids), list(metrics)]).df()

    def decided(self, overrides: Sequence[Override]) -> tuple[list[RowVerdicts], dict[tuple[str, str, str], int]]:
        """The rows on which a judge's or a person's decision stands.

        A judge's decision on a row that the ledger no longer has is left out, unless a person decided that row too.

        Args:
            overrides: Those that stand.

        Returns:
            The rows on which rule and judge differ or that a person decided, what judges decided first; and how many
            others a judge confirmed, by transcript, metric and verdict.
        """
        keys = [(one.transcript_id, one.metric, one.row_id) for one in overrides]
        columns: list[list[Any]] = [[key[place] for key in keys] for place in range(3)]
        values = dict(zip(("transcripts", "metrics", "rows"), columns, strict=True))
        with self._units.unit() as cursor:
            rows = [RowVerdicts(*row) for row in cursor.execute(_DIFFERENT, values).fetchall()]
            confirmed = {tuple(key): count for *key, count in cursor.execute(_CONFIRMED, values).fetchall()}
        return rows, confirmed


_ROWS = """
SELECT transcript_id, metric, player, message_id, numerator, denominator, reason FROM current_ledger
WHERE transcript_id IN (SELECT unnest(?::text[])) AND metric IN (SELECT unnest(?::text[])) AND denominator > 0
ORDER BY result_id, position
"""

_WANTED = """
WITH latest AS (SELECT max(decision_id) AS decision_id FROM row_decisions GROUP BY transcript_id, metric, row_id),
judged AS (
    SELECT decision_id, transcript_id, metric, row_id, verdict, reason FROM row_decisions SEMI JOIN latest
    USING (decision_id) SEMI JOIN living_games USING (transcript_id) WHERE verdict IS NOT NULL
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
    SELECT c.transcript_id, c.metric, l.* FROM current_scores c SEMI JOIN wanted USING (transcript_id, metric)
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
