"""Describe what a file is recognised as, and what the metrics will lack, before anything is scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from evaluation.readers import ReadResult
from evaluation.readers.import_report import left_out_words
from evaluation.text.display import counted, quoted, shortened
from evaluation.transcript import Transcript

_MOST_NAMES = 20


def warnings_of(result: ReadResult) -> list[str]:
    """The gaps of a game, and which metric each concerns; none for what was refused."""
    if result.transcript is None:
        return []
    return [
        *result.remarks,
        *filter(None, (left_out_words(result),)),
        *_questions(result),
        *_warnings(result.transcript),
        *_left_aside(result),
    ]


def understood(transcript: Transcript) -> str:
    """Says in one line what a game was understood to hold; of what it lacks, that none was seen.

    "1 game: 2 players (Ann 12, Bob 9), 21 public messages, 3 others (3 team), rounds: none seen, ...". A vote at night
    is counted among the votes, and told.
    """
    said = Counter(message.speaker for message in transcript.discussion)
    names = [f"{shortened(name, 40)} {said[name]}" for name in transcript.player_names]
    more = [f"{len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
    others = {name: count for name, count in _channels(transcript).items() if name != "public"}
    votes = transcript.valid_votes
    at_night = sum(vote.phase == "night" for vote in votes)
    counts = (
        (len(names), "player", ", ".join((*names[:_MOST_NAMES], *more))),
        (len(transcript.messages) - sum(others.values()), "public message", ""),
        (sum(others.values()), "other message", ", ".join(f"{count:,} {name}" for name, count in others.items())),
        (len({message.round for message in transcript.messages} - {None}), "round", ""),
        (len(votes), "vote", f"{at_night:,} at night" if at_night else ""),
        (len(transcript.eliminations), "elimination", ""),
        (_with_role(transcript), "role", ""),
    )
    parts = (
        counted(count, noun) + (f" ({about})" if about else "") if count else f"{noun}s: none seen"
        for count, noun, about in counts
    )
    return f"1 game: {', '.join(parts)}."


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
        "players_with_role": game and _with_role(game),
        "messages": game and _channels(game),
        "votes": game and len(game.valid_votes),
        "eliminations": game and len(game.eliminations),
        "warnings": warnings_of(result),
        "kinds": dict(result.kinds) if game else {},
    }


def _channels(transcript: Transcript) -> dict[str, int]:
    return dict(Counter(message.channel for message in transcript.messages).most_common())


def _with_role(transcript: Transcript) -> int:
    return sum(player.role is not None for player in transcript.players)


def _questions(result: ReadResult) -> Iterator[str]:
    for question in result.questions:
        yield f"{question.words} To change it: {question.option}."


def _left_aside(result: ReadResult) -> Iterator[str]:
    if result.left_aside:
        number = counted(len(result.left_aside), "other file")
        yield f"{number} of its folder in no known format left aside: {quoted(result.left_aside)}."


def _warnings(transcript: Transcript) -> Iterator[str]:
    discussion = transcript.discussion
    if not discussion:
        yield "No player says anything in public, so no metric of the discussion will apply."
    elif len({message.speaker for message in discussion}) == 1:
        yield "Only one player speaks in public, so nobody is answered and voices cannot be compared."
    players = len(transcript.players)
    without_role = players - _with_role(transcript)
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
