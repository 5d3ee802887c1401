"""The spans of traces in one form, whichever tool wrote them: each once, in order, with their ancestors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from evaluation.errors import BrokenTranscriptError
from evaluation.readers.base.node import Node

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = 253_402_300_799 * 10**9


@dataclass(slots=True)
class Event:
    """An event of a span, or a log record that belongs to it; ``fields`` holds its attributes and body."""

    name: str
    fields: dict[str, Any]


@dataclass(slots=True)
class Span:
    """One span, run or observation.

    Attributes:
        trace: The trace that it belongs to.
        id: Its id, unique in the trace.
        parent: The id of the span that it is part of.
        name: As the tool called it.
        start: When it began.
        attributes: By their full names.
        events: In the file's order.
        end: When it ended; ``None`` where the export was written before.
    """

    trace: str
    id: str
    parent: str | None
    name: str
    start: datetime | None
    attributes: dict[str, Any]
    events: list[Event] = field(default_factory=list)
    end: datetime | None = None


class SpanTree:
    """Spans of one file, each once and in order of their start, parents before children."""

    def __init__(self, spans: Iterable[Span]) -> None:
        best: dict[tuple[str, str], Span] = {}
        for span in spans:
            known = best.get((span.trace, span.id))
            # Some tools export a span again each time it grows: the last with an end and most attributes is whole.
            if known is None or _wholeness(span) >= _wholeness(known):
                best[span.trace, span.id] = span
        self._by_id = best
        depth = {key: sum(1 for _ in self.ancestors(span)) for key, span in best.items()}
        far = datetime.max.replace(tzinfo=UTC)
        self.ordered = sorted(best.values(), key=lambda span: (span.start or far, depth[span.trace, span.id]))

    def ancestors(self, span: Span) -> Iterator[Span]:
        """The span's parent, its parent, and so on, at most a hundred; a circle ends where it began.

        A parent that is not in the file ends the search: the span counts as a root.
        """
        seen = {span.id}
        for _ in range(100):
            parent = self._by_id.get((span.trace, span.parent)) if span.parent else None
            if parent is None or parent.id in seen:
                return
            seen.add(parent.id)
            yield parent
            span = parent

    def is_orphan(self, span: Span) -> bool:
        """Whether its parent is not in the file."""
        return bool(span.parent) and (span.trace, span.parent) not in self._by_id

    def lacks_parent(self, span: Span) -> bool:
        """Whether it or a span around it is an orphan."""
        return any(map(self.is_orphan, (span, *self.ancestors(span))))


def _wholeness(span: Span) -> tuple[bool, int]:
    return span.end is not None, len(span.attributes) + len(span.events)


def nanoseconds(node: Node) -> datetime | None:
    """A time in nanoseconds since 1970, written as a number or as digits; ``None`` for null, nothing and 0.

    Raises:
        BrokenTranscriptError: It is neither, or no time that a calendar has.
    """
    written = node.value
    if written in (None, "", 0, "0"):
        return None
    if isinstance(written, str) and written.isascii() and written.isdigit() and len(written) < 22:
        written = int(written)
    if isinstance(written, float) and written.is_integer():
        written = int(written)
    if isinstance(written, bool) or not isinstance(written, int) or not 0 <= written <= _LATEST:
        raise node.wrong("a time in nanoseconds since 1970")
    return _EPOCH + timedelta(microseconds=written // 1000)


def identifier(node: Node) -> str:
    """An id as text; ids are compared as they are written, whether hexadecimal or base64.

    Raises:
        BrokenTranscriptError: There is none.
    """
    found = node.identifier_or_none()
    if found is None:
        raise BrokenTranscriptError("The span has no id.", place=node.path, remedy="Export the trace again.")
    return found


def nested(fields: Mapping[str, Any], prefix: str = "") -> Any:
    """Attributes with dotted names as objects in each other, those with numbers for names as lists in their order.

    ``{"a.10.x": 1, "a.9.x": 2}`` gives ``{"a": [{"x": 2}, {"x": 1}]}``; gaps in the numbers are closed. Where a name
    stands for a value and for a group as well, the group counts.

    Args:
        fields: The attributes.
        prefix: Only those below it are taken, and it is left out.
    """
    root: dict[str, Any] = {}
    for name, value in fields.items():
        if not name.startswith(prefix):
            continue
        steps = name.removeprefix(prefix).split(".")[:20]
        here = root
        for one in steps[:-1]:
            inner = here.get(one)
            if not isinstance(inner, _Group):
                here[one] = inner = _Group()
            here = inner
        if not isinstance(here.get(steps[-1]), _Group):
            here[steps[-1]] = value
    return _with_lists(root)


class _Group(dict[str, Any]):
    """A group of attributes, told apart from an attribute whose value is an object."""


def _with_lists(group: Any) -> Any:
    if isinstance(group, dict) and (type(group) is _Group or group):
        if group and all(key.isascii() and key.isdigit() and len(key) < 10 for key in group):
            return [_with_lists(group[key]) for key in sorted(group, key=int)]
        return {key: _with_lists(value) for key, value in group.items()}
    if isinstance(group, list):
        # Phoenix writes lists of objects whose own keys are dotted.
        return [nested(one) if isinstance(one, dict) else one for one in group]
    return group
