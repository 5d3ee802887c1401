"""Read events of a simulation from JSON Lines: one memory, search of memory or model call a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluation.errors import InputError
from evaluation.escaping import reading_fault
from evaluation.files.yaml_lines import FileProblem
from evaluation.insight.figures.events import Event, LLMCallEvent, MemoryEvent, RetrievalEvent
from evaluation.text.display import listed

_MOST_PROBLEMS = 20
LARGEST_EVENT_FILE = 200_000_000
"""In bytes; about two million events."""

_Agent = Annotated[str, Field(min_length=1, max_length=200)]
_Count = Annotated[int, Field(strict=True, ge=0, le=10**12)]
_Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Memory(_Line):
    event: Literal["memory"]
    agent_id: _Agent
    memory_type: Literal["observation", "reflection"]
    importance: _Number | None = None


class _Retrieval(_Line):
    event: Literal["retrieval"]
    agent_id: _Agent
    results_count: _Count


class _Call(_Line):
    event: Literal["llm_call"]
    tokens: _Count
    estimated_cost: Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)] | None = None
    agent_id: _Agent | None = None


_KINDS: dict[str, type[_Line]] = {"memory": _Memory, "retrieval": _Retrieval, "llm_call": _Call}


def read_events(content: bytes, file: str) -> list[Event]:
    """The events in the content of a file; empty lines are skipped.

    Args:
        content: JSON Lines in UTF-8. Each line is an object with ``event`` ("memory", "retrieval" or "llm_call") and
            the fields of ``MemoryEvent``, ``RetrievalEvent`` or ``LLMCallEvent``.
        file: How errors name it.

    Raises:
        InputError: It is too large, or lines have faults: one ``file:line: field: what is wrong`` for each.
    """
    if len(content) > LARGEST_EVENT_FILE:
        size = f"{len(content):,} bytes are more than {LARGEST_EVENT_FILE:,}."
        raise InputError(size, place=file, remedy="Split the file.")
    events: list[Event] = []
    problems: list[FileProblem] = []
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            events.append(_event(line))
        except InputError as error:
            problems += [FileProblem(file, number, error.place or "line", error.message)]
        except ValidationError as error:
            problems += [FileProblem(file, number, field, text) for field, text in _faults(error)]
        if len(problems) >= _MOST_PROBLEMS:
            break
    if problems:
        raise InputError("\n".join(map(str, problems)), remedy="docs/insights.md describes the format.")
    return events


def _event(line: bytes) -> Event:
    try:
        body = json.loads(line.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise InputError(f"This is not JSON: {reading_fault(error)}.") from None
    kind = body.get("event") if isinstance(body, dict) else None
    model = _KINDS.get(kind) if isinstance(kind, str) else None
    if model is None:
        raise InputError(f"{kind!r:.40} is not a kind of event. Write one of {listed(list(_KINDS))}.", place="event")
    match model.model_validate(body):
        case _Memory() as one:
            return MemoryEvent(one.agent_id, one.memory_type, one.importance)
        case _Retrieval() as one:
            return RetrievalEvent(one.agent_id, one.results_count)
        case _Call() as one:
            return LLMCallEvent(one.tokens, one.estimated_cost, one.agent_id)
        case _ as never:
            raise TypeError(never)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number")


def _faults(error: ValidationError) -> Iterator[tuple[str, str]]:
    for fault in error.errors(include_url=False):
        field = ".".join(map(str, fault["loc"]))
        yield field, _text(fault)


def _text(fault: Any) -> str:
    if fault["type"] == "extra_forbidden":
        return "This field is not known. Remove it."
    if fault["type"] == "missing":
        return "It is missing."
    return f"{fault['msg'].replace('Input should be', 'It should be')}, not {ascii(fault['input'])[:60]}."
