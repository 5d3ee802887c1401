"""Collect the messages of an agent or a channel that a judge evaluates.

The messages of an agent are those of its speakers in all transcripts, ordered by time. An agent may play another
character in each game (another personality, another persona). Then each of these is a separate portrayal, so that no
message is compared with another character's persona. A channel has one portrayal for each conversation in it.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from evaluation.errors import InputError
from evaluation.judging.propositions import Target, TargetType, TrajectoryEvent
from evaluation.persona.agents import Agent, Cast, SpeakerMap, channel_id_of, is_channel_id, persona_text
from evaluation.transcript import Message, Player, Transcript

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Period:
    """A span of time, both ends inside; ``None`` leaves an end open. Times without a zone are UTC."""

    since: datetime | None = None
    until: datetime | None = None

    def __post_init__(self) -> None:
        if self.since and self.until and _utc(self.since) > _utc(self.until):
            raise InputError(
                f"The period begins ({self.since.isoformat()}) after its end ({self.until.isoformat()}).",
                remedy="Exchange the two times.",
            )

    def holds(self, transcript: Transcript, message: Message) -> bool:
        """Whether the message was sent in it.

        A message without a time has that of its transcript's start. Where neither is known, only a period without ends
        holds it.
        """
        if self.since is None and self.until is None:
            return True
        time = message.sent_at or transcript.started_at
        if time is None:
            return False
        is_late_enough = self.since is None or _utc(time) >= _utc(self.since)
        return is_late_enough and (self.until is None or _utc(time) <= _utc(self.until))


ALWAYS = Period()
"""Leaves nothing out."""


def by_time(transcripts: Sequence[Transcript]) -> list[Transcript]:
    """The transcripts by the time at which they began; those without any time come last, in the order given."""

    def start(transcript: Transcript) -> tuple[bool, datetime]:
        times = [message.sent_at for message in transcript.messages[:1] if message.sent_at]
        time = transcript.started_at or (times[0] if times else None)
        return time is None, _utc(time) if time else datetime.max.replace(tzinfo=UTC)

    return sorted(transcripts, key=start)


def sample(items: Sequence[_T], size: int, seed: int, subject: str) -> list[_T]:
    """At most ``size`` of the items in their order; the same for the same items, seed and subject.

    Args:
        items: What to choose from.
        size: How many at most.
        seed: Chooses another sample.
        subject: Whose items they are, so that one agent's sample does not depend on another's.
    """
    if len(items) <= size:
        return list(items)
    chosen = random.Random(f"{seed}:{subject}").sample(range(len(items)), size)
    return [items[position] for position in sorted(chosen)]


def _utc(time: datetime) -> datetime:
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time


@dataclass(frozen=True, slots=True)
class Portrayal:
    """An agent under one persona with all that it said and met then, or one conversation in a channel.

    Attributes:
        personality: One of the shipped personality types, whose propositions apply too; ``None`` for no such type.
    """

    target: Target
    personality: str | None = None

    @property
    def positions(self) -> list[int]:
        """Positions of the agent's own messages in the trajectory."""
        return [position for position, event in enumerate(self.target.trajectory) if event.is_action]


