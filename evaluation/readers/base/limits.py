"""Limits on the size of an input."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.errors import LimitError
from evaluation.transcript import Transcript

_MIB = 1024 * 1024
_SPLIT = "Check that it is one game; split it if it holds several."


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds for one upload; the defaults are far above any real game.

    Attributes:
        file_bytes: Size of one file, also of one inside a zip once it is unpacked.
        messages: Messages of one transcript; its votes may be as many again.
        players: Players of one transcript (personality diversity compares each with each).
        message_characters: Length of one message.
        lines: Lines of one file in a format that goes by lines, rows of a table.
        json_depth: How deep lists and objects may stand inside each other.
        json_values: Numbers, texts, lists and objects in one JSON file.
        files: Files in one folder or one zip, those of zips inside it included; also games in one file.
        archive_bytes: Size of one zip, and of everything in it once it is unpacked, zips inside it included.
        archive_ratio: Unpacked to packed size of one file in a zip; looked at from 1 MiB unpacked.
        archive_nesting: How many zips may stand inside each other below the outermost.
    """

    file_bytes: int = 20 * _MIB
    messages: int = 50_000
    players: int = 500
    message_characters: int = 100_000
    lines: int = 200_000
    json_depth: int = 100
    json_values: int = 2_000_000
    files: int = 20_000
    archive_bytes: int = 500 * _MIB
    archive_ratio: int = 100
    archive_nesting: int = 1

    def check_size(self, size: int, *, is_zip: bool = False) -> None:
        """Refuses a file of ``size`` bytes with a ``LimitError`` when that is too much."""
        allowed = self.archive_bytes if is_zip else self.file_bytes
        if size > allowed:
            found = f"The file has {size / _MIB:,.1f} MiB, more than {allowed / _MIB:,.1f} MiB."
            raise LimitError(found, remedy=_SPLIT)

    def check_messages(self, count: int) -> None:
        """Refuses a transcript of ``count`` messages with a ``LimitError`` when that is too many."""
        _check(count, self.messages, "game", "messages")

    def check_votes(self, count: int) -> None:
        """Refuses a transcript of ``count`` votes with a ``LimitError`` when that is too many."""
        _check(count, self.messages, "game", "votes")

    def check_players(self, count: int) -> None:
        """Refuses a transcript of ``count`` players with a ``LimitError`` when that is too many."""
        _check(count, self.players, "game", "players")

    def check_sizes(self, *, players: int, messages: int, votes: int = 0) -> None:
        """Refuses a transcript of so many players, messages and votes before it is built."""
        self.check_players(players)
        self.check_messages(messages)
        self.check_votes(votes)

    def check_lines(self, text: str) -> None:
        """Refuses a text of too many lines with a ``LimitError``."""
        _check(text.rstrip("\n").count("\n") + 1, self.lines, "file", "lines")

    def check_rows(self, count: int) -> None:
        """Refuses a table of ``count`` rows with a ``LimitError`` when that is too many."""
        _check(count, self.lines, "table", "rows", "Split it into several.")

    def check_games(self, count: int) -> None:
        """Refuses a file of ``count`` games with a ``LimitError`` when that is too many."""
        if count > self.files:
            raise LimitError(f"The file holds more than {self.files:,} games.", remedy="Split it into several.")

    def check_transcript(self, transcript: Transcript) -> None:
        """Refuses a transcript with too many messages or players, or too long a message, with a ``LimitError``."""
        self.check_sizes(
            players=len(transcript.players), messages=len(transcript.messages), votes=len(transcript.votes)
        )
        for message in transcript.messages:
            if len(message.text) > self.message_characters:
                found = f"{len(message.text):,} characters, more than {self.message_characters:,}"
                raise LimitError(
                    f"Message {message.index + 1} has {found}.",
                    place=f"messages[{message.index}]",
                    remedy="Check that the file keeps one message apart from the next.",
                )


def _check(count: int, most: int, subject: str, unit: str, remedy: str = _SPLIT) -> None:
    if count > most:
        raise LimitError(f"The {subject} has {count:,} {unit}, more than {most:,}.", remedy=remedy)
