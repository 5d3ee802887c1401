"""Make a transcript of the calls to models in one conversation.

Each call repeats the history that the model was given. What is new in it is said once, in the order of the calls:
inputs that an agent or another has brought before are left out, outputs never are. So two agents that answer "Pass"
make two messages, and a text that comes back as another agent's input makes none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from evaluation.errors import BrokenTranscriptError
from evaluation.readers.base.document import Document
from evaluation.readers.base.limits import Limits
from evaluation.readers.base.node import Node
from evaluation.readers.base.open_draft import OpenDraft, speaker_name
from evaluation.readers.base.reader import FileGame, FileReader
from evaluation.readers.base.records import first_record, records
from evaluation.readers.traces.model_calls import UNNAMED, ChatTurn, ModelCall, ToolCall, as_text, normalised, unpacked
from evaluation.transcript import Transcript

THOUGHTS_CHANNEL = "thoughts"
CONTEXT_CHANNEL = "context"
HAND_OFF_CHANNEL = "hand-off"

_SPEECH_TOOLS = re.compile(r"final_result|final_answer|\w*structured_output")
_HAND_OFF_TOOLS = re.compile(r"(?:transfer_to|handoff_to|hand_off_to|delegate_to|transfer_back_to)_+(.+)")
_RECEIVERS = ("agentId", "agent_id", "coworker", "agent", "recipient", "to")
_SAID = ("message", "answer", "text", "content", "task", "question", "reason", "output", "response", "result")
_OWN_NAME = re.compile(r"named? ['\"]([\w .-]{1,60})['\"]|^You are ['\"]?([A-Z][\w-]{0,40})['\"]?[,.]")
_SHORTEST_QUOTE = 20
_MOST_QUOTED = 50
_WITHOUT_TEXT = "The trace holds no message text: what was said was not captured."
_CAPTURE = (
    "Switch capturing of content on where it was recorded (OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true or "
    "your tool's setting), and record it again."
)


def call_transcript(
    source_format: str, calls: Sequence[ModelCall], limits: Limits, *, game_id: str, metadata: Mapping[str, Any]
) -> Transcript:
    """The transcript of one conversation.

    Agents are players; their first instructions are their persona, later ones stand in the player's metadata. What a
    user said is public, thoughts are private, calls of tools and their results are in the system channel: the calls of
    one message are one entry. ``metadata["history_rewritten"]`` counts calls whose history was cut or changed,
    ``metadata["calls_without_parent"]`` those below a span that is not in the file.

    Args:
        source_format: The format's name.
        calls: In the order in which they began.
        limits: Bounds for the transcript.
        game_id: The conversation's id.
        metadata: What else is known about it.

    Raises:
        InputError: The calls hold no text, or too much of it.
    """
    if not any(call.has_text for call in calls):
        raise BrokenTranscriptError(_WITHOUT_TEXT, remedy=_CAPTURE)
    told = _Telling(limits, _speakers(calls))
    for position, call in enumerate(calls):
        told.add(call, position)
    remarks = {
        "history_rewritten": told.rewritten,
        "calls_without_parent": sum(call.lacks_parent for call in calls),
    }
    known = dict(metadata) | {name: count for name, count in remarks.items() if count}
    starts = [call.start for call in calls if call.start is not None]
    return told.open.build(
        source_format,
        game_id,
        known,
        started_at=min(starts, default=None),
        cost=_cost(calls),
        without_text="Nobody speaks in the trace: it holds instructions and tools alone.",
    )


def conversation_games(source_format: str, calls: list[ModelCall], limits: Limits) -> Iterator[FileGame]:
    """A game for each conversation of the calls.

    Raises:
        BrokenTranscriptError: There is no call.
    """
    conversations: dict[str, list[ModelCall]] = {}
    for call in calls:
        conversations.setdefault(call.conversation, []).append(call)
    if not conversations:
        raise BrokenTranscriptError(
            "The trace holds no call to a model.", remedy="Export the spans of the model calls, with their content."
        )
    for name, held in conversations.items():
        read = partial(call_transcript, source_format, held, limits, game_id=name, metadata={})
        yield FileGame(name if len(conversations) > 1 else "", read)


@dataclass(frozen=True, slots=True)
class _Speaker:
    """The agent behind a call; ``is_thinking`` where its answer went back into the agent's own history, not out."""

    name: str
    is_thinking: bool = False


