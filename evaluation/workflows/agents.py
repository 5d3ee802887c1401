"""Find the agents of a store and what they said, in stored transcripts or else in the shipped ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter

from pydantic import JsonValue

from evaluation.errors import NotFoundError
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.propositions import ENVIRONMENT_DIMENSIONS, Dimension, TargetType
from evaluation.persona.agents import Agent, Cast, SpeakerMap, find_agent, is_channel_id, shipped_cast
from evaluation.persona.subjects import ALWAYS, Period, Sources, Subject, channels_of, everybody, subject_of
from evaluation.store import Store
from evaluation.text.agent_names import EVERYBODY, agent_name, slug_of
from evaluation.transcript import Transcript

_MOST_LISTED = 20


@dataclass(frozen=True, slots=True)
class KnownAgents:
    """Agents known before any transcript is read.

    Attributes:
        speakers: Which speaker is which agent.
        stored: Agents that people named or gave a persona, by id.
        spoken: The transcripts that each agent speaks in, by agent id.
        spoken_as: The first name that each of them speaks under, by agent id.
        merged: Two players of one game who count as the agent with that id, though no person said so.
    """

    cast: Cast
    speakers: SpeakerMap
    stored: dict[str, Agent]
    spoken: dict[str, list[str]]
    spoken_as: dict[str, str]
    merged: dict[str, tuple[str, str]]

    @classmethod
    def of(cls, store: Store, *, with_simulated: bool = True) -> KnownAgents:
        """All agents that ``store`` or the shipped cast knows; also those of experiments, unless they are left out."""
        cast = shipped_cast()
        with store.unit():
            stored = store.agents.all()
            speakers = store.agents.speaker_map()
            players = store.agents.players(with_simulated=with_simulated)
        spoken: dict[str, list[str]] = {}
        spoken_as: dict[str, str] = {}
        merged: dict[str, tuple[str, str]] = {}
        for _, of_game in groupby(players, key=itemgetter(0)):
            heard: dict[str, str] = {}
            for transcript_id, player in of_game:
                agent_id = speakers.agent_id(player)
                spoken.setdefault(agent_id, []).append(transcript_id)
                spoken_as.setdefault(agent_id, player)
                if player not in speakers.chosen and heard.setdefault(agent_id, player) != player:
                    merged.setdefault(agent_id, (heard[agent_id], player))
        return cls(cast, speakers, stored, spoken, spoken_as, merged)

    def agent(self, agent_id: str) -> Agent:
        """The agent with that id as people named it, as shipped, or called as it speaks."""
        member = self.cast.members.get(agent_id)
        shipped = member.agent if member else Agent(agent_id, self.spoken_as.get(agent_id, agent_id))
        return self.stored.get(agent_id) or shipped

    @property
    def names(self) -> list[tuple[str, str]]:
        """Id and name of every agent, once for each of its names."""
        return [
            *((key, each.display_name) for key, each in self.stored.items() if each.kind is TargetType.AGENT),
            *((key, name) for key, member in self.cast.members.items() for name in member.speakers),
            *((key, speaker) for speaker, key in self.speakers.chosen.items()),
            *self.spoken_as.items(),
        ]

    @property
    def ids(self) -> list[str]:
        """Every agent that can be evaluated: those that speak in stored transcripts, then the shipped ones."""
        return list(dict.fromkeys([*self.spoken, *self.cast.members]))

    def defined(self, library: PropositionLibrary) -> list[str]:
        """The agents that have a persona or propositions of their own: those that are evaluated by default."""
        own = {key for key, agent in self.stored.items() if agent.persona is not None} | set(library.agent_ids)
        return [agent_id for agent_id in self.ids if agent_id in own]

    def chosen(self, references: Sequence[str], library: PropositionLibrary) -> list[str]:
        """The ids of the agents that are to be evaluated; the arguments are those of :func:`find_subjects`.

        Raises:
            NotFoundError: Nobody of that name speaks anywhere.
        """
        # Where nothing is stored, everybody is the shipped cast.
        wants_all = EVERYBODY in references and bool(self.spoken)
        named = [self.resolve(each) for each in references if each != EVERYBODY]
        found = named if named or wants_all else self.defined(library)
        return list(dict.fromkeys([*found, *(self.spoken if wants_all else ())]))

    def told_of_merged_players(self, agent_ids: Iterable[str]) -> str:
        """A sentence on players of one game who count as one agent because of their names; empty without any."""
        found = [(key, *self.merged[key]) for key in agent_ids if key in self.merged]
        if not found:
            return ""
        (agent_id, first, second), more = found[0], len(found) - 1
        return (
            f"{first!r} and {second!r} speak in one game and count as one agent, {agent_id}"
            f"{f', and so do {more} pairs more' if more else ''}; if they are two, import an agent of another name "
            'whose file lists one of them under "speakers".'
        )

    def told_of_shipped_personas(self, agent_ids: Iterable[str]) -> str:
        """A sentence on the speakers who have a shipped persona only because of their names; empty without any."""
        found = [
            f"{self.spoken_as[key]} (as {self.cast.members[key].agent.display_name})"
            for key in agent_ids
            if key in self.spoken and key in self.cast.members
            if key not in self.stored or self.stored[key].persona is None
            if self.spoken_as[key] not in self.speakers.chosen
        ]
        if not found:
            return ""
        return (
            "Because names coincide, personas that come with Dramaturg count where a transcript gives none: "
            f"{', '.join(found)}; if they are others, import agents under other names whose files list them "
            'under "speakers".'
        )

    def resolve(self, reference: str) -> str:
        """The id of the agent that a person means by its id, its name, or a speaker's name.

        Args:
            reference: An id or a name; ``channel:<name>`` is returned as it is.

        Raises:
            NotFoundError: Nobody of that name speaks anywhere.
            InputError: Several agents have that name.
        """
        if is_channel_id(reference):
            return reference
        found = find_agent(reference, self.names)
        if found is not None and found in self.ids:
            return found
        listed = ", ".join(self.ids[:_MOST_LISTED]) + (", ..." if len(self.ids) > _MOST_LISTED else "")
        raise NotFoundError(f"Nobody called {reference!r} speaks anywhere.", remedy=f"Choose from: {listed}.")

    def described(self, name: str, persona: JsonValue) -> Agent:
        """The agent of that id or name, which keeps its name, with another persona; a new one where nobody has it.

        Raises:
            InputError: It cannot be an agent's name, or several agents have it.
        """
        kept = agent_name(name)
        found = find_agent(name, self.names) or find_agent(kept, self.names)
        known = self.agent(found) if found else Agent(slug_of(kept), kept)
        return replace(known, persona=persona)


def find_subjects(
    store: Store,
    references: Sequence[str],
    dimensions: Collection[Dimension],
    library: PropositionLibrary,
    period: Period = ALWAYS,
    *,
    with_simulated: bool = False,
) -> list[Subject]:
    """The agents that are to be evaluated with all they said, and the channels that they speak in.

    Args:
        store: Whose transcripts count; an agent that speaks in none of them is judged on the shipped ones.
        references: Ids or names of agents, ``channel:<name>``, or ``all``; nothing for every agent that has a persona
            or propositions of its own.
        dimensions: Channels are looked for only if one of these is theirs.
        library: Tells who has propositions of its own.
        period: Only messages of this span of time count.
        with_simulated: Whether the conversations of experiments count too.

    Raises:
        NotFoundError: Nobody of that name speaks anywhere.
    """
    known = KnownAgents.of(store, with_simulated=with_simulated)
    agent_ids = known.chosen(references, library)
    wants_all = EVERYBODY in references and bool(known.spoken)
    named_channels = [each for each in agent_ids if is_channel_id(each)]
    sources = _sources(store, known, agent_ids, period, reads_all=wants_all or bool(named_channels))
    agents = [_named(agent_id, sources) for agent_id in agent_ids]
    if ENVIRONMENT_DIMENSIONS & set(dimensions):
        speaking = {agent_id for agent_id in agent_ids if agent_id not in named_channels}
        agents += [each for each in channels_of(speaking, sources) if each.id not in named_channels]
    return [subject_of(agent, sources) for agent in agents]


def _named(agent_id: str, sources: Sources) -> Agent:
    """The agent by its name as spoken, where neither a person nor the cast names it."""
    agent = sources.agent(agent_id)
    if agent.display_name != agent_id:
        return agent
    return next((each for each in everybody(sources) if each.id == agent_id), agent)


def _sources(store: Store, known: KnownAgents, agent_ids: Sequence[str], period: Period, *, reads_all: bool) -> Sources:
    wanted = known.spoken if reads_all else agent_ids
    transcript_ids = dict.fromkeys(key for agent_id in wanted for key in known.spoken.get(agent_id, ()))
    stored = store.transcripts.get_many(transcript_ids)
    unheard = [agent_id for agent_id in agent_ids if agent_id not in known.spoken]
    transcripts = [*stored, *known.cast.transcripts_of(unheard)]
    return Sources(transcripts, known.speakers, known.cast, known.stored, period)


def player_personas(store: Store, transcript: Transcript) -> dict[str, str]:
    """Persona texts by player: what people gave before what the transcript says before what is shipped.

    Players without one are left out.
    """
    cast = shipped_cast()
    with store.unit():
        sources = Sources([transcript], store.agents.speaker_map(), cast, store.agents.all())
    found: dict[str, str] = {}
    for player in transcript.player_names:
        agent = sources.agent(sources.speakers.agent_id(player), player)
        if persona := _persona(agent, sources):
            found[player] = persona
    return found


def _persona(agent: Agent, sources: Sources) -> str:
    texts = [text for each in subject_of(agent, sources).portrayals for text in each.target.personas.values()]
    return texts[0] if texts else ""
