"""Choose the reader for a file by its content."""

from __future__ import annotations

import json
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from evaluation.errors import BrokenTranscriptError, InputError, UnknownFormatError
from evaluation.files.strict_json import shorten
from evaluation.readers import tables
from evaluation.readers._draft import letters, word_set
from evaluation.readers._line_shapes import known_by_sight, remedy, yaml_table
from evaluation.readers.document import (
    ArchiveReader,
    Document,
    FileReader,
    FolderReader,
    Found,
    ReadResult,
    first_record,
)
from evaluation.readers.formats import (
    aiwolf,
    captions,
    chat,
    inspect_log,
    llm_werewolf,
    llmafia,
    messenger_json,
    native,
    nested_json,
    own,
    plain_text,
    talk_in_text,
    tinytroupe,
    werewolf_gpt,
)
from evaluation.readers.traces import autogen, concordia, crewai_log, langfuse, langgraph, langsmith, opentelemetry
from evaluation.text.display import counted
from evaluation.transcript import Transcript

# Asked in this order: a later one never sees what an earlier one recognises.
FILE_READERS: tuple[FileReader, ...] = (
    own.READER,
    native.READER,
    llm_werewolf.READER,
    werewolf_gpt.READER,
    aiwolf.READER,
    tinytroupe.READER,
    inspect_log.READER,
    opentelemetry.READER,
    opentelemetry.PHOENIX_READER,
    langfuse.READER,
    langsmith.READER,
    langgraph.READER,
    autogen.READER,
    crewai_log.READER,
    concordia.READER,
    messenger_json.TELEGRAM_READER,
    messenger_json.DISCORD_READER,
    messenger_json.SLACK_DAY_READER,
    chat.READER,
    chat.SHAREGPT_READER,
    captions.READER,
    talk_in_text.READER,
    tables.READER,
    plain_text.READER,
)
FOLDER_READERS: tuple[FolderReader, ...] = (llmafia.READER,)
# Recognised by their first bytes, before anything is decoded to text.
BINARY_READERS: tuple[FileReader, ...] = (tables.BINARY_READER,)
# Zips that are one file of the tool that wrote them.
ARCHIVE_READERS: tuple[ArchiveReader, ...] = (inspect_log.ARCHIVE_READER, messenger_json.SLACK_READER)


def choose_reader(document: Document) -> FileReader:
    """The reader that recognises the content.

    Raises:
        InputError: None does; says what was found instead.
    """
    for reader in BINARY_READERS:
        if reader.recognises(document):
            return reader
    for folder_reader in FOLDER_READERS:
        if folder_reader.recognises_part(document):
            raise UnknownFormatError(
                f"This is one file of a game in the format {folder_reader.format}, which consists of several.",
                remedy="Choose the whole folder, or a zip of it.",
            )
    for reader in FILE_READERS:
        if reader.recognises(document):
            return reader
    if (known := known_by_sight(document.text, "logs") or known_by_sight(document.text, "texts")) is not None:
        raise known
    is_log = _LOG.match(document.text) is not None
    if document.json_error and not isinstance(document.first_line, dict) and not is_log:
        raise document.json_error
    if (tool := _tool_without_reader(document)) is not None:
        raise tool
    if nested_json.READER.recognises(document):
        return nested_json.READER
    return _likely(document, _unknown(document))


def _likely(document: Document, unknown: UnknownFormatError) -> FileReader:
    """A reader of what a file of no known form seems to hold, which is asked about.

    Raises:
        UnknownFormatError: ``unknown``, where it seems to hold nothing that somebody says.
    """
    texts = document.json if document.json_error is None else None
    if isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts):
        talk = Document("\n\n".join(texts).encode(), document.limits, document.answers)
        name, read = plain_text.FORMAT, partial(plain_text.READER.read, talk)
    elif unknown.remedy == remedy("lines"):
        name, read = plain_text.FORMAT, partial(plain_text.READER.read, document)
    elif unknown.remedy == remedy("table") and (values := nested_json.values_of(document)):
        # YAML as well.
        data = Document(
            json.dumps(values[0] if len(values) == 1 else values).encode(), document.limits, document.answers
        )
        name, read = tables.FORMAT, partial(tables.table_games, data)
    else:
        raise unknown

    def asked(game: Transcript | ReadResult) -> ReadResult:
        found = game if isinstance(game, ReadResult) else ReadResult(transcript=game)
        # A table says itself which columns were taken.
        words = "" if name == tables.FORMAT else unknown.message
        return replace(found, not_understood=" ".join(filter(None, (words, found.not_understood))))

    def then(game: Callable[[], Transcript | ReadResult]) -> ReadResult:
        return asked(game())

    def games() -> Found:
        try:
            found = read()
        except InputError:
            raise unknown from None
        if isinstance(found, ReadResult):
            assert found.transcript is not None
            if len({message.speaker for message in found.transcript.messages if message.channel != "system"}) < 2:
                raise unknown
            return asked(found)
        return ((name, partial(then, game)) for name, game in found)

    return FileReader(name, lambda _: True, lambda _: games())


