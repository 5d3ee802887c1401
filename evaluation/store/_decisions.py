"""Decisions on rows of ledgers: by a judge, and by a person, which outranks it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.errors import InputError, NotFoundError
from evaluation.escaping import well_formed
from evaluation.overrides import Override
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT
from evaluation.rubric_judge.reading_decisions import RowDecision
from evaluation.score import RowVerdict
from evaluation.store._bulk_rows import (
    append_rows,
    by_name,
    from_json,
    from_microseconds,
    marks,
    maybe_from_microseconds,
    picked,
    require_text,
    to_json,
)
from evaluation.store.result_rows import ledger_row, ledger_values
from evaluation.store.transactions import StorePart
from evaluation.store.transcripts import require_transcript, take_back

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class Decisions(StorePart):
    """Stores and reads judges' decisions on ledger rows.

    They stand between the rule and people, row by row: a row is as a person decided it, else as the latest judge did,
    else as the rule computed it. They are kept apart from the rule's results, so that neither a new evaluation by the
    rule nor a new judge loses anything.
    """

    def save(self, decisions: Iterable[RowDecision]) -> int:
        """Stores decisions in one transaction; how many are new. One that stands already, word for word, is not.

        Raises:
            NotFoundError: A transcript is not stored.
        """
        given = list(decisions)
        with self._store.unit(write=True, join=True) as cursor:
            ids = sorted({one.transcript_id for one in given})
            for transcript_id in ids:
                require_transcript(cursor, transcript_id)
            standing = {_key(one): _content(one) for one in standing_decisions(cursor, ids)}
            new = [one for one in given if standing.get(_key(one)) != _content(one)]
            append_rows(cursor, "row_decisions", (_values(one) for one in new))
            self._rewrite(new)
        return len(new)

    def current(self, transcript_id: str) -> list[RowDecision]:
        """The decisions that stand, at most one per row, in the order in which they were made.

        Their rows may have gone from the ledger since; such decisions change nothing until the row comes back.
        """
        with self._store.unit() as cursor:
            return standing_decisions(cursor, [transcript_id])

    def withdraw(self, transcript_id: str, *, who: str) -> int:
        """Gives the rows that judges decided back to the rule; how many there were. All decisions stay on record.

        Args:
            transcript_id: The transcript's full id.
            who: The person's name.

        Raises:
            NotFoundError: The transcript is not stored.
            InputError: Nobody is named.
        """
        require_text(who=who)
        with self._store.unit(write=True, join=True) as cursor:
            require_transcript(cursor, transcript_id)
            chosen = standing_decisions(cursor, [transcript_id])
            append_rows(cursor, "row_decisions", (_withdrawn(one, who) for one in chosen))
            self._rewrite(chosen)
        return len(chosen)

    def _rewrite(self, changed: Sequence[RowDecision]) -> None:
        for transcript_id in {one.transcript_id for one in changed}:
            metrics = sorted({one.metric for one in changed if one.transcript_id == transcript_id})
            self._store.results.rewrite([transcript_id], metrics)


def _key(one: RowDecision) -> tuple[str, str, str]:
    return one.transcript_id, one.metric, one.row_id


def _content(one: RowDecision) -> tuple[Any, ...]:
    return one.verdict, one.label, one.reason, one.confidence, one.citations, one.judge, one.model, one.key, one.added


def _values(one: RowDecision) -> Mapping[str, Any]:
    return {
        **picked(one, "transcript_id", "metric", "row_id", "label", "reason", "confidence", "judge", "model"),
        "verdict": one.verdict.value,
        "citations": list(one.citations),
        "judgement_key": one.key,
        "withdrawn_by": None,
        "added_row": None if one.added is None else to_json(list(ledger_values(one.added))),
    }


def _withdrawn(one: RowDecision, who: str) -> Mapping[str, Any]:
    return {**_values(one), "verdict": None, "withdrawn_by": who}


def standing_decisions(cursor: DuckDBPyConnection, transcript_ids: Sequence[str]) -> list[RowDecision]:
    """The decisions of judges that stand on rows of these transcripts, in the order in which they were made."""
    return [
        RowDecision(
            **row
            | {
                "verdict": RowVerdict(row["verdict"]),
                "citations": tuple(row["citations"]),
                "decided_at": from_microseconds(row["decided_at"]),
                "added": row["added"] and ledger_row(from_json(row["added"])),
            }
        )
        for row in by_name(cursor.execute(_STANDING.format(marks(transcript_ids)), list(transcript_ids)))
    ]


_STANDING = """
SELECT transcript_id, metric, row_id, verdict, label, reason, confidence, citations, judge, model,
    judgement_key AS key, epoch_us(decided_at) AS decided_at, added_row AS added
