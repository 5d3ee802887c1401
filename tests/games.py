"""Short ways to write down a game and its scores."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.verdict import MetricScore
from evaluation.score import Status
from evaluation.transcript import Message, Player, Transcript

Line = tuple[str, str] | tuple[str, str, Mapping[str, Any]]
"""Speaker and text, and further fields of the message."""


def game_of(
    said: Sequence[Line], players: Sequence[str] | Mapping[str, Mapping[str, Any]] = (), **fields: Any
) -> Transcript:
    """A game in which this is said; messages are called m0, m1, ...

    Args:
        said: Its messages.
        players: Names, or further fields by name; whoever speaks outside the system channel when left out.
        fields: Of the transcript; ``round`` is that of all messages.
    """
    number = fields.pop("round", None)
    messages = tuple(
        Message(
            **{"id": f"m{at}", "index": at, "round": number, "speaker": who, "text": text, **(more[0] if more else {})}
        )
        for at, (who, text, *more) in enumerate(said)
    )
    known = players if isinstance(players, Mapping) else {name: {} for name in players}
    speakers = [one.speaker for one in messages if one.channel != "system"]
    known = known or {name: {} for name in speakers}
    given = {"game_id": "g", "source_format": "test", "messages": messages} | fields
    return Transcript(players=tuple(Player(name=name, **more) for name, more in known.items()), **given)


def discussion(
    said: Sequence[tuple[str, str]],
    *,
    players: Sequence[str] = (),
    replies: Mapping[int, str] | None = None,
    private: Sequence[tuple[str, str]] = (),
    language: str | None = None,
    rounds: Sequence[int] = (),
) -> Transcript:
    """A game with these messages, those in private last.

    Args:
        said: Its public messages.
        players: Names of those who do not speak, or speak later than their order is.
        replies: Place of a message -> id of the one that it answers.
        private: What is said in private afterwards.
        language: Of the game.
        rounds: That of each message.
    """
    lines = [
        (
            who,
            text,
            {
                "round": rounds[place] if rounds else None,
                "channel": "public" if place < len(said) else "private",
                "reply_to": (replies or {}).get(place),
            },
        )
        for place, (who, text) in enumerate([*said, *private])
    ]
    names = list(dict.fromkeys([*players, *(line[0] for line in lines)]))
    return game_of(lines, names, game_id="game", source_format="native", language=language)


def scores_of(values: Mapping[str, float | None], missing: Status = Status.PENDING) -> dict[str, MetricScore]:
    """Scores by metric, each against the rubric's threshold; what has no score has the status that is given."""
    scores = {}
    for name, value in values.items():
        threshold = DEFINITIONS[name].threshold
        status = missing if value is None else Status.PASSED if value >= threshold else Status.FAILED
        scores[name] = MetricScore(status, value, threshold)
    return scores
