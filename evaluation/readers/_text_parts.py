"""Split a text into what was said and what its speaker kept to itself, by tags, labels, marks and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from evaluation.readers._draft import letters, word_set
from evaluation.readers._line_shapes import part
from evaluation.text.reasoning import Part, parts_of

_LONGEST_JSON = 50_000


def text_parts(text: str) -> list[Part]:
    """The text as speech, thoughts and tool calls in their order; none of the parts is empty.

    Besides tags of reasoning (:func:`parts_of`), it knows an object of JSON with speech and thought, marks such as
    ``[PRIVATE]``, and a text that begins with a label such as ``Thought:``. Of these only what is marked as speech is
    speech; a text without any is speech as a whole.
    """
    stripped = text.strip()
    body = fenced["body"] if (fenced := part("fence").fullmatch(stripped)) else stripped
    if body.startswith("{"):
        return _of_json(body) or parts_of(text)
    parts = _of_elements(stripped) or _of_marks(stripped) or _of_labels(stripped) or _of_sections(stripped)
    return parts or parts_of(text)


def _kind(name: str) -> str | None:
    """``speech``, ``thought``, ``reason`` or ``action`` for a label, mark or key; ``None`` for any other."""
    kinds = ("speech", "thought", "reason", "action")
    return next((kind for kind in kinds if letters(name) in word_set(f"{kind}_labels")), None)


def _of_json(body: str) -> list[Part]:
    try:
        held: Any = json.loads(body) if len(body) <= _LONGEST_JSON else None
    except (ValueError, RecursionError):
        return []
    if not isinstance(held, dict):
        return []
    kinds = {key: _kind(key) for key, value in held.items() if isinstance(value, str) and value.strip()}
    # A thought alone is one; speech alone is all of the text.
    if "thought" not in kinds.values() and ("speech" not in kinds.values() or len(held) < 2):
        return []
    hidden = [
        str(value) if kinds.get(key) in ("thought", "reason") else f"{key}: {value}"
        for key, value in held.items()
        if kinds.get(key) != "speech" and value not in (None, "", [], {})
    ]
    said = [held[key].strip() for key, kind in kinds.items() if kind == "speech"]
    return _told([*(("thought", one) for one in hidden), *(("speech", one) for one in said)])


def _of_elements(text: str) -> list[Part]:
    """A text that is nothing but elements, such as ``<my goals>...</my goals> <message>...</message>``."""
    found, end = [], 0
    while text.startswith("<", end) and (match := part("element").match(text, end)):
        found.append((_kind(match["open"]), match["open"], match["text"]))
        end = match.end()
    if end < len(text) or not any(kind for kind, _, _ in found):
        return []
    return _told((kind, held if kind else f"{name}: {held}") for kind, name, held in found if held.strip())


def _of_marks(text: str) -> list[Part]:
    found = [(mark, _kind(mark["mark"] or mark["tag"] or mark["aside"])) for mark in part("mark").finditer(text)]
    marks = [(mark, kind) for mark, kind in found if kind]
    if not any(kind == "thought" for _, kind in marks):
        return []
    return _told(_cut(text, [(mark.start(), mark.end(), kind, mark[0][1] == "/") for mark, kind in marks]))


def _of_sections(text: str) -> list[Part]:
    """A text with headings, of which some stand above what its writer thinks: "#### My Thinking"."""
    found = [(title, _kind(title["label"])) for title in part("section").finditer(text)]
    if not any(kind == "thought" for _, kind in found):
        return []
    marks = [(title.start(), title.end() if kind else title.start(), kind or "speech", False) for title, kind in found]
    return _told(_cut(text, marks))


def _of_labels(text: str) -> list[Part]:
    first = part("label").match(text)
    if first is None or _kind(first["label"]) is None:
        return []
    found = [(label, _kind(label["label"])) for label in part("label").finditer(text) if label["label"][0].isupper()]
    labels = [(label, kind) for label, kind in found if kind]
    kinds = {kind for _, kind in labels}
    if "thought" not in kinds and not ("speech" in kinds and len(kinds) > 1):
        return []
    return _told(_cut(text, [(label.start(), label.end(), kind, False) for label, kind in labels]))


def _cut(text: str, marks: list[tuple[int, int, str, bool]]) -> Iterator[tuple[str, str]]:
    yield "speech", text[: marks[0][0]]
    for place, (_, end, kind, closes) in enumerate(marks):
        until = marks[place + 1][0] if place + 1 < len(marks) else len(text)
        yield "speech" if closes else kind, text[end:until]


def _told(parts: Any) -> list[Part]:
    return [Part("speech" if kind == "speech" else "thought", text.strip()) for kind, text in parts if text.strip()]
