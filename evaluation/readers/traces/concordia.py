"""Reads logs of Concordia: the HTML page of version 1, and the JSON of version 2.3 and later.

Of the page only the joint log is read: the other tabs repeat it. An entry such as ``NAME -- NAME -- "text`` is speech;
one without a second name is a decision, kept in the system channel, and a scene is a round.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

from evaluation.readers._draft import OpenDraft, speaker_name
from evaluation.readers.document import Document, FileReader, Node
from evaluation.transcript import Transcript

FORMAT = "concordia"
DECISION_CHANNEL = "decision"

_ENTRY = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s+(.*)", re.DOTALL)
_SCENE = re.compile(r"Scene (\d{1,9}) --- Participants: (.*)", re.DOTALL)
_BETWEEN = " -- "
_TEXTS = ("summary", "text", "value", "content")


def _recognises(document: Document) -> bool:
    if isinstance(document.json, dict):
        return "content_store" in document.json and "entries" in document.json
    head = document.text[:20_000]
    return "Simulation Log" in head and 'class="tabcontent"' in head and "<details>" in head


def _read(document: Document) -> Transcript:
    draft = OpenDraft(document.limits)
    if isinstance(document.json, dict):
        _structured(Node(document.json), draft)
    else:
        parser = _JointLog()
        parser.feed(document.text)
        parser.close()
        for summary in parser.entries:
            _entry(summary, draft)
    return draft.build_open(FORMAT, document.game_id(FORMAT))


class _JointLog(HTMLParser):
    """Collects the headings of the outermost entries in the first tab of the page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.entries: list[str] = []
        self._tabs = 0
        self._details = 0
        self._parts: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "div" and ("class", "tabcontent") in attrs:
            self._tabs += 1
            self._details = 0
        elif tag == "details":
            self._details += 1
        elif tag == "summary" and self._details == 1 and self._tabs == 1:
            self._parts = []
        elif tag == "br" and self._parts is not None:
            self._parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "details":
            self._details = max(self._details - 1, 0)
        elif tag == "summary" and self._parts is not None:
            self.entries.append("".join(self._parts).strip())
            self._parts = None

    def handle_data(self, data: str) -> None:
        if self._parts is not None:
            self._parts.append(data)


def _entry(summary: str, draft: OpenDraft) -> None:
    match = _ENTRY.fullmatch(summary)
    if match is None:
        return
    written, said = match[1], match[2].strip()
    # The clock is that of the simulated world: an order, and no time at which anything was sent.
    metadata = {"world_time": written}
    if scene := _SCENE.fullmatch(said):
        draft.round = int(scene[1])
        for name in re.findall(r"'([^'\n]{1,200})'|\"([^\"\n]{1,200})\"", scene[2]):
            draft.player(speaker_name(name[0] or name[1], "agent"))
        return
    name, between, text = said.partition(_BETWEEN)
    if not between or not name.strip():
        return
    speaker = speaker_name(name, "agent")
    again, between, spoken = text.partition(_BETWEEN)
    if between and again.strip() == name.strip():
        draft.say(speaker, _unquoted(spoken), metadata=metadata)
    elif text.strip():
        draft.say(speaker, text.strip(), "system", channel_name=DECISION_CHANNEL, metadata=metadata)


def _unquoted(text: str) -> str:
    """The text without the quotation mark that opens it, and often never closes."""
    inner = text.strip().removeprefix('"')
    return inner.removesuffix('"') if inner.count('"') == 1 and inner != text.strip() else inner


def _structured(root: Node, draft: OpenDraft) -> None:
    store = root["content_store"].fields()
    for entry in root["entries"].entries():
        speaker = speaker_name(entry["entity_name"].text_or_none() or "", "game master")
        text = "\n".join(_texts(entry, store))
        if not text.strip():
            continue
        draft.round = entry["step"].count_or_none()
        is_said = (entry["entry_type"].text_or_none() or "").casefold() == "entity"
        when = None if entry["timestamp"].value == "" else entry["timestamp"].time_or_none()
        name, between, said = text.partition(_BETWEEN)
        words = _unquoted(said) if is_said and between and name.strip() == speaker else text
        draft.say(speaker, words, "public" if is_said else "system", sent_at=when)


def _texts(entry: Node, store: Any) -> Iterator[str]:
    """The summary of an entry, else what it refers to in the store."""
    summary = entry["summary"].text_or_none()
    if summary and summary.strip():
        yield summary
        return
    held = entry["deduplicated_data"].value
    for value in held.values() if isinstance(held, dict) else ():
        reference = value.get("_ref") if isinstance(value, dict) else None
        found = store.get(reference) if isinstance(reference, str) else value
        if isinstance(found, dict):
            found = next((found[key] for key in _TEXTS if isinstance(found.get(key), str)), None)
        if isinstance(found, str):
            yield found


READER = FileReader(FORMAT, _recognises, _read)
