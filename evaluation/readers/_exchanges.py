"""Find who speaks in records whose keys say it: an exchange a record, with texts under "pro_opening", "con_opening"."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple

from evaluation.files.strict_json import step
from evaluation.readers._draft import HUMP, column_key, is_ordinary, word_lists, word_set

_TOKEN = re.compile(r"[^\W\d_]+|\d+")
_ROUND = re.compile(r"\b(?:round|turn)[ _]?\d+")
_MOST_DEEP = 8
_STANCES = ("stance", "side", "position")
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Said(NamedTuple):
    """A text of an exchange: where it stands and in which record, its key, who says it, and in which part."""

    place: str
    record: str
    key: str
    side: str
    speaker: str
    part: str
    text: str


def sides_of(record: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """The side and the part by key, in order: "pro_opening" is ("pro", "opening"); none where keys tell no sides.

    A side is what keys have beside a word for something said; each such word stands beside several sides.
    """
    texts = [key for key, one in record.items() if isinstance(one, str) and one.strip()]
    found: dict[str, tuple[str, str]] = {}
    for is_first in (False, True):
        split = {key: pair for key in texts if (pair := _split(key, is_first=is_first))}
        sides: defaultdict[str, set[str]] = defaultdict(set)
        for side, part in split.values():
            sides[part].add(side)
        shared = {key: pair for key, pair in split.items() if len(sides[pair[1]]) > 1}
        found = max(found, shared, key=len)
    return found


def _split(key: str, *, is_first: bool) -> tuple[str, str] | None:
    """The side and the part that a key says, in this order or the other one."""
    tokens = _TOKEN.findall(_ROUND.sub(" ", HUMP.sub(" ", key).casefold().replace("_", " ")))
    said = word_set("speech_labels") | word_set("talk_kinds") | {*word_lists("columns")["text"]}
    # "argument_1" counts the texts, "agent_1" the people.
    end = len(tokens) - (len(tokens) > 1 and tokens[-1].isdigit() and tokens[-2] in said)
    ordered = tokens if is_first else tokens[:end][::-1]
    size = next((place for place, token in enumerate(ordered) if token not in said), len(ordered))
    side = tokens[size:] if is_first else tokens[: end - size]
    part = tokens[:size] if is_first else tokens[end - size :]
    is_hidden = {*side} & (word_set("thought_labels") | word_set("calls") | {"system"})
    return (" ".join(side), " ".join(part)) if side and part and not is_hidden else None


def is_certain(side: str) -> bool:
    """Whether a side is surely somebody: of a debate or a chat, or counted as people are ("agent a")."""
    first, *rest = side.casefold().replace("_", " ").split()
    return first in word_set("sides") or (first in word_set("chat_roles") and len("".join(rest)) == 1)


def exchanges(value: Any, path: str = "$", around: Mapping[str, Any] = _NOTHING, depth: int = 0) -> Iterator[Said]:
    """All that is said in exchanges of records at any depth, in the file's order.

    Args:
        value: The records, or what holds them.
        path: Where the value stands.
        around: The object around it.
        depth: How many lists and objects stand around it.
    """
    sides = sides_of(value) or _people_of(value) if isinstance(value, dict) else {}
    inner: Iterable[tuple[Any, Any]]
    inner = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
    if sides:
        names = _holders(around) | _holders(value)
        for key, (side, part) in sides.items():
            who = side if side == key else names.get(side, side.title())
            yield Said(step(path, key), path, key, side, who, part, value[key])
    for place, one in inner if depth < _MOST_DEEP else ():
        yield from exchanges(one, step(path, place), value if isinstance(value, dict) else around, depth + 1)


def _people_of(record: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """The texts of a record by keys that may be names: {"Ann": "Hello ..."}."""
    texts = [key for key, one in record.items() if isinstance(one, str) and one.strip()]
    # Small ordinary words name things ("topic"), capital ones may be names among others ("May").
    things = {key for key in texts if _is_ordinary(key)}
    people = [key for key in texts if column_key(key) not in _fields() and not (key in things and key.islower())]
    return {key: (key, "") for key in people} if len(people) > max(1, 2 * len(things & {*people})) else {}


def _is_ordinary(key: str) -> bool:
    words = " ".join(_TOKEN.findall(HUMP.sub(" ", key)))
    return is_ordinary(words) and not is_certain(words) and column_key(key) not in word_set("chat_roles")


@cache
def _fields() -> frozenset[str]:
    return frozenset(chain(*word_lists("columns").values(), word_set("thought_columns"), word_set("calls")))


def _holders(held: Mapping[str, Any]) -> dict[str, str]:
    """The names of those who take the sides, where objects tell both: {"name": "Ann", "stance": "for"}."""
    inner = [one.values() if isinstance(one, dict) else one if isinstance(one, list) else () for one in held.values()]
    people = [one for part in inner for one in part if isinstance(one, dict) and isinstance(one.get("name"), str)]
    sides = [(str(one.get(key)).casefold(), one["name"]) for one in people for key in _STANCES if one.get(key)]
    return dict(sides)
