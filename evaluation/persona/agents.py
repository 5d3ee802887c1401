"""Agents: the files and the text of their personas, their names, and the cast that ships."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from evaluation.errors import InputError, LimitError
from evaluation.files.bundled import parse_yaml, shipped
from evaluation.files.strict_json import parse_json
from evaluation.files.yaml_files import FaultyFileError, UnreadableYamlError, check_model, explained, read_located
from evaluation.judging.answers import describe
from evaluation.judging.propositions import TargetType
from evaluation.text.agent_names import CHANNEL_PREFIX, slug_of
from evaluation.transcript import Message, Transcript

LONGEST_PERSONA = 20_000
"""Characters of a persona that a judge sees."""
LARGEST_FILE = 5_000_000
"""Bytes of a persona's file."""

_DEEPEST = 12
_INDENT = "  "
_REMEDY = (
    "Hand in an agent file of TinyTroupe (*.agent.json), an object with a name that describes the persona, "
    '{"name": ..., "persona": a text or an object}, or a plain text.'
)


def persona_text(persona: JsonValue) -> str:
    """A persona as lines: a text as it is, a mapping as "name: value" lines, empty for nothing.

    JSON would cost a third more tokens, and its quotes and colons are what an answer consists of.
    """
    text = persona.strip() if isinstance(persona, str) else "\n".join(_lines(persona, 0))
    if len(text) <= LONGEST_PERSONA:
        return text
    return f"{text[:LONGEST_PERSONA]}\n(cut: {len(text) - LONGEST_PERSONA:,} more characters)"


def _lines(value: Any, depth: int) -> Iterator[str]:
    indent = _INDENT * depth
    if depth > _DEEPEST:
        yield f"{indent}(more)"
    elif isinstance(value, dict):
        for key, inner in value.items():
            name = str(key).replace("_", " ")
            if isinstance(inner, dict | list) and inner:
                yield f"{indent}{name}:"
                yield from _lines(inner, depth + 1)
            elif inner not in (None, "", [], {}):
                yield f"{indent}{name}: {inner}"
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, dict | list):
                yield from _lines(inner, depth + 1)
            else:
                yield f"{indent}- {inner}"
    elif value is not None:
        yield f"{indent}{value}"


class _Bounds(NamedTuple):
    """Far above any persona: a judge sees twelve levels, and 20,000 characters."""

    json_depth: int = 100
    json_values: int = 500_000


def read_persona_bytes(path: Path) -> bytes:
    """The content of a file of at most ``LARGEST_FILE`` bytes.

    Raises:
        InputError: It cannot be read, or is larger.
    """
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise InputError(f"It cannot be read: {error.strerror}.", place=str(path), remedy="Correct the path.") from None
    if len(content) > LARGEST_FILE:
        raise InputError(f"The file has more than {LARGEST_FILE:,} bytes.", place=str(path), remedy="Shorten it.")
    return content


def _body_of(content: bytes, file: str) -> Any:
    """The value in a JSON file of a persona, with nothing in it that could not be stored."""
    try:
        text = content.decode(json.detect_encoding(content))
    except UnicodeDecodeError:
        raise InputError("The text is not UTF-8.", place=file, remedy="Save the file as UTF-8.") from None
    try:
        body = parse_json(text, _Bounds())
        _AgentFile.model_validate(body)
        return body
    except LimitError as error:
        raise InputError(error.message, place=file, remedy=_REMEDY) from None
    except ValidationError as error:
        fault = InputError(f"{describe(error)}.", place=file, remedy=_REMEDY)
    except InputError as error:
        fault = InputError(error.message, place=f"{file}: {error.place}", remedy=error.remedy or _REMEDY)
    # JSON is YAML too, whose lines are known; of a file that is too large or too deep for that the fault must do.
    with suppress(UnreadableYamlError):
        _, problems = check_model(read_located(text.encode("utf-8", "replace"), file), _AgentFile, file)
        if problems:
            fault = FaultyFileError(problems, _REMEDY)
    raise fault


class _Persona(BaseModel):
    model_config = ConfigDict(extra="allow")

    name: Annotated[str, Field(max_length=200, pattern=r"\S"), explained("not a name. Write 1 to 200 characters.")]


class _AgentFile(BaseModel):
    persona: _Persona
    speakers: list[Annotated[str, Field(min_length=1, max_length=200)]] | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_other_shapes(cls, body: Any) -> Any:
        if not isinstance(body, dict):
            return body
        beside = {"speakers": body.get("speakers")}
        if "persona" not in body:
            return {"persona": body, **beside}
        held = body["persona"]
        if "name" not in body or (isinstance(held, dict) and "name" in held):
            return body
        # The name stands beside the persona, which is a text or an object.
        named = {**held, "name": body["name"]} if isinstance(held, dict) else {"name": body["name"]}
        return {"persona": named, **beside}


class AgentFile(NamedTuple):
    """A file about an agent.

    Attributes:
        persona: ``None`` where the file names an agent and its speakers alone.
        speakers: Names in transcripts that are this agent, in place of those before; ``None`` leaves them as they are.
    """

    name: str
    persona: JsonValue
    speakers: tuple[str, ...] | None = None


def read_agent_file(content: bytes, file: str) -> AgentFile:
    """The agent in a file: of TinyTroupe, ``{"name", "persona"}``, an object with a name, or a plain text.

    What is no ``.json`` file is the text of a persona whose name is the file's: ``ann-lee.txt`` is "ann-lee".

    Args:
        content: The file.
        file: Its name, for errors.

    Raises:
        InputError: Not JSON, nested too deep, a number that is not finite, half of a surrogate pair, a key twice, or
            without a persona or its name; with the line where it is known.
    """
    if not file.endswith(".json"):
        return AgentFile(Path(file).stem, read_persona_text(content, file))
    body = _body_of(content, file)
    given = body.pop("speakers", None)
    speakers = None if given is None else tuple(given)
    persona = body.get("persona", body)
    if isinstance(persona, dict):
        name = persona.get("name", body.get("name"))
        is_bare = speakers is not None and persona.keys() <= {"name"}
        return AgentFile(name.strip(), None if is_bare else {"name": name, **persona}, speakers)
    if not isinstance(persona, str) or not persona.strip():
        raise InputError("The persona is neither a text nor an object.", place=file, remedy=_REMEDY)
    return AgentFile(body["name"].strip(), persona.strip(), speakers)


def read_persona_text(content: bytes, file: str) -> str:
    """The text of a persona.

    Raises:
        InputError: It is not UTF-8, or empty.
    """
    try:
        text = content.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise InputError("The text is not UTF-8.", place=file, remedy="Save the file as UTF-8.") from None
    if not text:
        raise InputError("The file is empty.", place=file, remedy="Write who the agent is.")
    return text


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
    root = shipped("data/personas")
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
        name, persona, _ = read_agent_file(path.read_bytes(), str(path))
        if name != entry["name"]:
            raise InputError(f"The file describes {name!r}, not {entry['name']!r}.", place=str(path))
        return persona
    return str(entry["persona"]).strip()
