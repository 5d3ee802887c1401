"""Reads the log that CrewAI writes (``output_log_file``), as JSON and as lines: tasks, and what agents answered.

A task is said by ``manager`` when it is first met, its output by the agent. Times are local and are not kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from evaluation.errors import BrokenTranscriptError
from evaluation.readers._draft import OpenDraft, speaker_name
from evaluation.readers.document import Document, FileReader, Node
from evaluation.transcript import Transcript

FORMAT = "crewai"

_KEYS = ("task", "agent", "status")
_LINE = re.compile(r'^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d: (?=task_name="|task=")', re.MULTILINE)
_FIELDS = ("task_name", "task", "agent", "status", "output")


def _recognises(document: Document) -> bool:
    if isinstance(document.json, list):
        first = document.json[0] if document.json else None
        return isinstance(first, dict) and set(_KEYS) <= set(first) and "timestamp" in first
    return _LINE.match(document.text.lstrip()) is not None


def _read(document: Document) -> Transcript:
    draft = OpenDraft(document.limits)
    tasks: set[str] = set()
    for entry in _entries(document):
        task = (entry["task"].text_or_none() or "").strip()
        agent = speaker_name(entry["agent"].text_or_none() or "", "agent")
        if task and task not in tasks:
            tasks.add(task)
            name = entry["task_name"].text_or_none()
            draft.say("manager", task, recipients=(agent,), metadata={"task": name} if name else {})
        output = entry["output"].text_or_none()
        if output and output.strip():
            draft.say(agent, output)
    return draft.build_open(FORMAT, document.game_id(FORMAT), without_text="No task in the log has an output.")


def _entries(document: Document) -> Iterator[Node]:
    if isinstance(document.json, list):
        yield from Node(document.json).entries()
        return
    document.limits.check_lines(document.text)
    heads = list(_LINE.finditer(document.text))
    for number, head in enumerate(heads):
        end = heads[number + 1].start() if number + 1 < len(heads) else len(document.text)
        line = document.text.count("\n", 0, head.start()) + 1
        yield Node(_fields(document.text[head.end() : end], line), f"line {line}")


def _fields(entry: str, line: int) -> Mapping[str, str]:
    """The values of one entry. Quotes in values are not escaped, so each ends where the next name begins."""
    found = {}
    rest = entry.rstrip()
    for place, key in enumerate(_FIELDS):
        opening = f'{key}="'
        if not rest.startswith(opening):
            continue
        rest = rest.removeprefix(opening)
        ends = [at for later in _FIELDS[place + 1 :] if (at := rest.find(f'", {later}="')) >= 0]
        value = rest[: min(ends)] if ends else rest.removesuffix('"')
        found[key] = value
        rest = rest[min(ends) + 3 :] if ends else ""
    if "agent" not in found:
        raise BrokenTranscriptError(
            "The entry names no agent.", place=f"line {line}", remedy='Expected task="...", agent="...", status="...".'
        )
    return found


READER = FileReader(FORMAT, _recognises, _read)