def _speakers(calls: Sequence[ModelCall]) -> list[_Speaker]:
    """The speaker of each call.

    Calls without an agent's name are told apart by their instructions, since agents share models: they are named by
    what the instructions or the task call them, else numbered. A call without instructions whose answer another's
    history quotes as its own words was that one's thinking: frameworks plan so.
    """
    threads: dict[str, str] = {}
    taken = {call.agent for call in calls if call.agent}
    owners = _thinkers(calls)
    for position, call in enumerate(calls):
        key = _instructions(call.inputs)
        if call.agent is None and position not in owners and key not in threads:
            threads[key] = _thread_name(call, {*taken, *threads.values()})
    speakers = []
    for position, call in enumerate(calls):
        owner = calls[owners[position]] if position in owners else call
        name = owner.agent or threads[_instructions(owner.inputs)]
        speakers.append(_Speaker(speaker_name(name, UNNAMED), position in owners))
    return speakers


def _thinkers(calls: Sequence[ModelCall]) -> dict[int, int]:
    """For each call that was thinking, by its place, the place of the call whose history quotes it."""
    open_thoughts: dict[int, str] = {}
    owners: dict[int, int] = {}
    for position, call in enumerate(calls):
        told = [normalised(turn.text) for turn in call.inputs if turn.role == "assistant"]
        for thought, text in list(open_thoughts.items())[-_MOST_QUOTED:]:
            if _instructions(call.inputs) and any(text in one and text != one for one in told):
                owners[thought] = position
                del open_thoughts[thought]
        if call.agent is None and not _instructions(call.inputs) and len(call.outputs) == 1:
            text = normalised(call.outputs[0].text)
            if len(text) >= _SHORTEST_QUOTE:
                open_thoughts[position] = text
    return owners


def _thread_name(call: ModelCall, taken: set[str]) -> str:
    prompts = [turn.text for turn in call.inputs if turn.role in ("system", "user")][:2]
    for prompt in prompts:
        if match := _OWN_NAME.search(prompt[:2000]):
            named = speaker_name(match[1] or match[2], UNNAMED)
            if named not in taken:
                return named
    number = 1
    while (name := UNNAMED if number == 1 else f"{UNNAMED} {number}") in taken:
        number += 1
    return name


def _instructions(turns: Sequence[ChatTurn]) -> str:
    return "\n\n".join(turn.text for turn in turns if turn.role == "system")


@dataclass(slots=True)
class _Agent:
    """The messages that an agent has been given so far.

    Attributes:
        history: Keys of the turns of its latest call, its answer included.
        known: How often each key stood in one history at most.
        heard: How often each text was given to it as somebody else's.
    """

    history: list[tuple[str, ...]] = field(default_factory=list)
    known: Counter[tuple[str, ...]] = field(default_factory=Counter)
    heard: Counter[str] = field(default_factory=Counter)

    def new_turns(self, turns: Sequence[ChatTurn]) -> tuple[list[ChatTurn], bool]:
        """The turns that no call has brought before, and whether the history was cut or changed."""
        keys = [turn.key for turn in turns]
        length = len(self.history)
        if keys[:length] == self.history:
            return list(turns[length:]), False
        # A history that was shortened still ends with the latest answer; what follows it is new.
        last = self.history[-1]
        after = len(keys) - keys[::-1].index(last) if last in keys else 0
        new, counted = [], Counter[tuple[str, ...]]()
        for position, (key, turn) in enumerate(zip(keys, turns, strict=True)):
            counted[key] += 1
            if (after and position >= after) or counted[key] > self.known[key]:
                new.append(turn)
        return new, len(new) < len(turns)

    def learn(self, turns: Sequence[ChatTurn], outputs: Sequence[ChatTurn]) -> None:
        """Keeps the history of a call and its answer."""
        made = [turn.key for turn in outputs]
        self.history = [turn.key for turn in turns] + made
        for key, count in Counter(self.history).items():
            self.known[key] = max(self.known[key], count)


