"""Describe what a file is recognised as, and what the metrics will lack, before anything is scored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evaluation.readers import ReadResult, by_channel, with_role
from evaluation.readers.import_report import left_out_words
from evaluation.text.display import counted, quoted
from evaluation.transcript import Transcript


def warnings_of(result: ReadResult) -> list[str]:
    """The gaps of a game, and which metric each concerns; of one that waits for an answer, what was settled."""
    if result.transcript is None:
        return list(result.remarks)
    found = [*result.remarks, *filter(None, (left_out_words(result),))]
    found += [f"{question.words} To change it: {question.option}." for question in result.questions]
    found += gaps(result.transcript)
    if aside := result.left_aside:
        number = counted(len(aside), "other file")
        found.append(f"{number} of its folder in no known format left aside: {quoted(aside)}.")
    return found


def as_dict(result: ReadResult) -> dict[str, Any]:
    """A result as JSON-compatible data; a refusal is ``error``, and has no counts."""
    error, game = result.error, result.transcript
    return {
        "name": result.name,
        "format": result.format,
        "is_usable": game is not None,
        "error": error and {"message": error.message, "place": error.place, "remedy": error.remedy},
        "game_id": game and game.game_id,
        "players": game and len(game.players),
        "players_with_role": game and with_role(game),
        "messages": game and by_channel(game),
        "votes": game and len(game.valid_votes),
        "eliminations": game and len(game.eliminations),
        "warnings": warnings_of(result),
        "kinds": dict(result.kinds) if game else {},
    }


def gaps(transcript: Transcript) -> Iterator[str]:
    """Sentences on what the metrics will lack, in our own words only."""
    discussion = transcript.discussion
    if not discussion:
        yield "No player says anything in public, so no metric of the discussion will apply."
    elif len({message.speaker for message in discussion}) == 1:
        yield "Only one player speaks in public, so nobody is answered and voices cannot be compared."
    players = len(transcript.players)
    without_role = players - with_role(transcript)
    if without_role == players:
        yield "No role was found, so role consistency will not apply."
    elif without_role:
        yield f"{without_role} of {players} players {_have(without_role)} no role."
    if not transcript.votes:
        yield "No votes were found, so memory accuracy cannot verify claims about them."
    if discussion and all(message.reply_to is None for message in discussion):
        yield "No message says which one it answers, so coherence rests on names and words alone."
    timeless = sum(message.sent_at is None for message in transcript.messages)
    if timeless == len(transcript.messages):
        yield "No message has a time."
    elif timeless:
        yield f"{counted(timeless, 'message')} {_have(timeless)} no time."
    if transcript.cost is None or not transcript.cost.is_known:
        yield "The cost is unknown, so it cannot be judged."


def _have(count: int) -> str:
    return "has" if count == 1 else "have"
