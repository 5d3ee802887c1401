"""Collect the messages of an agent or a channel that a judge evaluates.

The messages of an agent are those of its speakers in all transcripts, ordered by time. An agent may play another
character in each game (another personality, another persona). Then each of these is a separate portrayal, so that no
message is compared with another character's persona. A channel has one portrayal for each conversation in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from evaluation.judging.propositions.proposition import TargetType
from evaluation.judging.targets import Target, TrajectoryEvent
from evaluation.persona.agents import Agent, SpeakerMap, channel_id_of, is_channel_id
from evaluation.persona.period import ALWAYS, Period, by_time
from evaluation.persona.persona_text import persona_text
from evaluation.persona.shipped_agents import Cast
from evaluation.transcript import Message, Player, Transcript


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
