"""The agents that ship with Dramaturg, and the personas of the rubric's five personality types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from evaluation.errors import InputError
from evaluation.files.bundled import persona_root
from evaluation.files.yaml_data import parse_yaml
from evaluation.persona.agents import Agent
from evaluation.persona.persona_text import read_agent_file
from evaluation.text.agent_names import slug_of
from evaluation.transcript import Transcript

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
