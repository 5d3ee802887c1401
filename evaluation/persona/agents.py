"""Agents and channels, the agents that come with Dramaturg, and the map from the speakers of transcripts to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from evaluation.errors import InputError
from evaluation.files.bundled import parse_yaml, persona_root
from evaluation.judging.propositions.proposition import TargetType
from evaluation.persona.persona_text import read_agent_file
from evaluation.text.agent_names import CHANNEL_PREFIX, slug_of
from evaluation.transcript import Message, Transcript

SYNTHETIC_FORMAT = "synthetic"
"""The ``source_format`` of answers to scenario prompts, which never count as what an agent said elsewhere."""

_PUBLIC_CHANNEL = "public"


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent, or a channel with everybody in it.

    Attributes:
        id: A slug of its name; ``channel:<slug>`` for a channel.
        kind: ``agent``, or ``environment`` for a channel, which owns convergence and ideas.
        persona: As a text or a mapping; ``None`` where nobody gave one, and transcripts or shipped ones count.
    """

    id: str
    display_name: str
    kind: TargetType = TargetType.AGENT
    persona: JsonValue = None


@dataclass(frozen=True, slots=True)
class SpeakerMap:
    """The map from the speakers of transcripts to agents.

    Attributes:
        chosen: Agent ids by speaker, as a person decided.
        known: Agent ids by the slug of a name or nickname of agents that exist already.
    """

    chosen: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, str] = field(default_factory=dict)

    def agent_id(self, speaker: str) -> str:
        """The agent's id: a person's choice, else an agent of that name or nickname, else the slug of the name."""
        if speaker in self.chosen:
            return self.chosen[speaker]
        slug = slug_of(speaker)
        return self.known.get(slug, slug)


def find_agent(reference: str, names: Iterable[tuple[str, str]]) -> str | None:
    """The id of the agent that somebody means: by its id, else by a name; ``None`` when there is no such agent.

    Names are compared as written first, then without regard to case and punctuation.

    Args:
        reference: An id or a name.
        names: Id and name of every agent, once for each of its names.

    Raises:
        InputError: Several agents have that name.
    """
    known = dict.fromkeys(names)
    if any(reference == agent_id for agent_id, _ in known):
        return reference
    slug = slug_of(reference)
    for found in (
        sorted({agent_id for agent_id, name in known if name == reference}),
        sorted({agent_id for agent_id, name in known if slug in (agent_id, slug_of(name))}),
    ):
        if len(found) > 1:
            raise InputError(
                f"{len(found)} agents are called {reference!r}: {', '.join(found)}.", remedy="Give the id of one."
            )
        if found:
            return found[0]
    return None


def channel_id_of(message: Message) -> str:
    """The id of the channel that a public message stands in; channels without a name are one, ``channel:public``."""
    return f"{CHANNEL_PREFIX}{slug_of(message.channel_name or _PUBLIC_CHANNEL)}"


def is_channel_id(agent_id: str) -> bool:
    """Whether an id is that of a channel, and not of an agent."""
    return agent_id.startswith(CHANNEL_PREFIX)


_FILE = "personas.yaml"


@dataclass(frozen=True, slots=True)
class CastMember:
    """A shipped agent.

    Attributes:
        speakers: All names under which it talks in transcripts.
        transcripts: Files that hold what it says.
    """

    agent: Agent
    speakers: tuple[str, ...] = ()
    transcripts: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Cast:
    """The shipped agents.

    Attributes:
        members: By id, in the order of the file.
        personalities: Persona texts by personality type ("analytical").
    """

    members: Mapping[str, CastMember]
    personalities: Mapping[str, str]

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids that may have propositions of their own: agents and personality types."""
        return (*self.members, *self.personalities)

    @property
    def by_slug(self) -> dict[str, str]:
        """Agent ids by the slug of every name and nickname."""
        return {slug_of(name): key for key, member in self.members.items() for name in member.speakers}

    def transcripts_of(self, agent_ids: Iterable[str]) -> tuple[Transcript, ...]:
        """The shipped transcripts of these agents, each once, in the order of the file.

        Raises:
            InputError: A shipped file is damaged.
        """
        members = [self.members[agent_id] for agent_id in agent_ids if agent_id in self.members]
        paths = dict.fromkeys(path for member in members for path in member.transcripts)
        return tuple([Transcript.from_json(path.read_bytes()) for path in paths])


@cache
def shipped_cast() -> Cast:
    """The cast in the folder of shipped personas.

    Raises:
        InputError: Its file is damaged.
        InfrastructureError: The folder is missing.
    """
    root = persona_root()
    body = parse_yaml((root / _FILE).read_text(encoding="utf-8"))
    members = [_member(entry, root) for entry in body["cast"]]
    personalities = {entry["id"]: str(entry["persona"]).strip() for entry in body["personalities"]}
    return Cast({member.agent.id: member for member in members}, personalities)


def _member(entry: Mapping[str, Any], root: Path) -> CastMember:
    agent = Agent(entry["id"], entry["name"], persona=_persona(entry, root))
    paths = tuple([root / relative for relative in entry["transcripts"]])
    return CastMember(agent, tuple(dict.fromkeys([agent.display_name, *entry.get("speakers", ())])), paths)


def _persona(entry: Mapping[str, Any], root: Path) -> JsonValue:
    if "file" in entry:
        path = root / str(entry["file"])
        name, persona = read_agent_file(path.read_bytes(), str(path))
        if name != entry["name"]:
            raise InputError(f"The file describes {name!r}, not {entry['name']!r}.", place=str(path))
        return persona
    return str(entry["persona"]).strip()