# "[12:03] Ann: ..." and "[Round 6] Ann: ..." begin like JSON and are none.
_LOG = re.compile(r"\s*\[(?:\d{1,4}[-:./]|[^\W\d][^\[\]{}\"']{0,60}\])")
_MOST_DEEP, _LONG = 40, 12


def _tool_without_reader(document: Document) -> UnknownFormatError | None:
    """The refusal of a tool's file that is known by sight and not read."""
    outer = first_record(document)
    inner = next(iter(outer.values()), None) if isinstance(outer, dict) else None
    records = [one[0] if isinstance(one, list) and one else one for one in (outer, inner)]
    # Of the steps of a simulation, each holds one record a person.
    records += [next(iter(one.values()), None) for one in records if isinstance(one, dict)]
    keys = [set(one) for one in records if isinstance(one, dict)]
    tool = next((tool for tool in yaml_table("unread")["records"] if any({*tool["keys"]} <= one for one in keys)), None)
    if tool is None:
        return None
    words = f"This is a file of {tool['tool']}, a format that Dramaturg does not read."
    return UnknownFormatError(words, remedy=remedy(tool["remedy"]))


def _unknown(document: Document) -> UnknownFormatError:
    """The refusal of a file that nothing recognises: what stands in it, and what to do."""
    if document.text.lstrip().startswith("<"):
        words = "The text is marked with tags, which are not read."
        return UnknownFormatError(words, remedy=remedy("table"))
    columns = tables.table_columns(document) if first_record(document) is None else ()
    if any(map(nested_json.is_long, columns)):
        words = f'The first line names no columns: "{shorten(columns[-1])}".'
        names = 'Put a line with the names of the columns above it, such as "speaker,text", and hand that in.'
        return UnknownFormatError(words, remedy=names)
    try:
        deque(tables.delimited_rows(document) if columns else (), maxlen=0)
    except BrokenTranscriptError as error:
        cut = "If another table begins there, cut off the lines above it, and hand in the rest."
        return UnknownFormatError(f"{error.place}: {error.message}", remedy=cut)
    texts: Counter[str] = Counter()
    for value in nested_json.values_of(document):
        texts.update(_places_of_texts(value, ""))
    labels = [] if texts else plain_text.repeated_labels(document)
    if called := next((one for one in texts or labels if letters(one.rpartition(".")[2]) in word_set("calls")), None):
        words = f'This is a log of calls to a model: "{shorten(called)}". What others heard does not stand apart.'
        return UnknownFormatError(words, remedy=remedy("game"))
    if texts:
        place = texts.most_common(1)[0][0]
        words = f'Most of its text stands under "{shorten(place)}", and nothing beside it is known to say who speaks.'
        return UnknownFormatError(f"{_described(document)} {words}", remedy=remedy("table"))
    if labels:
        shown = ", ".join(f'"{shorten(label)}"' for label in labels[:4])
        words = f"Lines begin with {shown}, and nothing shows that these are speakers."
        return UnknownFormatError(words, remedy=remedy("lines"))
    return UnknownFormatError(f"{_described(document)} No known format begins like that.", remedy=remedy("known"))


def _places_of_texts(value: Any, path: str, depth: int = 0) -> Iterator[str]:
    """The place of each text of several words: "talk[].text" for all entries of a list."""
    # Ideographs stand without spaces.
    if isinstance(value, str) and (len(value.split()) > 2 or (len(value) > _LONG and not value.isascii())):
        yield path.removeprefix(".")
    elif isinstance(value, (list, dict)) and depth < _MOST_DEEP:
        inner = (
            [("[]", one) for one in value]
            if isinstance(value, list)
            else [(f".{key}", one) for key, one in value.items()]
        )
        for name, one in inner:
            yield from _places_of_texts(one, path + name, depth + 1)


def _described(document: Document) -> str:
    record = document.first_line if isinstance(document.first_line, dict) else document.json
    if isinstance(record, dict):
        keys = ", ".join(shorten(key) for key in list(record)[:8])
        is_line = record is document.first_line
        what = "first line is JSON with" if is_line else "JSON object has"
        return f"The {what} the keys {keys}." if record or is_line else "The JSON object is empty."
    if isinstance(document.json, list):
        return f"The JSON is a list of {counted(len(document.json), 'item')}."
    return f'The text begins "{shorten(document.text.lstrip().partition(chr(10))[0])}".'
