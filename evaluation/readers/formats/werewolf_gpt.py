"""Reads the recorded play of Werewolf GPT: a Markdown page of one game of One Night Ultimate Werewolf.

Thoughts ("***Radu (thoughts as Mason):*** ...") are private messages, quotes ("> **Radu:** ...") public ones, and the
answers to the vote ("> **Radu [Mason]:** I am voting for Dracula") votes. One Night has one round, round 1, with the
phases night, day and vote. Roles are the cards dealt. What the page tells about the night without being said by anyone
is kept as ``metadata["night"]``.
"""

from __future__ import annotations

import re
from typing import Any

from evaluation.errors import BrokenTranscriptError
from evaluation.files.strict_json import shorten
from evaluation.readers._draft import VOTE_CHANNEL, Roster, TranscriptDraft, alignment_of, broken_line
from evaluation.readers.document import Document, FileReader
from evaluation.transcript import Transcript

FORMAT = "werewolf-gpt"

_TITLE = "# Werewolf GPT"
_GAME = "GAME"
_PLAYER = re.compile(r"Player number \d+ is named \*\*([^*]+)\*\*, and they have the \*\*\*([^*]+)\*\*\* card")
_PHASE = re.compile(r"#+ The \*\*\*([A-Z]+)\*\*\* phase")
_CARD = re.compile(r"\*\*\*([^*]+)\*\*\*")
_COUNT = re.compile(r"\* ([^:]+) : ([^:]+) : (\d{1,6})\s*\Z")
_VOTING_FOR = "voting for "
_CENTER = "The cards face-down"
_DETAILS = "## Run Details"


def _recognises(document: Document) -> bool:
    return document.text.lstrip().startswith(_TITLE) or (
        "***GAME:***" in document.text and "Player number " in document.text
    )


def _read(document: Document) -> Transcript:
    document.limits.check_lines(document.text)
    play, _, details = document.text.partition(f"\n{_DETAILS}")
    run, notes = _run_details(details)
    players = {match[1].strip(): match[2].strip() for match in _PLAYER.finditer(play)}
    if not players:
        message = 'No player is introduced ("Player number 1 is named ...").'
        raise BrokenTranscriptError(message, remedy="Choose the whole page.")
    page = _Page(TranscriptDraft(Roster(players), document.limits))
    for number, line in enumerate(play.split("\n"), start=1):
        page.add(number, line.rstrip())
    held = [_player(name, role, run.get("Model"), page) for name, role in players.items()]
    metadata = page.facts | {"run_details": run, "notes": notes}
    return page.draft.build(FORMAT, document.game_id(FORMAT), held, winner=page.winner, metadata=metadata)


def _player(name: str, role: str, model: str | None, page: _Page) -> dict[str, Any]:
    is_alive = not any(elimination["player"] == name for elimination in page.draft.eliminations)
    return {"name": name, "role": role, "alignment": alignment_of(role), "model": model, "is_alive": is_alive}


def _run_details(details: str) -> tuple[dict[str, str], str]:
    """The listed parameters, and whatever was written below them."""
    listed, _, notes = details.partition("\n#")
    pairs = (line[2:].partition(": ") for line in listed.split("\n") if line.startswith("* "))
    return {key: value.strip() for key, _, value in pairs}, notes.lstrip("# ").strip()


class _Page:
    """Goes through the page line by line."""

    def __init__(self, draft: TranscriptDraft) -> None:
        self.draft = draft
        self.winner: str | None = None
        self.facts: dict[str, Any] = {"cards": [], "center_cards": [], "night": [], "vote_counts": {}}
        self._roles: dict[str, str] = {}
        self._open: int | None = None

    def add(self, number: int, line: str) -> None:
        """Adds one line."""
        if phase := _PHASE.match(line):
            self.draft.round, self.draft.phase = 1, phase[1].lower()
            self._open = None
        elif not line.strip() or line.startswith("---"):
            # In the day, what stands alone after a blank line is a speaker's next paragraph.
            self._open = self._open if self.draft.phase == "day" else None
        elif line.startswith((">", "***")):
            self._spoken(number, line.lstrip("> "))
        elif self._open is not None and not line.startswith("#"):
            self.draft.continue_message(self._open, line)
        else:
            self._told(line)

    def _spoken(self, number: int, line: str) -> None:
        stars = "***" if line.startswith("***") else "**"
        head, mark, text = line.removeprefix(stars).partition(f":{stars}")
        if not line.startswith("**") or not mark:
            self._continue(number, line)
        elif head == _GAME:
            self._open = None
            self._announce(text.strip())
        elif stars == "***":
            self._think(number, head, text.strip())
        else:
            self._quote(number, head, text.strip())

    def _continue(self, number: int, line: str) -> None:
        if self._open is None:
            raise broken_line(number, f'"{shorten(line)}" has no speaker.', 'Write "> **Name:** text".')
        self.draft.continue_message(self._open, line)

    def _think(self, number: int, head: str, text: str) -> None:
        name, _, role = head.partition(" (thoughts as ")
        metadata = {"thinks_as": role.removesuffix(")")} if role else {}
        if len(text) > 2 and text.startswith("*") and text.endswith("*"):
            text = text[1:-1]
        self._open = self.draft.say(
            self._player(name, number), text, "private", channel_name="thoughts", metadata=metadata
        )

    def _quote(self, number: int, head: str, text: str) -> None:
        name, bracket, role = head.partition(" [")
        speaker = self._player(name, number)
        if self.draft.phase != "vote":
            self._open = self.draft.say(speaker, text, "public")
            return
        metadata = {"role": role.removesuffix("]")} if bracket else {}
        self._open = self.draft.say(speaker, text, "system", channel_name=VOTE_CHANNEL, metadata=metadata)
        target = text.partition(_VOTING_FOR)[2].strip(" .!*")
        if target:
            self.draft.vote(speaker, self._player(target, number))

    def _announce(self, text: str) -> None:
        """A line of the game itself; at the end it tells who died and who won."""
        self.draft.say(_GAME, text, "system")
        for marker in (" was killed", " were killed"):
            killed, found, rest = text.partition(marker)
            if not found:
                continue
            self.winner = rest.lstrip(". ") or None
            for name in killed.replace(" and ", ",").split(","):
                if player := self.draft.roster.find(name.strip()):
                    self.draft.eliminate(player, role=self._roles.get(player))

    def _told(self, line: str) -> None:
        """A line that nobody says: cards, what happened at night, counts of votes."""
        if count := _COUNT.match(line):
            self._roles[count[1]] = count[2]
            self.facts["vote_counts"][count[1]] = int(count[3])
        elif line.startswith(_CENTER):
            self.facts["center_cards"] = _CARD.findall(line)
        elif line.startswith("* ") and self.draft.phase is None:
            self.facts["cards"].append(line[2:].strip())
        elif self.draft.phase == "night":
            self.facts["night"].append(line)

    def _player(self, name: str, number: int) -> str:
        player = self.draft.roster.find(name.strip())
        if player is None:
            message = f"{shorten(name.strip())!r} is not among the players ({self.draft.roster})."
            raise broken_line(number, message, "Correct the name, or add the player's line at the top.")
        return player


READER = FileReader(FORMAT, _recognises, _read)
