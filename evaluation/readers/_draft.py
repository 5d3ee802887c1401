"""A transcript under construction, for readers that go through a game line by line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from typing import Any

from evaluation.errors import BrokenTranscriptError
from evaluation.files.strict_json import shorten
from evaluation.readers._line_shapes import yaml_table
from evaluation.readers.document import Limits
from evaluation.text.normal import english_words, fold
from evaluation.transcript import Alignment, Channel, Transcript

_NOT_A_LETTER = re.compile(r"[^a-z]+")
_WORD = re.compile(r"[a-z]+(?:['’]t\b)?")
HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MOST_SHOWN = 12


@cache
def word_lists(table: str) -> Mapping[str, tuple[str, ...]]:
    """Lists of words by name, from the file of that name beside this module."""
    return {name: tuple(words) for name, words in yaml_table(table).items()}


@cache
def word_set(name: str) -> frozenset[str]:
    """One of the lists in ``words.yaml``."""
    return frozenset(word_lists("words")[name])


def is_moderator(name: str) -> bool:
    """Whether a name or role is that of somebody who leads the game and does not play ("Game-Manager", "narrator")."""
    return letters(name) in word_set("moderators")


def is_abstention(target: str | None) -> bool:
    """Whether a vote's target says that nobody was chosen ("abstain", "no one", nothing at all)."""
    return target is None or not any(map(str.isalnum, target)) or letters(target) in word_set("abstentions")


def is_approval(vote: str) -> bool:
    """Whether a vote is one on a proposal ("approve", "innocent") and for no player."""
    return letters(vote) in word_set("approvals")


def is_ordinary(name: str) -> bool:
    """Whether a name consists of English words alone ("Final Thoughts"), and begins with no given name ("Mike")."""
    words = [word.strip(".") for word in fold(name).split()]
    is_english = all(word.isalpha() and word in english_words() for word in words)
    return bool(words) and is_english and words[0] not in word_set("given_names")


def words_in(name: str) -> list[str]:
    """The words of a name or key, in small letters, also those of "FortuneTeller" and "mafia_chat"."""
    return _WORD.findall(fold(HUMP.sub(" ", name)))


class Roster:
    """The players of one game; case and space around a name do not matter when they are looked up."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self._exact = frozenset(self.names)
        self._folded: dict[str, str | None] = {}
        for name in self.names:
            key = _folded(name)
            # Two players whose names differ in case only are told apart by their exact names alone.
            self._folded[key] = None if key in self._folded else name

    def find(self, name: str) -> str | None:
        """The player's name as the game lists it, or ``None`` for somebody else."""
        return name if name in self._exact else self._folded.get(_folded(name))

    def __str__(self) -> str:
        """The names for an error message, a dozen at most."""
        shown = ", ".join(shorten(name) for name in self.names[:_MOST_SHOWN])
        more = len(self.names) - _MOST_SHOWN
        return f"{shown} and {more} more" if more > 0 else shown


def column_key(name: str) -> str:
    """The name of a column or key as names are compared: letters and digits, in small ones ("Player Name")."""
    return "".join(filter(str.isalnum, name.casefold()))


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


def letters(name: str) -> str:
    """The letters from a to z of a name, in small ones."""
    return _NOT_A_LETTER.sub("", name.casefold())


@lru_cache(maxsize=1024)
def alignment_of(role: str | None) -> Alignment | None:
    """The side of a role: ``mafia`` (the informed minority) or ``town``; ``None`` for unknown and neutral roles.

    The whole name decides where it is listed ("MAFIA", "werewolf-hunter"); else its words do ("Alpha Werewolf"), one
    of the minority before one of the town, since "evil villager" is evil. Plurals count ("bystanders").
    """
    words = words_in(role or "")
    # "Role.FASCIST" is how programs print a member of an enumeration.
    words = words[1:] if len(words) > 1 and words[0] == "role" else words
    whole = _listed(" ".join(words)) or _listed("".join(words))
    sides = {whole} if whole is not None or len(words) < 2 else set(map(_listed, words))
    return "mafia" if "mafia" in sides else "town" if "town" in sides else None


def is_neutral(role: str) -> bool:
    """Whether a role is known to serve no side, or is that of somebody who does not play."""
    words = words_in(role)
    return "neutral" in (_listed(" ".join(words)), _listed("".join(words))) or is_moderator(role)


def _listed(name: str) -> str | None:
    names = _alignments()
    return names.get(name) or names.get(name.removesuffix("s"))


@cache
def _alignments() -> Mapping[str, str]:
    return {name: side for side, names in word_lists("alignments").items() for name in names}


VOTE_CHANNEL = "vote"
TOOL_CHANNEL = "tool"
THOUGHTS_CHANNEL = "thoughts"
_LONGEST_NAME = 200


def speaker_name(written: str, default: str) -> str:
    """A name as a transcript may hold it: one line of 200 characters at most; the default where nothing is left."""
    return " ".join(written.split())[:_LONGEST_NAME].strip() or default


