"""The result of reading one game, and the function that turns a refusal into a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from evaluation.errors import BrokenTranscriptError, InputError, OpenQuestionError
from evaluation.files.strict_json import shorten
from evaluation.readers._sources import printable
from evaluation.readers._who_speaks import BROKEN_OFF, settle
from evaluation.readers.base.answers import NO_ANSWERS, Answers, GameReading, Question, Topic
from evaluation.readers.base.limits import Limits
from evaluation.readers.base.reader import FileGame, Found
from evaluation.readers.tables.rows import TableHead
from evaluation.transcript import CANONICAL_FORMAT, Transcript

_MOST_ASKED = 5


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
        remarks: What was settled about who speaks, to whom and when, one sentence each.
        questions: What is open about it. One without an answer refuses the game until somebody gives one.
        preview: The game as it stands while a question refuses it.
    """

    name: str
    transcript: Transcript | None = None
    error: InputError | None = None
    format: str | None = None
    head: TableHead | None = None
    left_aside: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    preview: Transcript | None = None


def results_of(
    label: str, format_name: str, read: Callable[[], Found], limits: Limits, answers: Answers = NO_ANSWERS
) -> Iterator[ReadResult]:
    """The result of each game that ``read`` finds; one result when it refuses the whole."""
    count = 0
    try:
        found = read()
        if isinstance(found, Transcript | GameReading):
            one = found
            found = (FileGame("", lambda: one),)
        for game in found:
            count += 1
            limits.check_games(count)
            yield _result(label, format_name, game, limits, answers)
    except InputError as error:
        yield ReadResult(label, error=error, format=format_name)
        return
    if count == 0:
        nothing = BrokenTranscriptError("There is no game in it.", remedy="Export it again.")
        yield ReadResult(label, error=nothing, format=format_name)


def _result(label: str, format_name: str, game: FileGame, limits: Limits, answers: Answers) -> ReadResult:
    name = printable(f"{label}/{game.name}") if game.name else label
    try:
        read = game.read()
        settled = settle(read if isinstance(read, GameReading) else GameReading(read), format_name, answers)
        limits.check_transcript(settled.transcript)
    except InputError as error:
        return ReadResult(name, error=error, format=format_name)
    result = ReadResult(
        name, settled.transcript, format=format_name, remarks=settled.remarks, questions=settled.questions
    )
    return _asked(result, answers)


def broken_off(metadata: Mapping[str, object]) -> str | None:
    """Why a run ended before its end, as the metadata of its transcript say; ``None`` where it did not."""
    if (error := metadata.get("stopped_by")) is not None:
        return f"an error ({shorten(str(error))})"
    if metadata.get("recording_cut_off"):
        return "the end of its recorder"
    reason = metadata.get(BROKEN_OFF)
    return None if reason is None else str(reason)


def _asked(result: ReadResult, answers: Answers) -> ReadResult:
    """The result, refused where it holds a question that nobody has answered and that no answer is assumed for."""
    assert result.transcript is not None
    reason = broken_off(result.transcript.metadata)
    # A canonical file was written from a game that somebody had taken in, unless a recorder wrote it.
    if result.format == CANONICAL_FORMAT and BROKEN_OFF in result.transcript.metadata:
        reason = None
    if reason is not None and not answers.broken_off:
        words = f"The run was broken off by {reason}. Take it as it is?"
        result = replace(result, questions=(*result.questions, Question(Topic.BROKEN_OFF, "", words)))
    open_questions = [question for question in result.questions if question.taken is None]
    if not open_questions:
        return result
    error = OpenQuestionError(
        " ".join(question.words for question in open_questions[:_MOST_ASKED]),
        remedy=f"Answer it where the files are added, or with {' '.join(one.option for one in open_questions)}.",
    )
    return replace(result, transcript=None, error=error, preview=result.transcript)