class _Telling:
    """The transcript so far, and what each agent knows of it."""

    def __init__(self, limits: Limits, speakers: list[_Speaker]) -> None:
        self.open = OpenDraft(limits)
        self.rewritten = 0
        self._speakers = speakers
        self._is_group = len({speaker.name for speaker in speakers}) > 1
        self._agents: dict[str, _Agent] = {}
        self._said: dict[str, list[int]] = {}
        self._texts: list[tuple[int, str]] = []
        self._tools: dict[str, str] = {}
        self._answered: set[str] = set()
        self._speech_calls: set[str] = set()

    def add(self, call: ModelCall, position: int) -> None:
        """Adds what is new in a call."""
        name = self._speakers[position].name
        if self._speakers[position].is_thinking:
            self._think(name, call)
            return
        self._introduce(name, call)
        agent = self._agents.setdefault(name, _Agent())
        turns = [turn for turn in call.inputs if turn.role != "system"]
        new, is_rewritten = agent.new_turns(turns)
        self.rewritten += is_rewritten
        for turn in new:
            self._input(turn, name, agent, call.start)
        facts = {
            "model": call.model,
            "input_tokens": call.usage.input_tokens,
            "output_tokens": call.usage.output_tokens,
        }
        facts = {key: value for key, value in facts.items() if value is not None}
        for turn in call.outputs:
            self._output(turn, name, call.start, facts)
            facts = {}
        agent.learn(turns, call.outputs)

    def _think(self, name: str, call: ModelCall) -> None:
        """Adds a call whose answer only the agent itself heard."""
        for turn in call.inputs:
            if turn.text:
                self.open.say(
                    "user", turn.text, "system", channel_name=CONTEXT_CHANNEL, recipients=(name,), sent_at=call.start
                )
        for turn in call.outputs:
            index = self.open.say(name, turn.text, "private", channel_name=THOUGHTS_CHANNEL, sent_at=call.start)
            self._remember(index, turn.text)

    def _introduce(self, name: str, call: ModelCall) -> None:
        persona = _instructions(call.inputs) or None
        if not call.outputs or all(turn.role == "tool" for turn in call.outputs):
            return
        self.open.player(name, model=call.model, persona=persona)
        known = self.open.players[name]
        if persona and known.get("persona") != persona:
            later = known.setdefault("metadata", {}).setdefault("later_instructions", [])
            if persona not in later and len(later) < 20:
                later.append(persona)

    def _input(self, turn: ChatTurn, name: str, agent: _Agent, when: datetime | None) -> None:
        self._results(turn, when)
        if turn.role != "tool" and turn.text:
            self._heard(turn, turn.text, name, agent, when)
        self._calls(turn, name, when)

    def _heard(self, turn: ChatTurn, text: str, name: str, agent: _Agent, when: datetime | None) -> None:
        """Adds a text that an agent was given, unless it was said before."""
        speaker = speaker_name(turn.name or (name if turn.role == "assistant" else "user"), "user")
        key = normalised(text)
        earlier = self._earlier(key, speaker)
        agent.heard[key] += 1
        if agent.heard[key] <= len(earlier):
            self._deliver(earlier[agent.heard[key] - 1], name)
            return
        quoted = self._quoted(text)
        if quoted is not None and speaker in ("user", name):
            # The framework put an earlier text into a prompt of its own, or back into the agent's mouth.
            self.open.say(
                speaker, text, "system", channel_name=CONTEXT_CHANNEL, recipients=(name,), sent_at=when, reply_to=quoted
            )
            return
        self._say(speaker, text, when, {})

    def _earlier(self, key: str, speaker: str) -> list[int]:
        """Messages of that text; where the text begins with a known name and a colon, those of that speaker too."""
        found = self._said.get(key, [])
        prefix, colon, rest = key.partition(":")
        if not found and colon and prefix.strip() in self.open.players and prefix.strip() != speaker:
            return self._said.get(rest.strip(), [])
        return found

    def _deliver(self, index: int, name: str) -> None:
        message = self.open.draft.messages[index]
        if self._is_group and message["speaker"] != name and name not in message["recipients"]:
            message["recipients"] = (*message["recipients"], name)

    def _quoted(self, text: str) -> int | None:
        """The latest message by an agent that stands inside a longer text."""
        inside = normalised(text)
        latest = self._texts[-_MOST_QUOTED:]
        return next((index for index, quote in reversed(latest) if quote in inside and quote != inside), None)

    def _output(self, turn: ChatTurn, name: str, when: datetime | None, facts: dict[str, Any]) -> None:
        for thought in turn.thoughts:
            self.open.say(name, thought, "private", channel_name=THOUGHTS_CHANNEL, sent_at=when)
        if turn.role != "tool" and turn.text:
            index = self._say(name, turn.text, when, facts)
            self._remember(index, turn.text)
        self._calls(turn, name, when)
        self._results(turn, when)

    def _say(self, speaker: str, text: str, when: datetime | None, facts: dict[str, Any]) -> int:
        index = self.open.say(speaker, text, sent_at=when, metadata=facts)
        self._said.setdefault(normalised(text), []).append(index)
        return index

    def _remember(self, index: int, text: str) -> None:
        if len(quote := normalised(text)) >= _SHORTEST_QUOTE:
            self._texts.append((index, quote))

    def _calls(self, turn: ChatTurn, name: str, when: datetime | None) -> None:
        calls = []
        for call in turn.calls:
            if call.key in self._tools:
                continue
            self._tools[call.key] = call.name
            if not self._speech(call, name, when):
                calls.append(call)
        if calls:
            self.open.tool(name, "\n".join(call.text for call in calls), _one_name({call.name for call in calls}), when)

    def _results(self, turn: ChatTurn, when: datetime | None) -> None:
        """Results that are new, and not only the receipt of what was said through a tool."""
        found = []
        for result in turn.results:
            key = result.call_id or f"{len(self._tools)}:{result.text}"
            if key not in self._answered and key not in self._speech_calls:
                self._answered.add(key)
                found.append((result.name or self._tools.get(result.call_id) or "tool", result.text))
        if found:
            tool = _one_name({name for name, _ in found})
            self.open.tool(speaker_name(tool, "tool"), "\n".join(text for _, text in found), tool, when)

    def _speech(self, call: ToolCall, name: str, when: datetime | None) -> bool:
        """Says what an agent says through a tool: its final answer, or words that hand the task to another."""
        arguments = unpacked(call.arguments)
        fields = arguments if isinstance(arguments, dict) else {}
        hand_off = _HAND_OFF_TOOLS.fullmatch(call.name)
        is_answer = _SPEECH_TOOLS.fullmatch(call.name) is not None
        if not (hand_off or is_answer):
            return False
        receiver = hand_off[1] if hand_off else next((fields[key] for key in _RECEIVERS if fields.get(key)), None)
        text = _said_in(fields) or ("" if hand_off else as_text(call.arguments))
        if not text.strip():
            return False
        self._speech_calls.add(call.key)
        if isinstance(receiver, str) and receiver.strip():
            to = speaker_name(receiver, "agent")
            index = self.open.say(name, text, "private", channel_name=HAND_OFF_CHANNEL, recipients=(to,), sent_at=when)
            self._said.setdefault(normalised(text), []).append(index)
        else:
            index = self._say(name, text, when, {})
        self._remember(index, text)
        return True


