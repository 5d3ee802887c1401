"""Agents and channels, and the map from the speakers of stored transcripts to them."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from evaluation.errors import InputError
from evaluation.escaping import JOINERS
from evaluation.judging.propositions.proposition import TargetType
from evaluation.transcript import Message

# Begins the id of every channel; no agent's id holds a colon.
_CHANNEL_PREFIX = "channel:"

SYNTHETIC_FORMAT = "synthetic"
"""The ``source_format`` of answers to scenario prompts, which never count as what an agent said elsewhere."""

EVERYBODY = "all"
"""Stands for every agent and channel in the stored transcripts; for the shipped agents where nothing is stored."""

_PUBLIC_CHANNEL = "public"
_LONGEST_ID = 80
_MARKS = frozenset({"Mn", "Mc", "Me"})
# Punctuation by Unicode, but of a name's meaning.
_SIGNS = frozenset("#&@%*")
# Drawn as nothing, though no format characters: fillers of Hangul, and what keeps marks apart.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")


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


def slug_of(name: str) -> str:
    """The name's letters and digits in lower case, with every run of blanks and punctuation as one hyphen.

    Letters of all scripts stay, with their combining marks. A name with signs that neither are letters nor separate
    words ("C++", an emoji), a name without letters, a very long one, and ``all``, which stands for everybody, gets
    digits of its hash, so that no two of them share a slug.
    """
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", _visible(name)).casefold())
    letters, is_exact = "", True
    for character in plain:
        is_mark = unicodedata.category(character) in _MARKS and not _is_blank(character)
        if character.isalnum() or (is_mark and letters and letters[-1] != " "):
            letters += character
        else:
            letters += " "
            is_exact = is_exact and _separates(character)
    slug = "-".join(letters.split())
    if slug and is_exact and len(slug) <= _LONGEST_ID and slug != EVERYBODY:
        return slug
    digits = hashlib.sha256(" ".join(plain.split()).encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{slug[:_LONGEST_ID]}-{digits}" if slug else f"agent-{digits}"


def _visible(name: str) -> str:
    """The name without characters that nobody sees, but for those that join letters and emoji."""
    return "".join(c for c in name if c in JOINERS or (unicodedata.category(c) != "Cf" and c not in _INVISIBLE))


def _is_blank(character: str) -> bool:
    """Whether a mark chooses only how the character before it is drawn."""
    return character in _INVISIBLE or "VARIATION SELECTOR" in unicodedata.name(character, "")


def _separates(character: str) -> bool:
    return character not in _SIGNS and (
        character in JOINERS or unicodedata.category(character)[0] in "ZP" or unicodedata.category(character) == "Cc"
    )


def agent_name(name: str) -> str:
    """The name as an agent keeps it: composed (NFC), without invisible characters and surrounding blanks.

    Raises:
        InputError: Nothing of it is visible, it is that of a channel, or it holds a control character or half of a
            surrogate pair.
    """
    kept = unicodedata.normalize("NFC", _visible(name)).strip()
    if not kept.strip("".join(JOINERS)):
        raise InputError(f"The name {name!a} is empty.", place="agent", remedy="Give the agent a name.")
    if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in kept):
        raise InputError(
            f"The name {name!a} holds a control character or half of a character.",
            place="agent",
            remedy="Take it out of the name.",
        )
    if is_channel_id(kept.casefold()):
        raise InputError(f"{kept!r} is the id of a channel, and no agent's name.", remedy="Name an agent.")
    return kept


def require_distinct_agents(names: Iterable[str], place: str) -> None:
    """Raises ``InputError`` with both names where two of them would be one agent."""
    found: dict[str, str] = {}
    for name in names:
        slug = slug_of(name)
        if slug in found:
            raise InputError(
                f"The names {found[slug]!r} and {name!r} would be one agent.", place=place, remedy="Rename one of them."
            )
        found[slug] = name


def channel_id_of(message: Message) -> str:
    """The id of the channel that a public message stands in; channels without a name are one, ``channel:public``."""
    return f"{_CHANNEL_PREFIX}{slug_of(message.channel_name or _PUBLIC_CHANNEL)}"


def is_channel_id(agent_id: str) -> bool:
    """Whether an id is that of a channel, and not of an agent."""
    return agent_id.startswith(_CHANNEL_PREFIX)
