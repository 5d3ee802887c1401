"""A call to a model as all kinds of traces have it, and the names of the agents that made the calls."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from typing import Any

from evaluation.errors import BrokenTranscriptError, InputError
from evaluation.files.strict_json import parse_json
from evaluation.readers.base.limits import Limits
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


_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that a model asks for.

    Attributes:
        name: The tool.
        arguments: As the file gives them: an object, or text.
        call_id: Joins it with its result; empty where the file gives none.
    """

    name: str
    arguments: Any
    call_id: str = ""

    @property
    def key(self) -> str:
        """The call's id, else its name and arguments, to find the same call again in a history."""
        return self.call_id or self.text

    @property
    def text(self) -> str:
        """The call as it is read: ``search({"query": "wolves"})``."""
        return f"{self.name}({'' if self.arguments in (None, '') else as_text(self.arguments)})"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer of a tool; ``name`` is empty where only the call tells it."""

    text: str
    call_id: str = ""
    name: str = ""


@dataclass(slots=True)
class ChatTurn:
    """One message of a model's input or output.

    Attributes:
        role: ``system``, ``user``, ``assistant`` or ``tool``.
        name: The speaker where the message names one.
        texts: Its texts in their order; ``[image]`` and the like in the place of what is not text.
        thoughts: Reasoning that the others did not hear.
        calls: Tools that it asks for.
        results: Results of tools that it brings.
    """

    role: str
    name: str | None = None
    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The texts, one after the other on lines of their own."""
        return "\n".join(text for text in self.texts if text.strip())

    @property
    def is_empty(self) -> bool:
        """Whether nothing is in it that anybody could read."""
        return not (self.text or self.thoughts or self.calls or self.results)

    @property
    def key(self) -> tuple[str, ...]:
        """Equal for the same message as a model's output and in the history of a later call.

        Calls and results are known by their ids, since their form differs between the two; thoughts are left out of
        many histories.
        """
        if self.calls or self.results:
            return ("tool", *(call.key for call in self.calls), *(one.call_id or one.text for one in self.results))
        return (self.role, normalised(self.text))


def normalised(text: str) -> str:
    """The text for comparing: runs of white space as one space."""
    return " ".join(text.split())


def as_text(value: Any) -> str:
    """A value as text: texts as they are, anything else as JSON; nothing for null."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def unpacked(value: Any) -> Any:
    """The value in JSON text, also where that was encoded twice; any other value as it is."""
    for _ in range(2):
        if not isinstance(value, str) or not value.lstrip().startswith(("{", "[", '"')):
            break
        try:
            value = parse_json(value, _LIMITS)
        except InputError:
            break
    return value


def text_in(fields: Mapping[str, Any], *keys: str) -> str:
    """The first text that is not empty under one of the keys; else an empty text."""
    for key in keys:
        value = fields.get(key)
        if isinstance(value, str) and value.strip():
            return value
    return ""


UNNAMED = "assistant"
_LONGEST_NAME = 200
_AROUND_NAMES = re.compile(r"^(?:invoke_agent|agent run:?)\s+|(?:\._execute_core| run)$")


@dataclass(slots=True)
class CallUsage:
    """Tokens and dollars of one call; ``None`` is unknown. ``cached_tokens`` are part of ``input_tokens``."""

    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    total_usd: float | None = None


@dataclass(slots=True)
class ModelCall:
    """One call to a model.

    Attributes:
        conversation: Calls of one conversation make one transcript.
        agent: Who called; ``None`` where nothing names it.
        start: When.
        inputs: The whole history that the model was given, its instructions (role ``system``) included.
        outputs: Its answer.
        model: The model's name.
        usage: Tokens and cost.
        lacks_parent: Its span, or one around it, is part of a span that is not in the file: who called may be unknown.
    """

    conversation: str
    agent: str | None
    start: datetime | None
    inputs: list[ChatTurn]
    outputs: list[ChatTurn]
    model: str | None = None
    usage: CallUsage = field(default_factory=CallUsage)
    lacks_parent: bool = False

    @property
    def has_text(self) -> bool:
        """Whether anything was captured of it."""
        return any(not turn.is_empty for turn in [*self.inputs, *self.outputs])

    @property
    def answer(self) -> list[tuple[str, ...]]:
        """Its outputs for comparing with another call's."""
        return [turn.key for turn in self.outputs]

    def complete_from(self, other: ModelCall) -> None:
        """Takes what is unknown here from another record of the same call."""
        self.inputs = self.inputs or other.inputs
        self.model = self.model or other.model
        for one in fields(CallUsage):
            if getattr(self.usage, one.name) is None:
                setattr(self.usage, one.name, getattr(other.usage, one.name))


