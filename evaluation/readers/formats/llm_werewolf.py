"""Reads the matches of llm-werewolf: JSON with ``chat[{from, to[], content, character, phase}]`` and ``players``.

Two versions of the shape are about: the older has no ``phase``; the newer leaves ``character`` out of introductions and
calls the vote of the day ``night``. So rounds and phases come from the moderator's lines in both: introductions and the
first night are round 0, the first day is round 1, and a night belongs to the round of the day before it.

Recipients decide the channel: what reaches all the living is public (they become fewer with every death), what reaches
only the werewolves is team talk, anything narrower is private. Answers to a call for votes, and bare names at any time,
are ballots, not talk; so is the engine's placeholder "failed to respond" no talk. Which vote counted is what the
moderator then says; who answered and was not counted abstained. Players who imitate the moderator are still players.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.files.strict_json import shorten
from evaluation.readers._draft import VOTE_CHANNEL, Roster, TranscriptDraft, alignment_of, is_abstention, is_moderator
from evaluation.readers.document import Document, FileReader, Node
from evaluation.transcript import Alignment, Channel, Transcript

FORMAT = "llm-werewolf"

_NO_ANSWER = "failed to respond"
_NIGHT = ("it is now night time", "night falls")
_DAY = ("it is now day time", "day breaks")
_CALLS_FOR_VOTES = ("time to vote", "please vote by")
_VOTED = " has voted to "
_ABSTAINED = " abstained"
_LONGEST_NAME_GUESSED = 60
_TALLY = ". The current tally"
_DEATHS = {
    " has been killed": "night",
    " was found dead": "night",
    " has been lynched": "day",
    " has been eliminated by vote": "day",
}
_NAME_OR_PLAYER = "Correct the name, or add the player to $.players."


def _recognises(document: Document) -> bool:
    return isinstance(document.json, dict) and "chat" in document.json and "players" in document.json


def _read(document: Document) -> Transcript:
    root = Node(document.json)
    players = [_player(name, node) for name, node in root["players"].members()]
    game = _Game(players, TranscriptDraft(Roster(player["name"] for player in players), document.limits))
    for node in root["chat"].entries():
        game.add(node)
    game.close_vote()
    winner = root["winner"].text_or_none()
    metadata = root.rest("players", "chat", "winner") | {"winner": winner}
    return game.draft.build(FORMAT, document.game_id(FORMAT), players, winner=winner, metadata=metadata)


def _player(name: str, node: Node) -> dict[str, Any]:
    role = node["character"].text_or_none()
    return {
        "name": Node(name, node.path).name(),
        "role": role,
        "alignment": alignment_of(role),
        "model": node["model"].text_or_none(),
        "is_alive": node["is_alive"].flag_or_none(),
        "metadata": node.rest("character", "model", "is_alive"),
    }


class _Game:
    """Follows the game through its lines: who lives, which phase it is, whose vote is awaited."""

    def __init__(self, players: list[dict[str, Any]], draft: TranscriptDraft) -> None:
        self.draft = draft
        self.draft.round, self.draft.phase = 0, "intro"
        self._sides: Mapping[str, Alignment | None] = {player["name"]: player["alignment"] for player in players}
        self._roles = {player["name"]: player["role"] for player in players}
        self._living = set(self._sides)
        self._is_vote = False
        self._ballots: dict[str, str] = {}

    def add(self, node: Node) -> None:
        """Adds one line of the chat."""
        written = node["from"].name()
        text = node["content"].text()
        recipients = _recipients(node["to"], self.draft.roster)
        speaker = self.draft.roster.find(written)
        if speaker:
            self._talk(speaker, text, recipients, node)
        elif is_moderator(written):
            self._moderate(written, text, recipients, node)
        else:
            raise node["from"].wrong(f"one of the players ({self.draft.roster})", remedy=_NAME_OR_PLAYER)

    def _talk(self, speaker: str, text: str, recipients: tuple[str, ...], node: Node) -> None:
        channel, channel_name = self._channel(speaker, set(recipients) | {speaker})
        if self._is_vote or self._is_bare_name(text):
            channel, channel_name = "system", VOTE_CHANNEL
        elif text.strip().casefold() == _NO_ANSWER:
            channel, channel_name = "system", "no answer"
        if self._is_vote:
            self._ballots[speaker] = text
        metadata = self._metadata(node, speaker)
        self.draft.say(speaker, text, channel, channel_name=channel_name, recipients=recipients, metadata=metadata)

    def _channel(self, speaker: str, hearers: set[str]) -> tuple[Channel, str | None]:
        others = self._living - {speaker}
        # By day most will do: a death that the moderator tells in unknown words leaves too many counted as living.
        reaches_most = self.draft.phase != "night" and len(hearers & others) * 2 > len(others)
        if hearers >= others or reaches_most:
            return "public", None
        if len(hearers) > 1 and {self._sides.get(hearer) for hearer in hearers} == {self._sides[speaker]}:
            return "team", self._sides[speaker]
        # The last werewolf alone at night speaks to the team that is left.
        if self.draft.phase == "night" and hearers == {speaker} and self._sides[speaker] == "mafia":
            return "team", "mafia"
        return "private", None

    def _is_bare_name(self, text: str) -> bool:
        bare = text.strip().removeprefix("\\boxed{").strip("}*\"'.! ")
        return self.draft.roster.find(bare) is not None or bare.casefold() == "abstain"

    def _metadata(self, node: Node, speaker: str | None) -> dict[str, Any]:
        """Fields that the model has no place for, without a role and phase that only repeat what is known."""
        metadata = node.rest("from", "to", "content", "phase", "character")
        role, phase = node["character"].text_or_none(), node["phase"].text_or_none()
        if speaker and role and role != self._roles[speaker]:
            metadata["character"] = role
        if phase and phase != self.draft.phase:
            metadata["phase"] = phase
        return metadata

    def _moderate(self, name: str, text: str, recipients: tuple[str, ...], node: Node) -> None:
        lowered = text.casefold()
        if self._tells_vote(text):
            self._record_vote(text, node)
        elif victim := self._victim(text):
            self._record_death(*victim)
        if lowered.startswith(_DAY):
            self.close_vote()
            self.draft.round, self.draft.phase = (self.draft.round or 0) + 1, "day"
        elif lowered.startswith(_NIGHT):
            self.close_vote()
            self.draft.phase = "night"
        elif any(call in lowered for call in _CALLS_FOR_VOTES):
            self._is_vote = True
        metadata = self._metadata(node, None)
        self.draft.say(name, text, "system", recipients=recipients, metadata=metadata)

    def _tells_vote(self, text: str) -> bool:
        """Whether the line begins with a name and says what that player voted, unlike a sentence of the rules."""
        name, voted, _ = text.partition(_VOTED)
        if not voted:
            name, voted, _ = text.rstrip(".").partition(_ABSTAINED)
        is_short = len(name) <= _LONGEST_NAME_GUESSED and "\n" not in name and ". " not in name
        return bool(voted) and (is_short or self.draft.roster.find(name) is not None)

    def _record_vote(self, text: str, node: Node) -> None:
        written, voted, rest = text.partition(_VOTED)
        voter = self._named(written if voted else text.partition(_ABSTAINED)[0], node)
        target = rest.partition(" ")[2].partition(_TALLY)[0].strip().removesuffix(".")
        ballot = self._ballots.pop(voter, "")
        nobody = not voted or (self.draft.roster.find(target) is None and is_abstention(target))
        justification = ballot if ballot and not self._is_bare_name(ballot) else None
        self.draft.vote(voter, None if nobody else self._named(target, node), justification=justification)

    def _named(self, written: str, node: Node) -> str:
        player = self.draft.roster.find(written)
        if player is None:
            path = node["content"]
            raise Node(shorten(written), path.path).wrong(
                f"one of the players ({self.draft.roster}) in the vote", remedy=_NAME_OR_PLAYER
            )
        return player

    def _victim(self, text: str) -> tuple[str, str] | None:
        """The player whose death the moderator tells, and the phase in which it happened."""
        for words, phase in _DEATHS.items():
            before, found, _ = text.partition(words)
            if found:
                dead = [name for name in self._sides if before.endswith(name)]
                return (max(dead, key=len), phase) if dead else None
        return None

    def _record_death(self, player: str, phase: str) -> None:
        self.close_vote()
        now, self.draft.phase = self.draft.phase, phase
        self.draft.eliminate(player)
        self.draft.phase = now
        self._living.discard(player)

    def close_vote(self) -> None:
        """Ends a call for votes: who answered it without being counted has abstained."""
        for voter, ballot in self._ballots.items():
            justification = None if self._is_bare_name(ballot) else ballot
            self.draft.vote(voter, None, justification=justification)
        self._ballots.clear()
        self._is_vote = False


def _recipients(node: Node, roster: Roster) -> tuple[str, ...]:
    if isinstance(node.value, str):
        return (roster.find(node.name()) or node.name(),)
    names = (entry.name() for entry in node.entries())
    return tuple(dict.fromkeys(roster.find(name) or name for name in names))


READER = FileReader(FORMAT, _recognises, _read)