@dataclass(frozen=True, slots=True)
class Subject:
    """An agent or channel with everything that can be judged of it."""

    agent: Agent
    portrayals: tuple[Portrayal, ...]


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of agents and their messages.

    Attributes:
        transcripts: In any order.
        speakers: Which speaker is which agent.
        cast: The shipped agents and personality types.
        agents: Agents that people named or gave a persona, by id.
        period: Only messages of this span of time count.
    """

    transcripts: Sequence[Transcript]
    speakers: SpeakerMap
    cast: Cast
    agents: dict[str, Agent]
    period: Period = ALWAYS

    def agent(self, agent_id: str, name: str = "") -> Agent:
        """The agent with that id: as people named it, as shipped, or called as in the transcripts."""
        if agent_id in self.agents:
            return self.agents[agent_id]
        member = self.cast.members.get(agent_id)
        display_name = member.agent.display_name if member else name or agent_id
        is_channel = is_channel_id(agent_id)
        return Agent(agent_id, display_name, TargetType.ENVIRONMENT if is_channel else TargetType.AGENT)


def everybody(sources: Sources) -> list[Agent]:
    """All agents that say something and all channels in which somebody does, in order of appearance, channels last."""
    agents: dict[str, str] = {}
    channels: dict[str, str] = {}
    for transcript in by_time(sources.transcripts):
        for message in transcript.messages:
            if _is_action(message) and message.channel != "system" and sources.period.holds(transcript, message):
                agents.setdefault(sources.speakers.agent_id(message.speaker), message.speaker)
                if message.channel == "public":
                    channels.setdefault(channel_id_of(message), message.channel_name or "public")
    return [sources.agent(key, name) for key, name in (agents | channels).items()]


def channels_of(agent_ids: Set[str], sources: Sources) -> list[Agent]:
    """The channels in which any of these agents speaks, in order of appearance."""
    found: dict[str, str] = {}
    for transcript in by_time(sources.transcripts):
        for message in transcript.discussion:
            is_wanted = sources.speakers.agent_id(message.speaker) in agent_ids
            if is_wanted and sources.period.holds(transcript, message):
                found.setdefault(channel_id_of(message), message.channel_name or "public")
    return [sources.agent(key, name) for key, name in found.items()]


def subject_of(agent: Agent, sources: Sources) -> Subject:
    """All messages and personas that can be judged of an agent or channel; no portrayal when it says nothing."""
    found = _conversations(agent, sources) if agent.kind is TargetType.ENVIRONMENT else _characters(agent, sources)
    return Subject(agent, tuple(found))


def _characters(agent: Agent, sources: Sources) -> Iterator[Portrayal]:
    events: dict[tuple[str, str | None], list[TrajectoryEvent]] = {}
    for transcript in by_time(sources.transcripts):
        names = {name for name in transcript.player_names if sources.speakers.agent_id(name) == agent.id}
        lived = list(_lived(transcript, names, sources.period))
        speaker = next((event.speaker for event in lived if event.is_action), None)
        if speaker is not None:
            events.setdefault(_persona(agent, transcript.player(speaker), sources.cast), []).extend(lived)
    for (persona, personality), trajectory in events.items():
        personas = {agent.display_name: persona} if persona else {}
        yield Portrayal(Target(TargetType.AGENT, agent.display_name, tuple(trajectory), personas), personality)


def _persona(agent: Agent, player: Player, cast: Cast) -> tuple[str, str | None]:
    """The persona's text (empty when unknown) and the shipped personality type.

    What a person gave outranks the transcript, which outranks what is shipped.
    """
    given = (player.personality or "").strip()
    kind = given.casefold() if given.casefold() in cast.personalities else None
    if agent.persona is not None:
        return persona_text(agent.persona), kind
    if player.persona:
        return persona_text(player.persona), kind
    if given:
        return cast.personalities[kind] if kind else given, kind
    member = cast.members.get(agent.id)
    return (persona_text(member.agent.persona) if member else ""), kind


def _lived(transcript: Transcript, names: Set[str], period: Period) -> Iterator[TrajectoryEvent]:
    """Messages that an agent said or met in a transcript, its own thoughts left out."""
    rooms = {(m.channel, m.channel_name) for m in transcript.messages if m.channel == "team" and m.speaker in names}
    for message in transcript.messages:
        if not _is_action(message) or not period.holds(transcript, message):
            continue
        is_own = message.speaker in names and message.channel != "system"
        if is_own or _reaches(message, names, (message.channel, message.channel_name) in rooms):
            yield _event(transcript, message, is_own)


def _reaches(message: Message, names: Set[str], is_in_room: bool) -> bool:
    if message.recipients and message.channel != "public":
        return not names.isdisjoint(message.recipients)
    return message.channel in ("public", "system") or is_in_room


def _is_action(message: Message) -> bool:
    """Whether somebody can have heard it: no control word, nothing blank, no thought."""
    return bool(message.text.strip()) and not message.is_control and not message.is_thought


def _event(transcript: Transcript, message: Message, is_action: bool) -> TrajectoryEvent:
    return TrajectoryEvent(
        transcript_id=transcript.id,
        message_id=message.id,
        speaker=message.speaker,
        text=message.text,
        is_action=is_action,
        channel_name=message.channel_name,
        recipients=message.recipients,
        is_private=message.channel == "private",
        sent_at=message.sent_at,
    )


def _conversations(channel: Agent, sources: Sources) -> Iterator[Portrayal]:
    for transcript in by_time(sources.transcripts):
        events = [
            _event(transcript, message, is_action=True)
            for message in transcript.discussion
            if channel_id_of(message) == channel.id and sources.period.holds(transcript, message)
        ]
        if events:
            personas = dict(_personas(transcript, dict.fromkeys(event.speaker for event in events), sources))
            yield Portrayal(Target(TargetType.ENVIRONMENT, channel.display_name, tuple(events), personas))


def _personas(transcript: Transcript, speakers: Iterable[str], sources: Sources) -> Iterator[tuple[str, str]]:
    for speaker in speakers:
        agent = sources.agent(sources.speakers.agent_id(speaker), speaker)
        text, _ = _persona(agent, transcript.player(speaker), sources.cast)
        if text:
            yield speaker, text
