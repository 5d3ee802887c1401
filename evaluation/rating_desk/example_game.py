"""The shipped game with an explained rating, from which raters learn the use of the scale."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import yaml

from evaluation.errors import InfrastructureError
from evaluation.files.bundled import parse_yaml, practice_root
from evaluation.ratings import QUESTION_COUNT

FILE = "practice.yaml"


@dataclass(frozen=True, slots=True)
class ExampleGame:
    """A game to practise on, with the rating that it should get. Written for Dramaturg; no agent said any of it.

    Attributes:
        messages: Round, speaker and text of each, in order.
        left: The player who left the game after a round.
        score: What it should get.
        why: The reason for the score.
        answers: To the five questions; yes is true.
        reasons: One to each answer.
    """

    messages: tuple[tuple[int, str, str], ...]
    left: tuple[tuple[int, str], ...]
    score: int
    why: str
    answers: tuple[bool, ...]
    reasons: tuple[str, ...]


@cache
def example_game() -> ExampleGame:
    """The shipped game.

    Raises:
        InfrastructureError: The file is damaged; the installation is.
    """
    path = practice_root() / FILE
    try:
        body = parse_yaml(path.read_text(encoding="utf-8"))
        wanted = body["reference"]
        game = ExampleGame(
            messages=tuple((round_, speaker, text) for round_, speaker, text in body["messages"]),
            left=tuple((round_, player) for round_, player in body["left"]),
            score=int(wanted["score"]),
            why=wanted["why"].strip(),
            answers=tuple(map(bool, wanted["answers"])),
            reasons=tuple(wanted["reasons"]),
        )
        if len(game.answers) != QUESTION_COUNT or len(game.reasons) != QUESTION_COUNT:
            raise ValueError(f"the reference does not answer {QUESTION_COUNT} questions")
    except (OSError, KeyError, TypeError, ValueError, yaml.YAMLError) as error:
        raise InfrastructureError(
            f"The example game cannot be read: {error}.", place=str(path), remedy="Install Dramaturg again."
        ) from None
    return game
