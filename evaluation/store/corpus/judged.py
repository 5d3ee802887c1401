"""Keep judges' answers and decisions on the games of a corpus beside its partitions, and import them into a store.

``answers/PARTITION/HASH.parquet`` has one row per answer or call, ``decisions/PARTITION/HASH.parquet`` one row per
judged game. PARTITION is the name of the partition that holds the games.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from evaluation.errors import InfrastructureError, NotFoundError
from evaluation.escaping import reading_fault, well_formed
from evaluation.files.locations import Location
from evaluation.judging.judges.cached import KeepAnswers, KeptAnswer
from evaluation.judging.model_client.calls import CallRecord
from evaluation.judging.model_client.usage import Usage
from evaluation.judging.protocol import Prompt
from evaluation.rubric_judge.row_decision import RowDecision
from evaluation.score import RowVerdict
from evaluation.store.corpus._parquet_files import read_table, table_bytes

if TYPE_CHECKING:
    from evaluation.store import Store

ANSWERS, DECISIONS = "answers", "decisions"
JUDGED_TABLES = (ANSWERS, DECISIONS)

# A file costs as much for one answer as for ten; but a worker that is killed loses what waits.
_WRITE_SECONDS = 0.005

_DOCUMENT = ("document", pa.string())
_ANSWERS = pa.schema([("kind", pa.string()), ("system", pa.string()), ("user", pa.string()), _DOCUMENT])
_DECISIONS = pa.schema(
    [
        ("transcript_id", pa.string()),
        ("judging", pa.string()),
        ("is_complete", pa.bool_()),
        ("judged_at", pa.timestamp("us", tz="UTC")),
        _DOCUMENT,
    ]
)
_SCHEMAS = {ANSWERS: _ANSWERS, DECISIONS: _DECISIONS}
_MOST_LISTINGS = 20
_ANSWER, _CALL = "answer", "call"


@dataclass(frozen=True, slots=True)
class JudgedGame:
    """A game that a judge was asked about.

    Attributes:
        transcript_id: The game.
        judging: The hash of all that decides what is asked, and whom.
        is_complete: Whether every row was answered; another run asks about the others.
        judged_at: When.
        decisions: The rows that the judge decided.
    """

    transcript_id: str
    judging: str
    is_complete: bool
    judged_at: datetime
    decisions: tuple[RowDecision, ...]


class JudgedPartition:
    """Answers and decisions of judges on the games of one partition; a ``JudgementCache`` for judges.

    Several processes may write at the same time: each file's name follows from its content.

    Args:
        corpus: The folder or URL of the corpus.
        partition: The partition's name.
    """

    def __init__(self, corpus: Location, partition: str) -> None:
        self._corpus = corpus
        self._partition = partition
        self._known: dict[str, KeptAnswer] | None = None
        self._written: list[str] = []

    def lookup(self, keys: Sequence[str]) -> Mapping[str, KeptAnswer]:
        """The answers kept under ``keys``; the files are read once."""
        if self._known is None:
            self._known = {one.key: one for one in self.answers()[0]}
        return {key: self._known[key] for key in keys if key in self._known}

    def keep(self, answers: Sequence[KeptAnswer], calls: Sequence[CallRecord] = ()) -> None:
        """Writes answers and calls to a file of their own; both are safe when it returns."""
        rows = [*map(_answer_row, answers), *map(_call_row, calls)]
        self._written.append(self._write(ANSWERS, rows))
        if self._known is not None:
            self._known |= {one.key: one for one in answers}

    @asynccontextmanager
    async def journal(self) -> AsyncIterator[KeepAnswers]:
        """Writes what comes within a moment to one file: another machine may go on, so it does not wait on this one."""
        from evaluation.store.model_calls.answer_journal import AnswerJournal
        from evaluation.store.model_calls.journal_file import JournalEntry

        def keep(entries: Sequence[JournalEntry]) -> None:
            calls = [one for entry in entries for one in entry.calls]
            self.keep([one for entry in entries for one in entry.answers], calls)

        async with AnswerJournal(keep, lambda _: False, None, None, _WRITE_SECONDS) as journal:
            yield lambda answers, calls: journal.add(JournalEntry(answers=answers, calls=calls))

    def answers(self) -> tuple[list[KeptAnswer], list[CallRecord]]:
        """All answers and calls that were kept."""
        rows = self._rows(ANSWERS)
        return [_answer(row) for row in rows if row["kind"] == _ANSWER], [
            _call(row) for row in rows if row["kind"] == _CALL
        ]

    def games(self) -> list[JudgedGame]:
        """The games that were judged, the one that was judged last at the end."""
        return sorted(map(_game, self._rows(DECISIONS)), key=lambda one: one.judged_at)

    def complete_ids(self, judging: str) -> set[str]:
        """The ids of the games that were wholly judged in this way."""
        columns = ["transcript_id", "judging", "is_complete"]
        rows = self._rows(DECISIONS, columns)
        return {row["transcript_id"] for row in rows if row["is_complete"] and row["judging"] == judging}

    def finish(self, games: Sequence[JudgedGame]) -> None:
        """Writes what became of games, and puts the files of answers that this object has written into one."""
        self._write(DECISIONS, [_game_row(one) for one in games])
        if len(self._written) > 1:
            self._join(ANSWERS, self._written)
            self._written = []

    def compact(self, members: Iterable[JudgedPartition]) -> None:
        """Copies what is known of other partitions, whose games are in this one now, into one file a table."""
        for table in JUDGED_TABLES:
            if rows := [row for member in members for row in member._rows(table)]:
                self._write(table, rows)

    def remove(self) -> None:
        """Removes all files: another partition has what they say."""
        for table in JUDGED_TABLES:
            for name in self._folder(table).files():
                self._folder(table).below(name).remove()

    def _join(self, table: str, names: Sequence[str]) -> None:
        folder = self._folder(table)
        joined = self._write(table, [row for name in names for row in self._read(table, name)])
        for name in names:
            if name != joined:
                folder.below(name).remove()

    def _folder(self, table: str) -> Location:
        return self._corpus.below(table, self._partition)

    def _rows(self, table: str, columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
        for _ in range(_MOST_LISTINGS):
            names = [name for name in self._folder(table).files() if name.endswith(".parquet")]
            # Another worker on the same partition may have put its files into one since they were listed.
            with suppress(NotFoundError):
                return [row for name in names for row in self._read(table, name, columns)]
        raise InfrastructureError(
            "The files change while they are read.",
            place=self._folder(table).url,
            remedy="Wait until nobody collects the corpus, and run it again.",
        )

    def _read(self, table: str, name: str, columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = read_table(self._folder(table).below(name), _SCHEMAS[table], columns).to_pylist()
        return rows

    def _write(self, table: str, rows: Sequence[dict[str, Any]]) -> str:
        content = table_bytes(pa.Table.from_pylist(list(rows), _SCHEMAS[table]))
        name = f"{hashlib.sha256(content).hexdigest()[:32]}.parquet"
        self._folder(table).below(name).write_bytes(content)
        return name


def import_judged(store: Store, judged: JudgedPartition) -> int:
    """Stores answers, calls and decisions in one transaction; how many decisions are new.

    Those on a row that somebody decided or gave back to the rule later are left out, as is what is stored already, and
    what concerns a game that the store does not have (it was deleted there).
    """
    answers, calls = judged.answers()
    games = judged.games()
    with store.unit(write=True):
        store.judgements.keep(answers)
        store.llm_calls.add_new(calls)
        # The last decision on a row counts: a later one of the same row takes the place of the one before.
        latest = {(one.transcript_id, one.metric, one.row_id): one for game in games for one in game.decisions}
        return store.decisions.save_dated(list(latest.values()))


def _answer_row(one: KeptAnswer) -> dict[str, Any]:
    document = asdict(one)
    prompt = document["prompt"]
    # Many answers share these: a column finds them equal.
    texts = {name: well_formed(prompt.pop(name)) for name in ("system", "user")}
    return {"kind": _ANSWER, **texts, "document": _packed(document)}


def _answer(row: Mapping[str, Any]) -> KeptAnswer:
    held = _unpacked(row)
    prompt = Prompt(row["system"], row["user"], held["prompt"]["question"])
    usage, answers = Usage(**held["usage"]), tuple(held["answers"])
    return KeptAnswer(**{**held, "prompt": prompt, "usage": usage, "answers": answers})


def _call_row(one: CallRecord) -> dict[str, Any]:
    document = {**asdict(one), "started_at": one.started_at.isoformat()}
    return {"kind": _CALL, "system": None, "user": None, "document": _packed(document)}


def _call(row: Mapping[str, Any]) -> CallRecord:
    held = _unpacked(row)
    return CallRecord(**{**held, "started_at": datetime.fromisoformat(held["started_at"])})


def _game_row(one: JudgedGame) -> dict[str, Any]:
    return {
        "transcript_id": one.transcript_id,
        "judging": one.judging,
        "is_complete": one.is_complete,
        "judged_at": one.judged_at,
        "document": _packed([asdict(replace(each, decided_at=None)) for each in one.decisions]),
    }


def _game(row: Mapping[str, Any]) -> JudgedGame:
    decisions = [
        RowDecision(
            **{
                **held,
                "verdict": RowVerdict(held["verdict"]),
                "citations": tuple(held["citations"]),
                "decided_at": row["judged_at"],
            }
        )
        for held in _unpacked(row)
    ]
    return JudgedGame(
        row["transcript_id"], row["judging"], bool(row["is_complete"]), row["judged_at"], tuple(decisions)
    )


def _packed(document: object) -> str:
    return json.dumps(document)


def _unpacked(row: Mapping[str, Any]) -> Any:
    try:
        return json.loads(row["document"])
    except (ValueError, RecursionError) as error:
        raise InfrastructureError(f"An answer in the corpus is damaged: {reading_fault(error)}.") from None
