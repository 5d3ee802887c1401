"""Edit transcripts as they are read: leave out what tools were asked and answered, and rename agents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from evaluation.errors import BrokenTranscriptError, InputError
from evaluation.escaping import lone_surrogate, well_formed
from evaluation.files.strict_json import shorten
from evaluation.readers.base.results import ReadResult
from evaluation.text.display import counted
from evaluation.transcript import Message, Transcript, build_transcript

_TOOL_CHANNEL = "tool"
# These put every tool into a channel of its name.
_NAMED_BY_TOOL = frozenset({"opentelemetry", "phoenix", "langfuse", "langsmith", "langgraph", "autogen"})
_NO_TOOLS = frozenset({None, "context", "thoughts", "hand-off"})
_MOST_NAMES = 20
_LONGEST_NAME = 200


@dataclass(slots=True)
class EditCounts:
    """Counts of what was edited.

    Attributes:
        tool_entries: Messages that were left out.
        renamed: In how many games each old name became the new one.
    """

    tool_entries: int = 0
    renamed: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class TranscriptEdits:
    """Changes to transcripts as they are read; what they changed stands in the game's metadata.

    Attributes:
        leaves_out_tools: Whether calls of tools and their results are left out.
        renames: New names by old ones. Names inside texts stay as they were written.
    """

    leaves_out_tools: bool = False
    renames: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_nothing(self) -> bool:
        """Whether transcripts stay as they are."""
        return not self.leaves_out_tools and not self.renames

    def applied(self, results: Iterable[ReadResult], counts: EditCounts | None = None) -> Iterator[ReadResult]:
        """The results with each transcript edited; one that cannot be is refused and says why."""
        counts = EditCounts() if counts is None else counts
        for result in results:
            if result.transcript is None or self.is_nothing:
                yield result
                continue
            try:
                yield replace(result, transcript=self._edited(result.transcript, counts))
            except InputError as error:
                yield replace(result, transcript=None, error=error)

    def check_names(self, names: Iterable[str]) -> None:
        """Refuses an old name that is none of ``names``.

        Raises:
            InputError: There is no such name; says which there are.
        """
        known = dict.fromkeys(names)
        for old in self.renames:
            if old not in known:
                shown = ", ".join(shorten(name) for name in list(known)[:_MOST_NAMES]) or "none"
                raise InputError(
                    f"No agent is called {shorten(old)!r}; there are {shown}.",
                    place=f"{old}={self.renames[old]}",
                    remedy="Write the name as it stands in the file.",
                )

    def _edited(self, transcript: Transcript, counts: EditCounts) -> Transcript:
        kept = [one for one in transcript.messages if not (self.leaves_out_tools and is_tool_entry(transcript, one))]
        left_out = len(transcript.messages) - len(kept)
        if not kept:
            raise BrokenTranscriptError(
                "Nothing is left without the entries of tools.", remedy="Read it with them, or leave it out."
            )
        present = {name for name in _names(transcript) if name in self.renames}
        if not left_out and not present:
            return transcript
        _check_clashes(transcript, {old: self.renames[old] for old in present})
        new = self.renames
        fields: dict[str, Any] = {name: getattr(transcript, name) for name in Transcript.model_fields}
        about: dict[str, Any] = {"tool_entries_left_out": left_out} if left_out else {}
        if present:
            about["renamed"] = {old: new[old] for old in sorted(present)}
        fields |= {
            "players": [one.model_copy(update={"name": new.get(one.name, one.name)}) for one in transcript.players],
            "messages": [_renamed(message, index, new) for index, message in enumerate(kept)],
            "votes": [
                one.model_copy(update={"voter": new.get(one.voter, one.voter), "target": _new(one.target, new)})
                for one in transcript.votes
            ],
            "eliminations": [
                one.model_copy(update={"player": new.get(one.player, one.player)}) for one in transcript.eliminations
            ],
            # A side that won keeps its name.
            "winner": new[transcript.winner] if transcript.winner in present else transcript.winner,
            "metadata": {**transcript.metadata, **about},
        }
        made = build_transcript(Transcript, fields)
        counts.tool_entries += left_out
        counts.renamed.update(present)
        return made


def is_tool_entry(transcript: Transcript, message: Message) -> bool:
    """Whether a message is a call of a tool or its result, which the readers put into the system channel."""
    if message.channel != "system":
        return False
    is_named = transcript.source_format in _NAMED_BY_TOOL and message.channel_name not in _NO_TOOLS
    return is_named or message.channel_name == _TOOL_CHANNEL


def parse_renames(pairs: Iterable[str]) -> dict[str, str]:
    """New names by old ones, of pairs ``OLD=NEW``; empty ones are passed over.

    Raises:
        InputError: A pair lacks the ``=`` or a name, a name is too long or not valid UTF-8, or an old name stands
            twice.
    """
    found: dict[str, str] = {}
    for pair in filter(str.strip, pairs):
        if lone_surrogate(pair) is not None:
            raise InputError(
                "A name is not valid UTF-8.", place=well_formed(pair), remedy="Write it in a terminal that uses UTF-8."
            )
        old, _, new = (part.strip() for part in pair.partition("="))
        if not (old and new) or len(new) > _LONGEST_NAME:
            raise InputError(
                f"{shorten(pair)!r} is not of the form OLD=NEW, with a new name of at most {_LONGEST_NAME} characters."
            )
        if old in found:
            raise InputError(f"{shorten(old)!r} is renamed twice.", remedy="Give each agent one new name.")
        found[old] = new
    return found


def edit_words(edits: TranscriptEdits, counts: EditCounts) -> str:
    """A sentence on what was edited; empty where nothing was asked for."""
    parts = []
    if edits.leaves_out_tools:
        parts.append(f"{counted(counts.tool_entries, 'tool message')} left out")
    for old, new in edits.renames.items():
        parts.append(f"{old} is called {new} in {counted(counts.renamed[old], 'game')}")
    return f"{'; '.join(parts)}." if parts else ""


def _names(transcript: Transcript) -> Iterator[str]:
    yield from transcript.player_names
    yield from (message.speaker for message in transcript.messages)


def agent_names(results: Iterable[ReadResult]) -> list[str]:
    """The names of all players and speakers, in the order in which they are met."""
    found: dict[str, None] = {}
    for result in results:
        if result.transcript is not None:
            found.update(dict.fromkeys(_names(result.transcript)))
    return list(found)


def _check_clashes(transcript: Transcript, renames: Mapping[str, str]) -> None:
    """Refuses to give two of a game's agents one name."""
    taken: dict[str, str] = {}
    for name in dict.fromkeys(_names(transcript)):
        new = renames.get(name, name)
        if new in taken:
            raise BrokenTranscriptError(
                f"{shorten(taken[new])} and {shorten(name)} would both be called {shorten(new)!r}.",
                remedy="Choose names that nobody else in the game has.",
            )
        taken[new] = name


def _renamed(message: Message, index: int, new: Mapping[str, str]) -> Message:
    recipients = tuple(new.get(one, one) for one in message.recipients)
    speaker = new.get(message.speaker, message.speaker)
    return message.model_copy(update={"index": index, "speaker": speaker, "recipients": recipients})


def _new(name: str | None, new: Mapping[str, str]) -> str | None:
    return None if name is None else new.get(name, name)
