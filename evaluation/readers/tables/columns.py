"""Guess the meaning of table columns from the names in ``columns.yaml``; a person can correct it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files

from evaluation.files.bundled import parse_yaml


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """The column for each thing that a message has; ``None`` where the table has none.

    Attributes:
        speaker: Who speaks. Needed.
        text: What is said. Needed.
        game: Which of several games a row belongs to.
        message_id: What ``reply_to`` refers to.
        round: A whole number, also inside words ("Day 2").
        phase: Any text.
        channel: public, team, private or system, or the channel's name, whose words decide who hears it.
        recipients: Those who hear it, separated by semicolons, commas or bars; who is only addressed does not count.
        sent_at: ISO 8601, or seconds or milliseconds since 1970.
        reply_to: The id of the message answered, or the name of the player.
        role: The speaker's role in the game.
    """

    speaker: str | None = None
    text: str | None = None
    game: str | None = None
    message_id: str | None = None
    round: str | None = None
    phase: str | None = None
    channel: str | None = None
    recipients: str | None = None
    sent_at: str | None = None
    reply_to: str | None = None
    role: str | None = None

    @property
    def missing(self) -> tuple[str, ...]:
        """Those of ``speaker`` and ``text`` that have no column; no table can be read without them."""
        return tuple(name for name in ("speaker", "text") if getattr(self, name) is None)

    @property
    def used(self) -> frozenset[str]:
        """The columns that are mapped; the others go into each message's metadata."""
        return frozenset(column for column in self.as_dict().values() if column is not None)

    def as_dict(self) -> dict[str, str | None]:
        """Column by field, in the order of the fields: what an editor shows."""
        return {name: getattr(self, name) for name in FIELDS}


ChooseColumns = Callable[[tuple[str, ...]], ColumnMapping | None]
"""Asked for the mapping of a table by its columns (those of its first rows); ``None`` leaves it to their names."""

FIELDS: tuple[str, ...] = tuple(field.name for field in fields(ColumnMapping))


def guess_mapping(columns: Iterable[str]) -> ColumnMapping:
    """The mapping that the columns' names suggest; each column is used once.

    Case, spaces and punctuation do not matter ("Player Name" is ``playername``). A plain ``id`` is a message's only
    where there are replies. Without a column for the speaker, the role speaks.
    """
    by_key: dict[str, str] = {}
    for column in columns:
        by_key.setdefault(_key(column), column)
    found = {name: by_key[best] for name, keys in _synonyms().items() if (best := _best(keys, by_key)) is not None}
    if "reply_to" in found and "message_id" not in found and "id" in by_key:
        found["message_id"] = by_key["id"]
    if "speaker" not in found and "role" in found:
        found["speaker"] = found.pop("role")
    return ColumnMapping(**found)


def _best(keys: list[str], by_key: dict[str, str]) -> str | None:
    return next((key for key in keys if key in by_key), None)


def _key(column: str) -> str:
    return "".join(character for character in column.casefold() if character.isalnum())


@cache
def _synonyms() -> Mapping[str, list[str]]:
    content = parse_yaml(files("evaluation.readers.tables").joinpath("columns.yaml").read_text(encoding="utf-8"))
    return {name: content[name] for name in FIELDS}
