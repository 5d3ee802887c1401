"""The report on an import, which keeps the outcome of every file."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from evaluation.files.strict_json import shorten
from evaluation.readers import ReadResult
from evaluation.readers._line_shapes import remedy
from evaluation.text.display import counted, picked_data


class ImportOutcome(StrEnum):
    """The outcome of a game. ``NOT_STORED``: the import ended, or was stopped, before its turn."""

    STORED = "stored"
    KNOWN = "known already"
    REPEATED = "twice in this import"
    REFUSED = "refused"
    NOT_STORED = "not stored"


@dataclass(frozen=True, slots=True)
class ReportLine:
    """One game, or one file that was refused.

    Attributes:
        name: The file, with the game's own name behind it where a file holds several.
        format: What it was recognised as; ``None`` when nothing was.
        players: How many there are; ``None`` when it was refused, as for messages.
        message: Why it was refused, what could not be computed, or what was settled and is open about who speaks.
        place: Where that is in the file; empty where the message says it.
        remedy: What to do about it.
    """

    name: str
    outcome: ImportOutcome
    format: str | None = None
    game_id: str | None = None
    transcript_id: str | None = None
    players: int | None = None
    messages: int | None = None
    message: str = ""
    place: str = ""
    remedy: str = ""

    @classmethod
    def of(cls, result: ReadResult, outcome: ImportOutcome = ImportOutcome.NOT_STORED) -> ReportLine:
        """The line for what a reader made of a file; a refusal, whatever ``outcome`` says, when it was refused."""
        transcript, error = result.transcript, result.error
        if error is not None:
            return cls(
                result.name,
                ImportOutcome.REFUSED,
                result.format,
                message=error.message,
                place=error.place,
                remedy=error.remedy,
            )
        assert transcript is not None
        return cls(
            result.name,
            outcome,
            result.format,
            transcript.game_id,
            transcript.id,
            len(transcript.players),
            len(transcript.messages),
            " ".join(
                (
                    *result.remarks,
                    *(f"{question.words} To change it: {question.option}" for question in result.questions),
                    f"Read as {kinds_words(result.kinds)}." if set(result.kinds) - {"message"} else "",
                    left_out_words(result),
                )
            ).strip(),
        )


def kinds_words(kinds: Mapping[str, int]) -> str:
    """The counts of what lines or rows became: "5 messages, 4 votes, 2 left out"."""
    return ", ".join(
        f"{count:,} {kind}" if kind == "left out" else counted(count, kind) for kind, count in kinds.items()
    )


def left_out_words(result: ReadResult) -> str:
    """The number of lines or rows left out, and of the first three the place, the text and the reason; else empty."""
    first = "; ".join(f'{one.place} "{shorten(one.text)}": {one.reason}' for one in result.left_out)
    return f"{result.kinds['left out']:,} left out: {first}." if first else ""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """Results of one import.

    Attributes:
        source: "upload" or "command line".
        iteration: The iteration that the games were meant for; ``None`` for none.
        seconds: How long it took from the first to the last game; ``None`` while it runs, or when it never ended.
    """

    lines: tuple[ReportLine, ...]
    source: str = "upload"
    iteration: str | None = None
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    seconds: float | None = None
    id: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def counts(self) -> dict[ImportOutcome, int]:
        """Number of games with each outcome; every outcome is named."""
        found = Counter(line.outcome for line in self.lines)
        return {outcome: found[outcome] for outcome in ImportOutcome}

    @property
    def refused(self) -> tuple[ReportLine, ...]:
        """The files that were refused."""
        return tuple(line for line in self.lines if line.outcome is ImportOutcome.REFUSED)

    def with_outcomes(self, outcomes: Mapping[str, tuple[ImportOutcome, str]], seconds: float | None) -> ImportReport:
        """The report after the work: outcome and remark by transcript id for lines that waited for it."""
        return replace(self, lines=tuple(_settled(line, outcomes) for line in self.lines), seconds=seconds)

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON-compatible data; :meth:`from_dict` makes it again."""
        return {
            **picked_data(self, "id", "source", "iteration", "seconds"),
            "started_at": self.started_at.isoformat(),
            "counts": {str(outcome): count for outcome, count in self.counts.items()},
            "files": [asdict(line) | {"outcome": str(line.outcome)} for line in self.lines],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ImportReport:
        """The report that :meth:`as_dict` was called on."""
        lines = tuple(ReportLine(**line | {"outcome": ImportOutcome(line["outcome"])}) for line in data["files"])
        started_at = datetime.fromisoformat(data["started_at"])
        return cls(lines, data["source"], data["iteration"], started_at, data["seconds"], data["id"])


def _settled(line: ReportLine, outcomes: Mapping[str, tuple[ImportOutcome, str]]) -> ReportLine:
    found = outcomes.get(line.transcript_id or "")
    if found is None or line.outcome is not ImportOutcome.NOT_STORED:
        return line
    return replace(line, outcome=found[0], message=" ".join(filter(None, (found[1], line.message))))


def planned(results: Iterable[ReadResult], stored: Iterable[str], **about: Any) -> ImportReport:
    """The report before anything is stored: refused, known and repeated are settled, the others not stored yet.

    Args:
        results: What the readers made of the files.
        stored: Ids of the transcripts that the store has.
        about: ``source`` and ``iteration`` of the report.
    """
    known, seen = frozenset(stored), set[str]()
    return ImportReport(tuple(_planned(results, known, seen)), **about)


def _planned(results: Iterable[ReadResult], known: frozenset[str], seen: set[str]) -> Iterator[ReportLine]:
    for result in results:
        line = ReportLine.of(result)
        if line.transcript_id in seen:
            line = replace(line, outcome=ImportOutcome.REPEATED)
        elif line.transcript_id in known:
            line = replace(line, outcome=ImportOutcome.KNOWN)
        if line.transcript_id is not None:
            seen.add(line.transcript_id)
        yield line


@dataclass(frozen=True, slots=True)
class RefusalGroup:
    """Files that were refused for the same reason: told once, however many there are."""

    message: str
    remedy: str
    lines: tuple[ReportLine, ...]

    @property
    def is_unknown(self) -> bool:
        """Whether the remedy is to write the game in a format that is read."""
        return remedy("table") in self.remedy

    @property
    def page_remedy(self) -> str:
        """The remedy in plain words: how to hand in the game most simply, and no options of a terminal."""
        is_long = "--" in self.remedy or self.remedy == remedy("known")
        return remedy("simplest") if is_long else self.remedy.replace(remedy("table"), remedy("simplest"))


def refusal_groups(lines: Sequence[ReportLine]) -> tuple[RefusalGroup, ...]:
    """The refused lines by reason and remedy, the largest group first, equal ones in the files' order."""
    groups: dict[tuple[str, str], list[ReportLine]] = {}
    for line in lines:
        groups.setdefault((line.message, line.remedy), []).append(line)
    found = [RefusalGroup(message, remedy, tuple(same)) for (message, remedy), same in groups.items()]
    return tuple(sorted(found, key=lambda group: -len(group.lines)))
