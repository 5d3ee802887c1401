"""A transcript under construction in a format that lists no players: whoever speaks, and is not the system, is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from evaluation.errors import BrokenTranscriptError
from evaluation.readers.base.limits import Limits
from evaluation.readers.base.roster import Roster
from evaluation.readers.base.transcript_draft import TranscriptDraft
from evaluation.transcript import Channel, Transcript

TOOL_CHANNEL = "tool"
_LONGEST_NAME = 200


def speaker_name(written: str, default: str) -> str:
    """A name as a transcript may hold it: one line of 200 characters at most; the default where nothing is left."""
    return " ".join(written.split())[:_LONGEST_NAME].strip() or default


class OpenDraft:
    """Collects messages and the players that speak them.

    Attributes:
        draft: The messages so far; its round and phase are given to the next.
        players: Fields of ``Player`` by name, in the order in which they first spoke.
    """

    def __init__(self, limits: Limits) -> None:
        self.draft = TranscriptDraft(Roster(()), limits)
        self.players: dict[str, dict[str, Any]] = {}
        self._limits = limits

    def player(self, name: str, **known: Any) -> None:
        """Makes somebody a player and adds what is known; what was known before stays."""
        fields = self.players.setdefault(name, {"name": name})
        self._limits.check_players(len(self.players))
        fields.update({key: value for key, value in known.items() if fields.get(key) is None and value is not None})

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
        """Adds a message and returns its index; outside the system channel its speaker becomes a player."""
        if channel != "system":
            self.player(speaker)
        return self.draft.say(
            speaker,
            text,
            channel,
            channel_name=channel_name,
            recipients=recipients,
            sent_at=sent_at,
            reply_to=reply_to,
            metadata=metadata,
        )

    def tool(self, speaker: str, text: str, tool: str, sent_at: datetime | None = None) -> int:
        """Adds a call of a tool or its result, which none of the players says.

        A result that is longer than a message may be is cut: it is data, and no text by a player.
        """
        most = self._limits.message_characters
        metadata = {"characters": len(text)} if len(text) > most else {}
        return self.say(
            speaker,
            text if not metadata else f"{text[: most - 1]}…",
            "system",
            channel_name=speaker_name(tool, TOOL_CHANNEL),
            sent_at=sent_at,
            metadata=metadata,
        )

    def build(
        self,
        source_format: str,
        game_id: str,
        metadata: Mapping[str, Any],
        *,
        started_at: datetime | None = None,
        cost: Mapping[str, Any] | None = None,
        without_text: str = "Nobody speaks in it.",
        remedy: str = "Export the whole conversation.",
    ) -> Transcript:
        """The transcript.

        Raises:
            BrokenTranscriptError: Nobody speaks; ``without_text`` and ``remedy`` say so.
        """
        if not self.players or not self.draft.messages:
            raise BrokenTranscriptError(without_text, remedy=remedy)
        return self.draft.build(
            game_id=speaker_name(game_id, source_format),
            source_format=source_format,
            players=list(self.players.values()),
            winner=None,
            metadata=metadata,
            started_at=started_at,
            cost=cost,
        )
