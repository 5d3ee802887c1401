"""Shares of words and turns by player, and their inequality; filters for the messages that are counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evaluation.insight._judge_text import spoken
from evaluation.transcript import Message, Transcript


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """The messages that figures are about; ``None`` leaves nothing out.

    Attributes:
        channel: "public", "team" or "private".
        round: The round's number.
    """

    channel: str | None = None
    round: int | None = None

    def accepts(self, message: Message) -> bool:
        """Whether the message is counted."""
        is_channel = self.channel is None or message.channel == self.channel
        return is_channel and (self.round is None or message.round == self.round)

    def part_of(self, transcript: Transcript) -> Transcript | None:
        """The transcript with these messages only; ``None`` without any. What they answer may be missing in it."""
        if self == EVERYTHING:
            return transcript
        kept = [message for message in transcript.messages if self.accepts(message)]
        if not kept:
            return None
        fields = {name: getattr(transcript, name) for name in Transcript.model_fields}
        messages = tuple([one.model_copy(update={"index": place}) for place, one in enumerate(kept)])
        return Transcript.model_validate({**fields, "messages": messages, "votes": (), "eliminations": ()})


EVERYTHING = MessageFilter()


@dataclass(frozen=True, slots=True)
class TalkShares:
    """The words and turns of every player.

    Attributes:
        words: Words by player, silent ones included.
        turns: Turns by player: messages in a row by the same player are one.
    """

    words: Mapping[str, int]
    turns: Mapping[str, int]

    def share_of_words(self, player: str) -> float | None:
        """The player's share of all words, 0 to 1; ``None`` without words."""
        total = sum(self.words.values())
        return self.words[player] / total if total else None

    def domination(self, player: str) -> float | None:
        """The player's share of words relative to an even share: 1 is even, 2 twice as much; ``None`` without words."""
        share = self.share_of_words(player)
        return None if share is None else share * len(self.words)


def talk_shares(transcript: Transcript, only: MessageFilter = EVERYTHING) -> TalkShares:
    """The shares of a game, of what players said to others."""
    words = dict.fromkeys(transcript.player_names, 0)
    turns = dict.fromkeys(transcript.player_names, 0)
    last = None
    for message in spoken(transcript):
        if only.accepts(message):
            words[message.speaker] += len(message.text.split())
            turns[message.speaker] += message.speaker != last
            last = message.speaker
    return TalkShares(words, turns)
