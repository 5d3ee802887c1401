"""The canonical transcript, which every reader produces and every metric consumes.

All models are immutable and validated. ``Transcript.to_json`` and ``Transcript.from_json`` are inverse to each other.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator
from pydantic_core import ErrorDetails

from evaluation.errors import BrokenTranscriptError, own_words
from evaluation.escaping import lone_surrogate, reading_fault

Alignment = Literal["mafia", "town"]
Channel = Literal["public", "team", "private", "system"]

CANONICAL_FORMAT = "dramaturg-transcript"
CANONICAL_VERSION = 1
SIMULATED_FORMAT = "simulation"
"""The source of conversations that were simulated here; raters get them only as games of an iteration."""

# What a player says to the game engine instead of to the others (AIWolf's protocol, and turn-based engines like it).
_CONTROL_WORDS = frozenset({"skip", "over"})
_NOT_A_LETTER = re.compile(r"[^a-z]+")
_REASONS = {"missing": "The value is missing", "extra_forbidden": "Unknown key"}
_LONGEST_SHOWN = 60
_VOTE_PREFIX = "vote:"


def _storable(text: str) -> str:
    """Refuses text that no UTF-8 file or database can hold."""
    if (place := lone_surrogate(text)) is not None:
        raise ValueError(f"holds a lone surrogate (U+{ord(text[place]):04X}) at character {place}")
    return text


Text = Annotated[str, AfterValidator(_storable)]
Name = Annotated[str, AfterValidator(_storable), Field(min_length=1, max_length=200)]
Metadata = dict[str, JsonValue]
_T = TypeVar("_T", bound=BaseModel)


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Player(_Frozen):
    """One participant. ``alignment`` is the side whose interest the role serves; ``None`` where it is not known."""

    name: Name
    role: Text | None = None
    alignment: Alignment | None = None
    personality: Text | None = None
    persona: JsonValue = None
    model: Text | None = None
    is_human: bool | None = None
    is_alive: bool | None = None
    metadata: Metadata = Field(default_factory=dict)


class Message(_Frozen):
    """One message, in its original wording.

    ``index`` is its position in the transcript, from 0. ``reply_to`` is the id of the message it answers; an id that
    resolves to nothing in this transcript is kept as the file gave it.
    """

    id: Name
    index: int = Field(ge=0)
    round: int | None = Field(default=None, ge=0)
    phase: Text | None = None
    channel: Channel = "public"
    channel_name: Text | None = None
    speaker: Name
    recipients: tuple[Name, ...] = ()
    text: Text
    sent_at: datetime | None = None
    reply_to: Name | None = None
    metadata: Metadata = Field(default_factory=dict)

    @cached_property
    def is_control(self) -> bool:
        """Whether the text is only a word to the game engine ("Skip", "Over")."""
        return len(self.text) < 20 and _NOT_A_LETTER.sub("", self.text.casefold()) in _CONTROL_WORDS

    @property
    def is_thought(self) -> bool:
        """Whether nobody else could hear it: a private message without recipients (thoughts, goals, "done")."""
        return self.channel == "private" and not self.recipients


class Vote(_Frozen):
    """One vote. ``target`` is ``None`` for an abstention."""

    round: int | None = Field(default=None, ge=0)
    phase: Text | None = None
    voter: Name
    target: Name | None = None
    justification: Text | None = None
    sent_at: datetime | None = None

    @property
    def id(self) -> str:
        """Stable within a transcript: one voter has one valid vote in a round and phase."""
        return f"{_VOTE_PREFIX}{self.round}:{self.phase or ''}:{self.voter}"

    @staticmethod
    def has_id(reference: str | None) -> bool:
        """Whether ``reference`` is the id of a vote, and not of a message or of nothing."""
        return reference is not None and reference.startswith(_VOTE_PREFIX)


class Elimination(_Frozen):
    """A player leaving the game, by vote or at night. ``role`` is what was revealed, ``None`` when nothing was."""

    round: int | None = Field(default=None, ge=0)
    phase: Text | None = None
    player: Name
    role: Text | None = None
    sent_at: datetime | None = None


class Cost(_Frozen):
    """Cost of the models behind a transcript. ``None`` is unknown; ``cache_hit_rate`` runs from 0 to 1."""

    total_usd: float | None = Field(default=None, ge=0)
    input_tokens: int | None = Field(default=None, ge=0)
    cached_tokens: int | None = Field(default=None, ge=0)
    output_tokens: int | None = Field(default=None, ge=0)
    cache_hit_rate: float | None = Field(default=None, ge=0, le=1)

    @property
    def is_known(self) -> bool:
        """False when every figure is zero or missing: no simulation is free, so nothing was recorded."""
        return any((self.total_usd, self.input_tokens, self.cached_tokens, self.output_tokens))


class Transcript(_Frozen):
    """One discussion with everything that is known about it. ``exported_at`` does not enter ``id``."""

    game_id: Name
    source_format: Name
    language: Text | None = None
    started_at: datetime | None = None
    exported_at: datetime | None = None
    players: tuple[Player, ...] = Field(min_length=1)
    messages: tuple[Message, ...] = Field(min_length=1)
    votes: tuple[Vote, ...] = ()
    eliminations: tuple[Elimination, ...] = ()
    winner: Text | None = None
    cost: Cost | None = None
    metadata: Metadata = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_references(self) -> Self:
        names = [player.name for player in self.players]
        _refuse_duplicates("player name", names)
        _refuse_duplicates("message id", [message.id for message in self.messages])
        known = set(names)
        for position, message in enumerate(self.messages):
            if message.index != position:
                raise ValueError(f"messages[{position}].index is {message.index}, expected {position}")
            if message.channel != "system" and message.speaker not in known:
                raise ValueError(f"messages[{position}].speaker {message.speaker!r} is not among the players")
        for position, vote in enumerate(self.votes):
            if vote.voter not in known or (vote.target is not None and vote.target not in known):
                stranger = vote.target if vote.voter in known else vote.voter
                raise ValueError(f"votes[{position}] names {stranger!r}, who is not among the players")
        for position, elimination in enumerate(self.eliminations):
            if elimination.player not in known:
                raise ValueError(f"eliminations[{position}].player {elimination.player!r} is not among the players")
        return self

    @cached_property
    def id(self) -> str:
        """Hash of the content, 16 hexadecimal digits; the time of export does not enter it."""
        body = self.model_dump(mode="json", exclude={"exported_at"})
        packed = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(packed.encode("utf-8")).hexdigest()[:16]

    @cached_property
    def discussion(self) -> tuple[Message, ...]:
        """The public messages by players, in order: what the discussion metrics are computed from."""
        return tuple(m for m in self.messages if m.channel == "public" and not m.is_control and m.text.strip())

    @cached_property
    def player_names(self) -> tuple[str, ...]:
        return tuple(player.name for player in self.players)

    @cached_property
    def valid_votes(self) -> tuple[Vote, ...]:
        """The votes that stand: a later one by the same voter in the same round and phase replaces the earlier."""
        return tuple({vote.id: vote for vote in self.votes}.values())

    def player(self, name: str) -> Player:
        """The player of that name; ``KeyError`` when there is none."""
        return self._players_by_name[name]

    def message(self, message_id: str) -> Message | None:
        """The message with that id, or ``None``."""
        return self._messages_by_id.get(message_id)

    @cached_property
    def _players_by_name(self) -> Mapping[str, Player]:
        return {player.name: player for player in self.players}

    @cached_property
    def _messages_by_id(self) -> Mapping[str, Message]:
        return {message.id: message for message in self.messages}

    def to_json(self, *, indent: int | None = None) -> str:
        """The canonical JSON document; ``from_json`` restores the same transcript from it."""
        head: dict[str, Any] = {"format": CANONICAL_FORMAT, "version": CANONICAL_VERSION, "id": self.id}
        return json.dumps(head | self.model_dump(mode="json"), ensure_ascii=False, indent=indent)

    @classmethod
    def from_json(cls, document: str | bytes) -> Self:
        """The transcript in a canonical JSON document.

        Raises:
            BrokenTranscriptError: Not JSON, another format or version, or a value that the model refuses.
        """
        try:
            body = json.loads(document)
        except (ValueError, RecursionError) as error:
            raise BrokenTranscriptError(
                f"Not valid JSON: {reading_fault(error)}.", remedy="Export the transcript again."
            ) from None
        if not isinstance(body, dict) or body.pop("format", None) != CANONICAL_FORMAT:
            raise BrokenTranscriptError(
                "Not a canonical transcript.", place="$.format", remedy=f'Expected "{CANONICAL_FORMAT}".'
            )
        if (version := body.pop("version", None)) != CANONICAL_VERSION:
            raise BrokenTranscriptError(f"Unknown version {version!r}.", place="$.version", remedy="Update Dramaturg.")
        body.pop("id", None)
        return build_transcript(cls, body)


def build_transcript(kind: type[_T], fields: Mapping[str, Any]) -> _T:
    """A validated transcript, or a part of one, from plain data.

    Raises:
        BrokenTranscriptError: The model refuses a value; names the JSON path of the first fault.
    """
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
        more = f" ({error.error_count()} faults in all.)" if error.error_count() > 1 else ""
        todo = "Remove it" if first["type"] == "extra_forbidden" else "Correct that value"
        # A fault of the whole names its place itself: "votes[0] names ...".
        raise BrokenTranscriptError(
            f"{_reason(first)}.{more}", place=path and f"${path}", remedy=f"{todo} and try again."
        ) from None


def _reason(fault: ErrorDetails) -> str:
    """A fault that pydantic found, in plain words and with the value where it is short enough to be shown."""
    if (kind := fault["type"]) in _REASONS:
        return _REASONS[kind]
    reason = own_words(fault["msg"]).replace("Input should be", "It should be")
    found = fault["input"]
    is_short = isinstance(found, str | int | float | None) and len(repr(found)) <= _LONGEST_SHOWN
    return f"Found {found!r}. {reason}" if kind != "value_error" and is_short else reason


def _refuse_duplicates(what: str, values: list[str]) -> None:
    seen: set[str] = set()
    for value in values:
        if value in seen:
            raise ValueError(f"The {what} {value!r} occurs twice")
        seen.add(value)
