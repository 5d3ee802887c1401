"""Reads Who&When: histories of Magentic-One and AG2 with the agent and the step at fault, ``history[]``.

The agent and the step are kept in the metadata as the file gives them; a message's own step is in its metadata, counted
from 0 over the whole history.
"""

from __future__ import annotations

import re

from evaluation.readers.base.document import Document
from evaluation.readers.base.node import Node
from evaluation.readers.base.open_draft import OpenDraft, speaker_name
from evaluation.readers.base.reader import FileReader
from evaluation.transcript import Transcript

FORMAT = "who-and-when"

_ROLE = re.compile(r"(?P<name>[^()]+?) ?\((?P<what>[^()]*)\)")
_ABOUT = ("question", "ground_truth", "mistake_agent", "mistake_step", "mistake_reason", "is_correct", "is_corrected")
_TOOLS = frozenset({"Computer_terminal", "ComputerTerminal"})


def _recognises(document: Document) -> bool:
    content = document.json
    return (
        isinstance(content, dict) and "history" in content and ("mistake_agent" in content or "mistake_step" in content)
    )


def _read(document: Document) -> Transcript:
    root = Node(document.json)
    draft = OpenDraft(document.limits)
    for step, entry in enumerate(root["history"].entries()):
        _say(entry, step, draft)
    for name, prompt in root["system_prompt"].members() if isinstance(root["system_prompt"].value, dict) else ():
        if speaker_name(name, "agent") in draft.players:
            draft.player(speaker_name(name, "agent"), persona=prompt.text_or_none())
    game_id = root["question_ID"].identifier_or_none() or document.game_id(FORMAT)
    metadata = {key: root[key].value for key in (*_ABOUT, "level")}
    return draft.build(FORMAT, game_id, metadata)


def _say(entry: Node, step: int, draft: OpenDraft) -> None:
    text = entry["content"].text_or_none() or ""
    if not text.strip():
        return
    role = entry["role"].name_or_none() or "agent"
    name = entry["name"].name_or_none()
    match = _ROLE.fullmatch(role) if name is None else None
    speaker = speaker_name(name or (match["name"] if match else role), "agent")
    what = match["what"].strip() if match else ""
    metadata = {"step": step}
    if speaker in _TOOLS:
        draft.say(speaker, text, "system", channel_name="tool", metadata=metadata)
    elif what == "thought":
        draft.say(speaker, text, "private", channel_name="thoughts", metadata=metadata)
    elif what.startswith("->"):
        to = speaker_name(what.removeprefix("->"), "agent")
        draft.say(speaker, text, recipients=(to,), metadata=metadata)
    elif what:
        draft.say(speaker, text, "system", channel_name=what, metadata=metadata)
    else:
        draft.say(speaker, text, metadata=metadata)


READER = FileReader(FORMAT, _recognises, _read)
