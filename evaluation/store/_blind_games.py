"""Games as the desk shows them: what could sway a rater is not read from the database at all."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import count

from evaluation.escaping import well_formed
from evaluation.store.transactions import Units
from evaluation.store.transcripts import require_transcript
from evaluation.transcript import Elimination, Message, Player, Transcript

_NAMELESS = "game"


_NOBODY = "-"


class BlindGames:
    """Reads public messages and who left the game, and nothing else about a transcript."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def get(self, transcript_id: str) -> Transcript:
        """The transcript without anything that could sway a rater.

        Messages that the rater may not see are empty system messages: their rounds say where eliminations belong.
        Players stand in the order in which they first speak, for a roster may be sorted by role; message ids are new.
        A speaker whose name says what the desk withholds (``human``, ``assistant``, the model, the role) is called
        "Speaker 1" and so on. What the messages themselves say stays as it is.

        Raises:
            NotFoundError: The transcript is not stored.
        """
        key = well_formed(transcript_id)
        with self._units.unit() as cursor:
            require_transcript(cursor, key)
            spoken = cursor.execute(_MESSAGES, [key]).fetchall()
            left = cursor.execute(_ELIMINATIONS, [key]).fetchall()
            telling = {name for (name,) in cursor.execute(_TELLING_NAMES, [key]).fetchall()}
        speakers = [speaker for speaker, _, _, _, is_open in spoken if is_open]
        names = list(dict.fromkeys([*speakers, *(player for player, _, _ in left)])) or [_NOBODY]
        called = _called(names, telling)
        return Transcript(
            game_id=_NAMELESS,
            source_format=_NAMELESS,
            players=tuple(Player(name=called[name]) for name in names),
            messages=tuple(_message(index, called.get(row[0], _NOBODY), *row[1:]) for index, row in enumerate(spoken)),
            eliminations=tuple(
                Elimination(player=called[who], round=round_, phase=phase) for who, round_, phase in left
            ),
        )


def _called(names: Sequence[str], telling: Collection[str]) -> dict[str, str]:
    """The names at the desk: numbers for telling names; a player with a neutral name keeps it."""
    kept = {name for name in names if name not in telling}
    numbered = (f"Speaker {number}" for number in count(1) if f"Speaker {number}" not in kept)
    return {name: name if name in kept else next(numbered) for name in names}


def _message(index: int, speaker: str, text: str, round_: int | None, phase: str | None, is_open: bool) -> Message:
    return Message(
        id=f"m{index}",
        index=index,
        round=round_,
        phase=phase,
        channel="public" if is_open else "system",
        speaker=speaker if is_open else _NOBODY,
        text=text if is_open else "",
    )


_MESSAGES = """
SELECT CASE WHEN is_open THEN speaker END, CASE WHEN is_open THEN text END, round, phase, is_open
FROM (SELECT *, channel = 'public' AND NOT is_control AS is_open FROM messages WHERE transcript_id = ?)
ORDER BY position
"""


_TELLING_NAMES = """
SELECT name FROM players
WHERE transcript_id = ?
    AND lower(name) IN ('human', 'user', 'assistant', 'ai', 'bot', 'gpt', 'chatgpt', 'llm', 'model', lower(model),
                        lower(role), lower(alignment))
"""


_ELIMINATIONS = "SELECT player, round, phase FROM eliminations WHERE transcript_id = ? ORDER BY position"
