"""Reads CAMEL: conversations of its data sets, ``message_1`` to ``message_N``, and logs of requests to models.

A log has one call a file, or one a line, and each call repeats the history: it is told as traces are. Logs in one zip
are one game, since no id joins the agents of a conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

from evaluation.readers.base.document import Document, content_id
from evaluation.readers.base.limits import Limits
from evaluation.readers.base.node import Node
from evaluation.readers.base.open_draft import OpenDraft, speaker_name
from evaluation.readers.base.reader import FileGame, FileReader, JoinedFiles
from evaluation.readers.base.records import first_record, records
from evaluation.readers.traces.conversation import conversation_games
from evaluation.readers.traces.message_shapes import turns_of
from evaluation.readers.traces.model_calls import ModelCall, UsageNames, usage_of
from evaluation.transcript import Transcript

FORMAT = "camel"

_NUMBERED = re.compile(r"message_(\d{1,6})")
_ROLE_TYPE = re.compile(r"_RoleType\.\w+$")
_ABOUT = ("original_task", "specified_task", "topic", "sub_topic", "termination_reasons", "role_1", "role_2")
_USAGE = UsageNames(given=("prompt_tokens",), made=("completion_tokens",), total=("total_tokens",))


def _recognises(document: Document) -> bool:
    first = first_record(document)
    return isinstance(first, dict) and (_is_dialogue(first) or _is_request(first))


def _is_dialogue(value: dict[str, Any]) -> bool:
    return "message_1" in value and ("role_1" in value or "num_messages" in value)


def _is_request(value: dict[str, Any]) -> bool:
    request = value.get("request")
    return "request_timestamp" in value and isinstance(request, dict) and "messages" in request


def _read(document: Document) -> Iterator[FileGame]:
    first = first_record(document)
    if isinstance(first, dict) and _is_request(first):
        yield from _read_logs([document])
        return
    found = list(records(document))
    for number, record in enumerate(found, start=1):
        game_id = record["input"].value if isinstance(record["input"].value, str) else None
        name = speaker_name(game_id or "", f"conversation {number}") if len(found) > 1 else ""
        yield FileGame(name, partial(_dialogue, record, game_id, document.limits))


def _dialogue(record: Node, game_id: str | None, limits: Limits) -> Transcript:
    draft = OpenDraft(limits)
    numbers = sorted(int(match[1]) for match in map(_NUMBERED.fullmatch, record.fields()) if match)
    for number in numbers:
        message = record[f"message_{number}"]
        # Sets of questions and answers have texts alone: the first asks, the second answers.
        if isinstance(message.value, str):
            _say(_role(record, 1) if number % 2 else _role(record, 2), message.value, draft)
        elif message.value is not None:
            name = message["role_name"].text_or_none() or message["role"].text_or_none() or ""
            _say(speaker_name(name, f"role {2 - number % 2}"), message["content"].text_or_none() or "", draft)
    metadata = {key: record[key].value for key in _ABOUT if record[key].value not in (None, "")}
    return draft.build(FORMAT, game_id or content_id(FORMAT, repr(record.value)), metadata)


def _role(record: Node, number: int) -> str:
    written = record[f"role_{number}"].text_or_none() or ""
    return speaker_name(_ROLE_TYPE.sub("", written), f"role {number}")


def _say(speaker: str, text: str, draft: OpenDraft) -> None:
    if text.strip():
        draft.say(speaker, text)


def _read_logs(documents: Sequence[Document]) -> Iterator[FileGame]:
    found = sorted(chain.from_iterable(map(records, documents)), key=lambda one: str(one["request_timestamp"].value))
    yield from conversation_games(FORMAT, list(map(_call, found)), documents[0].limits)


def _call(record: Node) -> ModelCall:
    response = record["response"].value
    usage = response.get("usage") if isinstance(response, dict) else None
    return ModelCall(
        conversation=FORMAT,
        # The id is a number that says nothing; instructions tell agents apart.
        agent=None,
        start=record["request_timestamp"].time_or_none(),
        inputs=turns_of(record["request"]["messages"].value, "user"),
        outputs=turns_of(response, "assistant"),
        model=record["model"].text_or_none(),
        usage=usage_of(usage if isinstance(usage, dict) else {}, _USAGE),
        lacks_parent=False,
    )


def _names(document: Document) -> frozenset[str]:
    """One name for all logs of requests; none for conversations, which are whole."""
    first = first_record(document)
    return frozenset({FORMAT} if isinstance(first, dict) and _is_request(first) else ())


READER = FileReader(FORMAT, _recognises, _read, JoinedFiles(_names, _read_logs))
