"""Practice: shipped games with reference ratings, against which raters check their use of the scale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import groupby
from typing import Any

import yaml

from evaluation.errors import InfrastructureError
from evaluation.files.bundled import practice_root
from evaluation.files.yaml_data import parse_yaml
from evaluation.ratings import QUESTION_COUNT
from evaluation.transcript import Elimination, Message, Player, Transcript

FILE = "practice.yaml"
SOURCE_FORMAT = "practice"


@dataclass(frozen=True, slots=True)
class PracticeReference:
    """The rating that a practice game should get, and why.

    Attributes:
        answers: To the five questions; yes is true.
        why: The reason for the score.
        reasons: One to each answer.
    """

    score: int
    answers: tuple[bool, ...]
    why: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PracticeGame:
    """A game to practise on. Written for Dramaturg; no agent said any of it.

    Attributes:
        version: Raised when text or reference changed, so that answers are only compared with what they were about.
    """

    id: str
    version: int
    transcript: Transcript
    reference: PracticeReference


@dataclass(frozen=True, slots=True)
class PracticeRating:
    """A rater's rating of a practice game. It never counts as a rating."""

    game: str
    version: int
    rater: str
    score: int
    answers: tuple[bool | None, ...]
    comment: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class PracticeResult:
    """A rater's first ratings of the practice games beside the references.

    Attributes:
        games: How many of the shipped games the rater did.
        equal: How many got the reference's score.
        near: How many got a score at most one point away.
        bias: Mean of rater minus reference; above zero is generous.
        answered: Questions answered with yes or no.
        same_answers: How many of those as in the reference.
        latest: When the last of them was done.
    """

    rater: str
    games: int
    equal: int
    near: int
    bias: float
    answered: int
    same_answers: int
    latest: datetime


@cache
def practice_games() -> tuple[PracticeGame, ...]:
    """The shipped games, in the order in which they are practised.

    Raises:
        InfrastructureError: The file is damaged; the installation is.
    """
    path = practice_root() / FILE
    try:
        body = parse_yaml(path.read_text(encoding="utf-8"))
        return tuple(_game(entry) for entry in body["games"])
    except (OSError, KeyError, TypeError, ValueError, yaml.YAMLError) as error:
        raise InfrastructureError(
            f"The practice games cannot be read: {error}.", place=str(path), remedy="Install Dramaturg again."
        ) from None


def practice_results(ratings: Iterable[PracticeRating]) -> list[PracticeResult]:
    """Each rater's result, raters in alphabetical order; later attempts at a game do not count.

    Args:
        ratings: In the order in which they were given. Those of games or versions that are no longer shipped are left
            out.
    """
    games = {game.id: game for game in practice_games()}
    firsts: dict[tuple[str, str], PracticeRating] = {}
    for one in ratings:
        if one.game in games and games[one.game].version == one.version:
            firsts.setdefault((one.rater, one.game), one)
    ordered = [firsts[key] for key in sorted(firsts)]
    return [_result(rater, list(given), games) for rater, given in groupby(ordered, key=lambda one: one.rater)]


def _result(rater: str, given: Sequence[PracticeRating], games: Mapping[str, PracticeGame]) -> PracticeResult:
    gaps = [one.score - games[one.game].reference.score for one in given]
    pairs = [
        (answer, wanted)
        for one in given
        for answer, wanted in zip(one.answers, games[one.game].reference.answers, strict=True)
        if answer is not None
    ]
    return PracticeResult(
        rater,
        games=len(given),
        equal=gaps.count(0),
        near=sum(abs(gap) <= 1 for gap in gaps),
        bias=sum(gaps) / len(gaps),
        answered=len(pairs),
        same_answers=sum(answer == wanted for answer, wanted in pairs),
        latest=max(one.created_at for one in given),
    )


def _game(entry: Mapping[str, Any]) -> PracticeGame:
    wanted = entry["reference"]
    reference = PracticeReference(
        int(wanted["score"]), tuple(map(bool, wanted["answers"])), wanted["why"].strip(), tuple(wanted["reasons"])
    )
    if len(reference.answers) != QUESTION_COUNT or len(reference.reasons) != QUESTION_COUNT:
        raise ValueError(f"{entry['id']} does not answer {QUESTION_COUNT} questions")
    transcript = Transcript(
        game_id=entry["id"],
        source_format=SOURCE_FORMAT,
        language="en",
        players=tuple(Player(name=name) for name in entry["players"]),
        messages=tuple(
            Message(id=f"m{index}", index=index, round=round_, speaker=speaker, text=text)
            for index, (round_, speaker, text) in enumerate(entry["messages"])
        ),
        eliminations=tuple(Elimination(round=round_, player=player) for round_, player in entry["left"]),
    )
    return PracticeGame(str(entry["id"]), int(entry["version"]), transcript, reference)
