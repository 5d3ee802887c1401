"""The result of reading one game, and the function that turns a refusal into a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from evaluation.errors import BrokenTranscriptError, InputError
from evaluation.readers._file_entries import printable
from evaluation.readers.base.limits import Limits
from evaluation.readers.base.reader import FileGame, Found
from evaluation.readers.tables.preview import TableHead
from evaluation.transcript import Transcript


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The result of reading one game: its transcript, or the error that says what to do.

    Attributes:
        name: The file or game folder as the person knows it, with the folder or zip that it came from; a game of a file
            that holds several has its own name behind the file's.
        transcript: The game; ``None`` when it was refused.
        error: Why it was refused; ``None`` when it was read.
        format: The format recognised; ``None`` when none was.
        head: Columns and first rows of a table, whose columns a person may choose; ``None`` for any other file.
        left_aside: Names of other files in the folder of a game of several files that no reader knows: they belong to
            the game and are not games themselves.
    """

    name: str
    transcript: Transcript | None = None
    error: InputError | None = None
    format: str | None = None
    head: TableHead | None = None
    left_aside: tuple[str, ...] = ()


def results_of(label: str, format_name: str, read: Callable[[], Found], limits: Limits) -> Iterator[ReadResult]:
    """The result of each game that ``read`` finds; one result when it refuses the whole."""
    count = 0
    try:
        found = read()
        if isinstance(found, Transcript):
            transcript = found
            found = (FileGame("", lambda: transcript),)
        for game in found:
            count += 1
            limits.check_games(count)
            yield _result(label, format_name, game, limits)
    except InputError as error:
        yield ReadResult(label, error=error, format=format_name)
        return
    if count == 0:
        nothing = BrokenTranscriptError("There is no game in it.", remedy="Export it again.")
        yield ReadResult(label, error=nothing, format=format_name)


def _result(label: str, format_name: str, game: FileGame, limits: Limits) -> ReadResult:
    name = printable(f"{label}/{game.name}") if game.name else label
    try:
        transcript = game.read()
        limits.check_transcript(transcript)
    except InputError as error:
        return ReadResult(name, error=error, format=format_name)
    return ReadResult(name, transcript=transcript, format=format_name)
