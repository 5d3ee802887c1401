"""Reads Generative Agents ("Smallville"): compressed storage, in which each step lists the personas that changed.

A conversation stands whole at each step that logs it, once for each partner: each is one transcript, at its first step.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from evaluation.readers.base.document import Document
from evaluation.readers.base.limits import Limits
from evaluation.readers.base.node import Node
from evaluation.readers.base.open_draft import OpenDraft
from evaluation.readers.base.reader import FileGame, FileReader
from evaluation.transcript import Transcript

FORMAT = "generative-agents"

_PLACE = " @ "


def _recognises(document: Document) -> bool:
    content = document.json
    if not isinstance(content, dict) or not content:
        return False
    step, personas = next(iter(content.items()))
    first = next(iter(personas.values()), None) if isinstance(personas, dict) else None
    return step.isdecimal() and isinstance(first, dict) and {"movement", "description"} <= set(first)


def _read(document: Document) -> Iterator[FileGame]:
    seen: set[str] = set()
    for step, personas in Node(document.json).members():
        for _, persona in personas.members():
            chat = persona["chat"]
            if not chat.value:
                continue
            written = json.dumps(chat.value, ensure_ascii=False)
            if written not in seen:
                seen.add(written)
                yield FileGame(f"step {step}", partial(_transcript, persona, step, document.limits))


def _transcript(persona: Node, step: str, limits: Limits) -> Transcript:
    draft = OpenDraft(limits)
    about = persona["description"].text_or_none() or ""
    _, between, place = about.rpartition(_PLACE)
    where: Any = place.strip()[:200] if between and not place.strip().startswith("<") else None
    for line in persona["chat"].entries():
        parts = list(line.entries())
        if len(parts) < 2:
            raise line.wrong("a name and what was said")
        text = parts[1].text()
        if text.strip():
            draft.say(parts[0].name(), text, channel_name=where)
    return draft.build(FORMAT, f"step-{step}", {"step": step, "about": about})


READER = FileReader(FORMAT, _recognises, _read)