def each_once(recorded: Iterable[tuple[Span, ModelCall]], tree: SpanTree) -> list[ModelCall]:
    """The calls without those that repeat the answer of a call around them, in the order given.

    A client library records a framework's call again below it. What the outer record lacks (input, model, tokens,
    cost) is taken from the inner one. Calls without an answer all stay.

    Args:
        recorded: Each call with the span that recorded it.
        tree: The spans, by which a call stands in another.
    """
    pairs = list(recorded)
    kept: dict[tuple[str, str], ModelCall] = {}
    for span, call in sorted(pairs, key=lambda pair: sum(1 for _ in tree.ancestors(pair[0]))):
        around = (kept.get((one.trace, one.id)) for one in tree.ancestors(span))
        same = (one for one in around if one is not None and call.outputs and one.answer == call.answer)
        if (outer := next(same, None)) is not None:
            outer.complete_from(call)
        else:
            kept[span.trace, span.id] = call
    return [call for span, call in pairs if kept.get((span.trace, span.id)) is call]


def agent_name(written: Any) -> str | None:
    """An agent's name without what tools put around it ("invoke_agent Ann", "Ann run"); ``None`` for nothing."""
    if not isinstance(written, str):
        return None
    name = " ".join(_AROUND_NAMES.sub("", written.strip()).split())
    return name[:_LONGEST_NAME].strip() or None


@dataclass(frozen=True, slots=True)
class UsageNames:
    """The names under which a format keeps tokens and dollars; the first of each that holds a number counts.

    A dot leads into an object, unless the whole name stands there.

    Attributes:
        given: Tokens of the input.
        made: Tokens of the output.
        cached: Tokens that the provider read from its cache.
        written: Tokens that it wrote to its cache.
        thought: Tokens of reasoning.
        total: All tokens, by the export's own count.
        cost: Dollars.
    """

    given: tuple[str, ...]
    made: tuple[str, ...]
    cached: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    thought: tuple[str, ...] = ()
    total: tuple[str, ...] = ()
    cost: str = ""


def usage_of(found: Mapping[str, Any], names: UsageNames) -> CallUsage:
    """Tokens and cost of a call.

    Some providers and tools count cached tokens beside the input instead of among it, and reasoning beside the output.
    They do where the total is the sum of these parts, or where there are more cached tokens than input: then these
    parts are added.
    """
    given, made, cached = (_count(found, *keys) for keys in (names.given, names.made, names.cached))
    written, thought = (_count(found, *keys) or 0 for keys in (names.written, names.thought))
    total = _count(found, *names.total)
    if given is not None:
        rest = None if total is None else total - given - (made or 0)
        more_given, more_made = _beside(given, cached or 0, written, thought, rest)
        given += more_given
        made = None if made is None else made + more_made
    return CallUsage(given, cached, made, _number(found.get(names.cost)))


def _beside(given: int, cached: int, written: int, thought: int, rest: int | None) -> tuple[int, int]:
    """The tokens that input and output lack, where ``rest`` of the total stands in neither."""
    for kept in (cached, cached + written):
        for thoughts in (0, thought):
            if rest and rest == kept + thoughts:
                return kept, thoughts
    return (cached + written, 0) if cached > given else (0, 0)


def _count(found: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        group, _, key = name.partition(".")
        inner = found.get(group)
        number = _number(found[name] if name in found else inner.get(key) if isinstance(inner, dict) else None)
        if number is not None:
            return int(number)
    return None


def _number(value: Any) -> float | None:
    """A number from 0 to 10^12, also one that is written as text; ``None`` for anything else."""
    if isinstance(value, str) and len(value) < 30:
        try:
            value = float(value)
        except ValueError:
            return None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= 1e12 else None
