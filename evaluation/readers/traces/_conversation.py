"""Make a transcript of the calls to models in one conversation.

Each call repeats the history that the model was given. What is new in it is said once, in the order of the calls:
inputs that an agent or another has brought before are left out, outputs never are. So two agents that answer "Pass"
make two messages, and a text that comes back as another agent's input makes none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import chain, count
from typing import Any

from evaluation.errors import BrokenTranscriptError
from evaluation.readers._draft import THOUGHTS_CHANNEL, OpenDraft, speaker_name
from evaluation.readers._turns import ChatTurn, ToolCall, as_text, normalised, unpacked
from evaluation.readers.document import Document, FileReader, Games, Limits, Node, first_record, records
from evaluation.readers.traces.calls import Span, summed_cost
from evaluation.transcript import Transcript

CONTEXT_CHANNEL = "context"
HAND_OFF_CHANNEL = "hand-off"

_UNNAMED = "assistant"
_SPEECH_TOOLS = re.compile(r"final_result|final_answer|\w*structured_output")
_HAND_OFF_TOOLS = re.compile(r"(?:transfer_to|handoff_to|hand_off_to|delegate_to|transfer_back_to)_+(.+)")
_RECEIVERS = ("agentId", "agent_id", "coworker", "agent", "recipient", "to")
_SAID = ("message", "answer", "text", "content", "task", "question", "reason", "output", "response", "result")
_OWN_NAME = re.compile(r"named? ['\"]([\w .-]{1,60})['\"]|^You are ['\"]?([A-Z][\w-]{0,40})['\"]?[,.]")
_SHORTEST_QUOTE = 20
_MOST_QUOTED = 50
_WITHOUT_TEXT = "The trace holds no message text: what was said was not captured."
_CAPTURE = (
    "Switch on the capturing of content where the trace was recorded "
    "(OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true or your tool's setting), and record it again."
)


def trace_reader(
    format_name: str, recognises: Callable[[Any], bool], calls: Callable[[Iterable[Node], Document], list[Span]]
) -> FileReader:
    """A reader of a tool's exports: a game for each conversation.

    Args:
        format_name: The format's name.
        recognises: Whether a file whose first record is this is of the format.
        calls: The calls to models in the records of a file.
    """

    def read(document: Document) -> Games:
        conversations: dict[str, list[Span]] = {}
        for call in calls(records(document), document):
            conversations.setdefault(call.conversation, []).append(call)
        if not conversations:
            raise BrokenTranscriptError(
                "The trace holds no call to a model.", remedy="Export the spans of the model calls, with their content."
            )
        for name, held in conversations.items():
            game = partial(call_transcript, format_name, held, document.limits, game_id=name)
            yield (name if len(conversations) > 1 else "", game)

    return FileReader(format_name, lambda document: recognises(first_record(document)), read)


def call_transcript(
    source_format: str, calls: Sequence[Span], limits: Limits, game_id: str, metadata: Mapping[str, Any] | None = None
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
    speakers = _speakers(calls)
    conversation = _Conversation(limits, is_group=len({name for name, _ in speakers}) > 1)
    for call, (name, is_thinking) in zip(calls, speakers, strict=True):
        (conversation.think if is_thinking else conversation.add)(name, call)
    orphans = sum(call.lacks_parent for call in calls)
    counts = {"history_rewritten": conversation.rewritten or None, "calls_without_parent": orphans or None}
    about: dict[str, Any] = {"started_at": min((call.start for call in calls if call.start is not None), default=None)}
    about |= {"metadata": {**(metadata or {}), **counts}, "cost": summed_cost([call.usage for call in calls])}
    without_text = "Nobody speaks in the trace: it holds instructions and tools alone."
    return conversation.draft.build_open(source_format, game_id, without_text=without_text, **about)


_Speaker = tuple[str, bool]
"""The agent behind a call, and whether it was thinking: its answer went back into its own history, not out."""


def _speakers(calls: Sequence[Span]) -> list[_Speaker]:
    """The speaker of each call.

    Calls without an agent's name are told apart by their instructions, since agents share models: they are named by
    what the instructions or the task call them, else numbered. A call without instructions whose answer another's
    history quotes as its own words was that one's thinking: frameworks plan so.
    """
    names: dict[str, str] = {}
    taken = {call.agent for call in calls if call.agent}
    owners = _thinkers(calls)
    for position, call in enumerate(calls):
        key = _instructions(call.inputs)
        if call.agent is None and position not in owners and key not in names:
            names[key] = _name_in_prompts(call, {*taken, *names.values()})
    speakers = []
    for position in range(len(calls)):
        owner = calls[owners.get(position, position)]
        name = owner.agent or names[_instructions(owner.inputs)]
        speakers.append((speaker_name(name, _UNNAMED), position in owners))
    return speakers


def _thinkers(calls: Sequence[Span]) -> dict[int, int]:
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


def _name_in_prompts(call: Span, taken: set[str]) -> str:
    prompts = [turn.text for turn in call.inputs if turn.role in ("system", "user")][:2]
    for prompt in prompts:
        if match := _OWN_NAME.search(prompt[:2000]):
            named = speaker_name(match[1] or match[2], _UNNAMED)
            if named not in taken:
                return named
    names = chain([_UNNAMED], (f"{_UNNAMED} {number}" for number in count(2)))
    return next(name for name in names if name not in taken)


def _instructions(turns: Sequence[ChatTurn]) -> str:
    return "\n\n".join(turn.text for turn in turns if turn.role == "system")


@dataclass(slots=True)
class _History:
    """The messages that an agent has been given so far.

    Attributes:
        latest: Keys of the turns of its latest call, its answer included.
        known: How often each key stood in one history at most.
        heard: How often each text was given to it as somebody else's.
    """

    latest: list[tuple[str, ...]] = field(default_factory=list)
    known: Counter[tuple[str, ...]] = field(default_factory=Counter)
    heard: Counter[str] = field(default_factory=Counter)

    def new_turns(self, turns: Sequence[ChatTurn]) -> tuple[list[ChatTurn], bool]:
        """The turns that no call has brought before, and whether the history was cut or changed."""
        keys = [turn.key for turn in turns]
        length = len(self.latest)
        if keys[:length] == self.latest:
            return list(turns[length:]), False
        # A history that was shortened still ends with the latest answer; what follows it is new.
        last = self.latest[-1]
        after = len(keys) - keys[::-1].index(last) if last in keys else 0
        new, counted = [], Counter[tuple[str, ...]]()
        for position, (key, turn) in enumerate(zip(keys, turns, strict=True)):
            counted[key] += 1
            if (after and position >= after) or counted[key] > self.known[key]:
                new.append(turn)
        return new, len(new) < len(turns)

    def learn(self, turns: Sequence[ChatTurn]) -> None:
        """Keeps the history of a call, its answer included."""
        self.latest = [turn.key for turn in turns]
        for key, number in Counter(self.latest).items():
            self.known[key] = max(self.known[key], number)


class _Conversation:
    """The transcript so far, and what each agent knows of it.

    Attributes:
        draft: Messages and players.
        rewritten: How many calls had a history that was cut or changed.
    """

    def __init__(self, limits: Limits, *, is_group: bool) -> None:
        self.draft = OpenDraft(limits)
        self.rewritten = 0
        self._is_group = is_group
        self._histories: dict[str, _History] = {}
        # Messages by their text, by which one that comes back is recognised; those by agents that others may quote.
        self._said: dict[str, list[int]] = {}
        self._quotable: list[tuple[int, str]] = []
        self._tools: dict[str, str] = {}
        self._answered: set[str] = set()

    def add(self, name: str, call: Span) -> None:
        """Adds what is new in a call."""
        self._introduce(name, call)
        history = self._histories.setdefault(name, _History())
        turns = [turn for turn in call.inputs if turn.role != "system"]
        new, is_rewritten = history.new_turns(turns)
        self.rewritten += is_rewritten
        for turn in new:
            self._results(turn, call.start)
            if turn.role != "tool" and turn.text:
                self._hear(turn, name, history, call.start)
            self._calls(turn, name, call.start)
        facts = {"model": call.model} | {key: call.usage.get(key) for key in ("input_tokens", "output_tokens")}
        facts = {key: value for key, value in facts.items() if value is not None}
        for turn in call.outputs:
            for thought in turn.thoughts:
                self.draft.say(name, thought, "private", channel_name=THOUGHTS_CHANNEL, sent_at=call.start)
            if turn.role != "tool" and turn.text:
                self._say(name, turn.text, call.start, by_agent=True, metadata=facts)
            self._calls(turn, name, call.start)
            self._results(turn, call.start)
            facts = {}
        history.learn([*turns, *call.outputs])

    def _introduce(self, name: str, call: Span) -> None:
        persona = _instructions(call.inputs) or None
        if all(turn.role == "tool" for turn in call.outputs):
            return
        self.draft.player(name, model=call.model, persona=persona)
        known = self.draft.players[name]
        if persona and known.get("persona") != persona:
            later = known.setdefault("metadata", {}).setdefault("later_instructions", [])
            if persona not in later and len(later) < 20:
                later.append(persona)

    def think(self, name: str, call: Span) -> None:
        """Adds a call whose answer only the agent itself heard."""
        for turn in call.inputs:
            if turn.text:
                self._give_context("user", turn.text, name, call.start)
        for turn in call.outputs:
            index = self.draft.say(name, turn.text, "private", channel_name=THOUGHTS_CHANNEL, sent_at=call.start)
            self._quote(index, turn.text)

    def _quote(self, index: int, text: str) -> None:
        """Keeps a text that may stand in what is given to agents later."""
        if len(written := normalised(text)) >= _SHORTEST_QUOTE:
            self._quotable.append((index, written))

    def _give_context(
        self, speaker: str, text: str, to: str, when: datetime | None, reply_to: int | None = None
    ) -> None:
        self.draft.say(
            speaker, text, "system", channel_name=CONTEXT_CHANNEL, recipients=(to,), sent_at=when, reply_to=reply_to
        )

    def _hear(self, turn: ChatTurn, name: str, history: _History, when: datetime | None) -> None:
        """Adds a text that an agent was given, unless it was said before."""
        speaker = speaker_name(turn.name or (name if turn.role == "assistant" else "user"), "user")
        text = normalised(turn.text)
        before, colon, rest = text.partition(":")
        is_named = colon and before.strip() != speaker and before.strip() in self.draft.players
        # Where it begins with another's name and a colon, what follows may have been said.
        earlier = self._said.get(text) or (self._said.get(rest.strip(), []) if is_named else [])
        history.heard[text] += 1
        if history.heard[text] <= len(earlier):
            message = self.draft.messages[earlier[history.heard[text] - 1]]
            if self._is_group and message["speaker"] != name and name not in message["recipients"]:
                message["recipients"] = (*message["recipients"], name)
            return
        latest = reversed(self._quotable[-_MOST_QUOTED:])
        quoted = next((index for index, quote in latest if quote in text and quote != text), None)
        if quoted is not None and speaker in ("user", name):
            # The framework put an earlier text into a prompt of its own, or back into the agent's mouth.
            self._give_context(speaker, turn.text, name, when, quoted)
        else:
            self._say(speaker, turn.text, when, by_agent=False)

    def _say(self, speaker: str, text: str, when: datetime | None, *, by_agent: bool, **about: Any) -> None:
        index = self.draft.say(speaker, text, sent_at=when, **about)
        self._said.setdefault(normalised(text), []).append(index)
        if by_agent:
            self._quote(index, text)

    def _calls(self, turn: ChatTurn, name: str, when: datetime | None) -> None:
        """Adds the calls that are new, but for those by which an agent speaks."""
        new = {call.key: call for call in turn.calls if call.key not in self._tools}
        self._tools |= {key: call.name for key, call in new.items()}
        calls = [call for call in new.values() if not self._speaks_by(call, name, when)]
        if calls:
            tool = _one_name({call.name for call in calls})
            self.draft.tool(name, "\n".join(call.text for call in calls), tool, when)

    def _results(self, turn: ChatTurn, when: datetime | None) -> None:
        """Adds the results that are new, and not only the receipt of what was said through a tool."""
        found = []
        for result in turn.results:
            key = result.call_id or f"{len(self._tools)}:{result.text}"
            if key not in self._answered:
                self._answered.add(key)
                found.append((result.name or self._tools.get(result.call_id) or "tool", result.text))
        if found:
            tool = _one_name({name for name, _ in found})
            self.draft.tool(speaker_name(tool, "tool"), "\n".join(text for _, text in found), tool, when)

    def _speaks_by(self, call: ToolCall, name: str, when: datetime | None) -> bool:
        """Says what an agent says through a tool: its final answer, or words that hand the task to another."""
        hand_off = _HAND_OFF_TOOLS.fullmatch(call.name)
        if not hand_off and _SPEECH_TOOLS.fullmatch(call.name) is None:
            return False
        arguments = unpacked(call.arguments)
        fields = arguments if isinstance(arguments, dict) else {}
        receiver = hand_off[1] if hand_off else next((fields[key] for key in _RECEIVERS if fields.get(key)), None)
        text = _text_in_arguments(fields) or ("" if hand_off else as_text(call.arguments))
        if not text.strip():
            return False
        # Its result is a receipt and says nothing.
        self._answered.add(call.key)
        about: dict[str, Any] = {}
        if isinstance(receiver, str) and receiver.strip():
            to = speaker_name(receiver, "agent")
            about = {"channel": "private", "channel_name": HAND_OFF_CHANNEL, "recipients": (to,)}
        self._say(name, text, when, by_agent=True, **about)
        return True


def _text_in_arguments(fields: Mapping[str, Any]) -> str:
    """The text in the arguments of a tool for answers: the field that is named so, or the only text there is."""
    texts = {key: value for key, value in fields.items() if isinstance(value, str) and value.strip()}
    if named := next((texts[key] for key in _SAID if key in texts), ""):
        return named
    return next(iter(texts.values())) if len(texts) == 1 and len(fields) == 1 else ""


def _one_name(names: set[str]) -> str:
    return names.pop() if len(names) == 1 else "tool"