class TranscriptDraft:
    """Collects messages, votes and eliminations in their order; messages get the ids ``m1``, ``m2``, ...

    Attributes:
        round: Given to what is added next, until it is changed.
        phase: The same for the phase.
    """

    def __init__(self, roster: Roster, limits: Limits) -> None:
        self.roster = roster
        self.round: int | None = None
        self.phase: str | None = None
        self.messages: list[dict[str, Any]] = []
        self.votes: list[dict[str, Any]] = []
        self.eliminations: list[dict[str, Any]] = []
        self._limits = limits
        self._continued: dict[int, list[str]] = {}

    def say(
        self,
        speaker: str,
        text: str,
        channel: Channel = "public",
        *,
        channel_name: str | None = None,
        recipients: Sequence[str] = (),
        sent_at: datetime | None = None,
        reply_to: int | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> int:
        """Adds a message and returns its index, by which ``continue_message`` and ``reply_to`` know it."""
        index = len(self.messages)
        place = {"id": f"m{index + 1}", "index": index, "round": self.round, "phase": self.phase}
        heard = {"channel": channel, "channel_name": channel_name, "recipients": tuple(recipients), "sent_at": sent_at}
        told = {"reply_to": None if reply_to is None else f"m{reply_to + 1}", "metadata": dict(metadata or {})}
        self.messages.append(place | heard | told | {"speaker": speaker, "text": text})
        return index

    def continue_message(self, index: int, line: str) -> None:
        """Adds a line to the text of a message."""
        self._continued.setdefault(index, [self.messages[index]["text"]]).append(line)

    def vote(
        self, voter: str, target: str | None, *, justification: str | None = None, sent_at: datetime | None = None
    ) -> None:
        """Adds a vote; both names are players, checked by the caller."""
        about = {"round": self.round, "phase": self.phase, "sent_at": sent_at}
        self.votes.append({"voter": voter, "target": target, "justification": justification} | about)

    def eliminate(self, player: str, *, role: str | None = None, sent_at: datetime | None = None) -> None:
        """Adds an elimination, with the role if the others learnt it."""
        about = {"round": self.round, "phase": self.phase, "sent_at": sent_at}
        self.eliminations.append({"player": player, "role": role} | about)

    def build(
        self,
        source_format: str,
        game_id: str,
        players: Iterable[Mapping[str, Any]],
        *,
        winner: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        **about: Any,
    ) -> Transcript:
        """The transcript; ``about`` has further fields of it (``started_at``, ``cost``).

        Raises:
            BrokenTranscriptError: There is no message, or a value that the model refuses.
        """
        if not self.messages:
            raise BrokenTranscriptError("The game has no message.", remedy="Check that the game was recorded.")
        for index, lines in self._continued.items():
            self.messages[index]["text"] = "\n".join(lines).rstrip("\n")
        held = {key: value for key, value in (metadata or {}).items() if value not in (None, "", [], {})}
        fields = {"game_id": game_id, "source_format": source_format, "players": list(players), "metadata": held}
        fields |= {"messages": self.messages, "votes": self.votes, "eliminations": self.eliminations}
        fields |= {"winner": winning_side(winner)} | about
        return self._limits.build(fields)


class OpenDraft(TranscriptDraft):
    """A draft in a format that lists no players: whoever speaks, and is not the system, is one.

    Attributes:
        players: Fields of ``Player`` by name, in the order in which they first spoke.
    """

    def __init__(self, limits: Limits) -> None:
        super().__init__(Roster(()), limits)
        self.players: dict[str, dict[str, Any]] = {}

    def player(self, name: str, **known: Any) -> None:
        """Makes somebody a player and adds what is known; what was known before stays."""
        fields = self.players.setdefault(name, {"name": name})
        fields.update({key: value for key, value in known.items() if fields.get(key) is None and value is not None})

    def say(self, speaker: str, text: str, channel: Channel = "public", **about: Any) -> int:
        """Adds a message as ``TranscriptDraft.say`` does; outside the system channel its speaker becomes a player."""
        if channel != "system":
            self.player(speaker)
        return super().say(speaker, text, channel, **about)

    def tool(self, speaker: str, text: str, tool: str, sent_at: datetime | None = None) -> int:
        """Adds a call of a tool or its result, which none of the players says.

        A result that is longer than a message may be is cut: it is data, and no text by a player.
        """
        most = self._limits.message_characters
        metadata = {"characters": len(text)} if len(text) > most else {}
        text = f"{text[: most - 1]}…" if metadata else text
        name = speaker_name(tool, TOOL_CHANNEL)
        return self.say(speaker, text, "system", channel_name=name, sent_at=sent_at, metadata=metadata)

    def build_open(
        self, source_format: str, game_id: str, *, without_text: str = "Nobody speaks in it.", **about: Any
    ) -> Transcript:
        """The transcript, with the further arguments of ``build``.

        Raises:
            BrokenTranscriptError: Nobody speaks; ``without_text`` says so.
        """
        if not self.players or not self.messages:
            raise BrokenTranscriptError(without_text, remedy="Export the whole conversation.")
        return self.build(source_format, speaker_name(game_id, source_format), self.players.values(), **about)


def winning_side(winner: str | None) -> str | None:
    """``mafia`` or ``town`` where the words name one of them ("The werewolves win."), else the words themselves."""
    return alignment_of(winner) or winner or None


def broken_line(number: int, message: str, remedy: str, *, file: str = "") -> BrokenTranscriptError:
    """The error for a line of a text format, counted from 1."""
    place = f"{file}, line {number}" if file else f"line {number}"
    return BrokenTranscriptError(message, place=place, remedy=remedy)