def _said_in(fields: Mapping[str, Any]) -> str:
    """The text in the arguments of a tool for answers: the field that is named so, or the only text there is."""
    texts = {key: value for key, value in fields.items() if isinstance(value, str) and value.strip()}
    named = next((texts[key] for key in _SAID if key in texts), "")
    if named:
        return named
    return next(iter(texts.values())) if len(texts) == 1 and len(fields) == 1 else ""


def _one_name(names: set[str]) -> str:
    return names.pop() if len(names) == 1 else "tool"


def _cost(calls: Sequence[ModelCall]) -> dict[str, Any] | None:
    """The sum over calls to models; agents and workflows that repeat it are not among them."""
    usages = [call.usage for call in calls]
    given = _sum([usage.input_tokens for usage in usages])
    cached = _sum([usage.cached_tokens for usage in usages])
    cost = {
        "total_usd": _sum([usage.total_usd for usage in usages]),
        "input_tokens": given,
        "cached_tokens": cached,
        "output_tokens": _sum([usage.output_tokens for usage in usages]),
        "cache_hit_rate": min(cached / given, 1) if given and cached is not None else None,
    }
    return cost if any(cost.values()) else None


def _sum(values: Sequence[Any]) -> Any:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def trace_reader(
    format_name: str, recognises: Callable[[Any], bool], calls: Callable[[Iterable[Node], Document], list[ModelCall]]
) -> FileReader:
    """A reader of a tool's exports.

    Args:
        format_name: The format's name.
        recognises: Whether a file whose first record is this is of the format.
        calls: The calls to models in the records of a file.
    """
    return FileReader(
        format_name,
        lambda document: recognises(first_record(document)),
        lambda document: conversation_games(format_name, calls(records(document), document), document.limits),
    )