FROM (
    SELECT * FROM row_decisions SEMI JOIN living_games USING (transcript_id) WHERE transcript_id IN ({})
    QUALIFY row_number() OVER (PARTITION BY transcript_id, metric, row_id ORDER BY decision_id DESC) = 1
) WHERE verdict IS NOT NULL ORDER BY decision_id
"""


_Overrides = list[Override]


class Overrides(StorePart):
    """Stores and reads what people decided against the rule."""

    def add(
        self,
        transcript_id: str,
        metric: str,
        row_id: str,
        verdict: RowVerdict | str,
        *,
        author: str,
        reason: str,
        added_words: str | None = None,
    ) -> Override:
        """Overrides one ledger row, or adds one. The latest override of a row that was not undone stands.

        Args:
            transcript_id: Full id of the game.
            metric: Whose ledger it is.
            row_id: The row; that of an added one ends in message and span.
            verdict: What it is to be.
            author: Who decides.
            reason: Why.
            added_words: The words that an added row is about; ``None`` for a row that is there.

        Raises:
            NotFoundError: The transcript is not stored, or it has no such row.
            InputError: No such metric or verdict, no author or no reason, or the metric is engagement.
        """
        _require_metric(metric)
        require_text(author=author, reason=reason)
        decision = _verdict(verdict)
        with self._store.unit(write=True, join=True) as cursor:
            require_transcript(cursor, transcript_id)
            if added_words is None:
                added_words = _words_of_row(cursor, transcript_id, metric, row_id)
            else:
                require_text(words=added_words)
            values = [transcript_id, metric, row_id, decision, author, reason, added_words]
            made = cursor.execute(_INSERT, values).fetchone()
            self._store.results.rewrite([transcript_id], [metric])
        assert made is not None
        at = from_microseconds(made[1])
        return Override(made[0], transcript_id, metric, row_id, decision, author, reason, at, added_words=added_words)

    def undo(self, override_id: int, author: str) -> None:
        """Takes an override back; the row is again what it was before. Both acts stay on record.

        Raises:
            NotFoundError: There is no such override.
            ConflictError: It was undone before.
            InputError: Nobody is named.
        """
        require_text(author=author)
        with self._store.unit(write=True, join=True) as cursor:
            copied, given = "transcript_id, metric, row_id", {"author": author, "reason": ""}
            transcript_id, metric, _ = take_back(cursor, "overrides", "override", override_id, copied, given)
            self._store.results.rewrite([transcript_id], [metric])

    def list(self, transcript_id: str | None = None) -> _Overrides:
        """Every override of the transcript's rows, or of all, undone ones too, in the order in which they were made."""
        return [_override(row) for row in self._store.rows(_SELECT, {"transcript": transcript_id})]

    def current(self, transcript_id: str | None = None) -> _Overrides:
        """The overrides that stand, at most one per row: of one transcript, or of all."""
        standing = {(o.transcript_id, o.metric, o.row_id): o for o in self.list(transcript_id) if o.undone_by is None}
        return [*standing.values()]

    def orphans(self, transcript_id: str) -> _Overrides:
        """The overrides that stand, but whose row the current ledger no longer has: they wait for a person."""
        with self._store.unit() as cursor:
            rows = set(cursor.execute(_ROWS, [transcript_id]).fetchall())
            current = [one for one in self.current(transcript_id) if one.added_words is None]
            return [o for o in current if (o.metric, o.row_id) not in rows]


_INSERT = """
INSERT INTO overrides (transcript_id, metric, row_id, verdict, author, reason, added_words) VALUES (?, ?, ?, ?, ?, ?, ?)
RETURNING override_id, epoch_us(created_at)
"""

_SELECT = """
SELECT o.override_id, o.transcript_id, o.metric, o.row_id, o.verdict, o.author, o.reason, epoch_us(o.created_at),
    u.author, epoch_us(u.created_at), o.added_words
FROM overrides o SEMI JOIN living_games USING (transcript_id) LEFT JOIN overrides u ON u.undoes = o.override_id
WHERE o.undoes IS NULL AND ($transcript::text IS NULL OR o.transcript_id = $transcript) ORDER BY o.override_id
"""

_ROWS = """
SELECT metric, row_id FROM (
    SELECT transcript_id, metric, row_id FROM current_results JOIN ledger USING (result_id)
    UNION ALL SELECT transcript_id, metric, row_id FROM row_decisions WHERE added_row IS NOT NULL
) WHERE transcript_id = ?
"""

_ADDED_WORDS = """
SELECT added_words FROM overrides WHERE transcript_id = ? AND metric = ? AND row_id = ? AND added_words IS NOT NULL
"""

_HAS_ROW = f"{_ROWS} AND metric = ? AND row_id = ? LIMIT 1"


def _require_metric(metric: str) -> None:
    if metric == ENGAGEMENT.name:
        raise InputError("A rating cannot be overridden.", place="metric", remedy="Let the rater revise it.")
    if metric not in DEFINITIONS:
        raise InputError(
            f"{metric!r} is not a metric.", place="metric", remedy=f"Choose from {', '.join(DEFINITIONS)}."
        )


def _verdict(verdict: RowVerdict | str) -> RowVerdict:
    try:
        return RowVerdict(verdict)
    except ValueError:
        choices = ", ".join(RowVerdict)
        raise InputError(f"{verdict!r} is not a verdict.", place="verdict", remedy=f"Choose from {choices}.") from None


def _words_of_row(cursor: DuckDBPyConnection, transcript_id: str, metric: str, row_id: str) -> str | None:
    """The words of a row that a person added; ``None`` for one of the ledger."""
    place = [transcript_id, metric, well_formed(row_id)]
    if cursor.execute(_HAS_ROW, place).fetchone() is not None:
        return None
    found = cursor.execute(_ADDED_WORDS, place).fetchone()
    if found is None:
        raise NotFoundError(f"The ledger of {metric} has no row {row_id!r}.", remedy="Evaluate the transcript first.")
    return str(found[0])


def _override(row: tuple[Any, ...]) -> Override:
    number, game, metric, row_id, verdict, author, reason, created_at, undone_by, undone_at, words = row
    made, undone = from_microseconds(created_at), maybe_from_microseconds(undone_at)
    return Override(number, game, metric, row_id, RowVerdict(verdict), author, reason, made, undone_by, undone, words)
