"""Validate the names of agents, and derive their ids from them."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from evaluation.errors import InputError
from evaluation.escaping import JOINERS

CHANNEL_PREFIX = "channel:"
"""Begins the id of every channel; no agent's id holds a colon."""

EVERYBODY = "all"
"""Stands for every agent and channel in the stored transcripts; for the shipped agents where nothing is stored."""

_LONGEST_ID = 80
_MARKS = frozenset({"Mn", "Mc", "Me"})
# Punctuation by Unicode, but of a name's meaning.
_SIGNS = frozenset("#&@%*")
# Drawn as nothing, though no format characters: fillers of Hangul, and what keeps marks apart.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")


@lru_cache(maxsize=4_096)
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
    if kept.casefold().startswith(CHANNEL_PREFIX):
        raise InputError(f"{kept!r} is the id of a channel.", remedy="Name an agent.")
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
