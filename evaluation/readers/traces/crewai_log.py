"""Reads the log that CrewAI writes as JSON (``output_log_file``): tasks, and what agents answered.

A task is said by ``manager`` when it is first met, its output by the agent. Times are local and are not kept.
"""

from __future__ import annotations

from evaluation.readers._draft import OpenDraft, speaker_name
from evaluation.readers.document import Document, FileReader, Node
from evaluation.transcript import Transcript

FORMAT = "crewai"

_KEYS = frozenset({"task", "agent", "status", "timestamp"})


def _recognises(document: Document) -> bool:
    first = document.json[0] if isinstance(document.json, list) and document.json else None
    return isinstance(first, dict) and set(first) >= _KEYS


def _read(document: Document) -> Transcript:
    draft = OpenDraft(document.limits)
    tasks: set[str] = set()
    for entry in Node(document.json).entries():
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


READER = FileReader(FORMAT, _recognises, _read)
