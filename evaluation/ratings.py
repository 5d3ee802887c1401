"""Ratings: one person's judgement of one transcript, from which the engagement metric is computed."""

from __future__ import annotations

import unicodedata
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from evaluation.errors import InputError
from evaluation.escaping import lone_surrogate, safe, without_controls

LOWEST_SCORE = 1
HIGHEST_SCORE = 5
SCORES: tuple[float, ...] = (1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5)
"""Every score that a rating can have."""
SCORE_REMEDY = f"Give a number from {LOWEST_SCORE} to {HIGHEST_SCORE} in steps of a half, such as 3.5."
QUESTION_COUNT = 5
NO_ANSWERS: tuple[bool | None, ...] = (None,) * QUESTION_COUNT
MAX_RATER_LENGTH = 200
MAX_COMMENT_LENGTH = 20_000

_MOST_ANSWERS = 4
_ACCEPTABLE_SCORE = 3
_DIRECTIONS = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
_ANSWER_LETTERS = {"y": True, "n": False, "-": None}


@dataclass(frozen=True, slots=True)
class Rating:
    """A rater's score for a transcript, with the answers to the rubric's five questions.

    Attributes:
        rater: The person's name, without surrounding blanks, composed (Unicode NFC), so that one person is one rater.
        score: From 1 (boring) to 5 (fascinating) in steps of a half; whole points are held as whole numbers.
        answers: Yes, no or no answer (``None``) to each of the five questions, in the rubric's order. Yes is the
            favourable answer to all of them; for question 4 it means that the conversation flowed naturally.
        comment: Untrusted text, without control characters but line ends and tabs.
        created_at: When it was given, with its time zone.
        token: Made once per filled-in form, so that a form sent twice is stored once.
        is_informed: Whether the rater had seen scores of the game, or what others gave, in the same session.

    Raises:
        InputError: A value that the rubric's form has no place for.
    """

    transcript_id: str
    rater: str
    score: float
    answers: tuple[bool | None, ...] = NO_ANSWERS
    comment: str = ""
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    token: str = field(default_factory=lambda: uuid.uuid4().hex)
    is_informed: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "rater", rater_name(self.rater))
        object.__setattr__(self, "answers", _checked_answers(self.answers))
        object.__setattr__(self, "score", checked_score(self.score))
        _check_text("comment", self.comment, MAX_COMMENT_LENGTH)
        object.__setattr__(self, "comment", without_controls(self.comment))
        if self.created_at.tzinfo is None:
            raise InputError(f"The time {self.created_at} has no time zone.", place="created_at")
        if not self.token:
            raise InputError("The token is empty.", place="token", remedy="Leave it out to have one made.")

    @property
    def yes_count(self) -> int:
        """Number of the five questions that were answered with yes."""
        return sum(answer is True for answer in self.answers)

    @property
    def misfit(self) -> str:
        """The words on a score below 3 beside 4 or more yes; the rule runs one way (rubric 1.0, metric 7)."""
        if self.yes_count < _MOST_ANSWERS or self.score >= _ACCEPTABLE_SCORE:
            return ""
        return f"{self.yes_count} of {QUESTION_COUNT} answers are yes, but the score is below {_ACCEPTABLE_SCORE}"


SKIMMED_PER_SECOND = 10
"""Words. Adults read 4 a second and skim at 7 to 12, where they grasp less than half (Brysbaert 2019; Rayner 2016)."""


@dataclass(frozen=True, slots=True)
class DeskTime:
    """The time that a first rating took.

    Attributes:
        seconds: From when the game came to the desk until the rating was saved.
        words: Of the messages that the desk shows; few in scripts without spaces.
    """

    seconds: float
    words: int

    @property
    def is_too_quick(self) -> bool:
        """Whether the words cannot even have been skimmed in that time."""
        return self.seconds * SKIMMED_PER_SECOND < self.words


def parse_answers(letters: str) -> tuple[bool | None, ...]:
    """Five answers from five letters: ``y`` yes, ``n`` no, ``-`` no answer.

    Raises:
        InputError: Another number of letters, or another letter.
    """
    if len(letters) != QUESTION_COUNT or any(letter not in _ANSWER_LETTERS for letter in letters.lower()):
        raise InputError(
            f"{letters[:40]!r} does not answer the five questions.",
            place="answers",
            remedy="Give five letters, y for yes, n for no, - for no answer, such as yynyy.",
        )
    return tuple(_ANSWER_LETTERS[letter] for letter in letters.lower())


def latest_by_rater(ratings: Iterable[Rating]) -> dict[str, Rating]:
    """Each rater's newest rating, raters in alphabetical order; of two at the same time the later in ``ratings``."""
    newest: dict[str, Rating] = {}
    for rating in ratings:
        held = newest.get(rating.rater)
        if held is None or rating.created_at >= held.created_at:
            newest[rating.rater] = rating
    return dict(sorted(newest.items()))


def rater_name(rater: str) -> str:
    """The name under which a person's ratings stand: composed, without surrounding blanks.

    Raises:
        InputError: It is empty, too long, or holds a control character or a lone surrogate.
    """
    name = unicodedata.normalize("NFC", rater).strip()
    if not name:
        raise InputError("The rater has no name.", place="rater", remedy="Say who rates.")
    _check_text("rater", name, MAX_RATER_LENGTH)
    if any(unicodedata.category(character) == "Cc" for character in name):
        raise InputError(f"The name {safe(name)!r} holds a control character.", place="rater", remedy="Type it again.")
    return name


def new_rater_name(rater: str) -> str:
    """The name of somebody who gives it now: what :func:`rater_name` takes, but for direction characters.

    They turn around what stands behind them, as the scores of others in a list. Names that are stored are still read.

    Raises:
        InputError: As :func:`rater_name`, or it holds a direction character.
    """
    name = rater_name(rater)
    if any(unicodedata.bidirectional(character) in _DIRECTIONS for character in name):
        raise InputError(
            f"The name {safe(name)!r} holds a character that turns text around.", place="rater", remedy="Type it again."
        )
    return name


def _checked_answers(answers: tuple[bool | None, ...]) -> tuple[bool | None, ...]:
    given = tuple(answers)
    if len(given) != QUESTION_COUNT or not all(answer is None or isinstance(answer, bool) for answer in given):
        raise InputError(f"{given!r} are not five answers.", place="answers", remedy="Each is yes, no or none.")
    return given


def _check_text(place: str, text: str, limit: int) -> None:
    if len(text) > limit:
        raise InputError(f"{len(text)} characters are too many.", place=place, remedy=f"Stay within {limit}.")
    if lone_surrogate(text) is not None:
        raise InputError("The text holds a lone surrogate.", place=place, remedy="Type it again.")


@dataclass(frozen=True, slots=True)
class EngagementDecision:
    """A lead's score for a game whose raters differ; it counts in place of their ratings.

    Attributes:
        score: From 1 to 5 in steps of a half.
        who: The lead.
        reason: The lead's words; untrusted text.
        undone_by: Who took it back; ``None`` while it was not, as ``undone_at``.
    """

    id: int
    transcript_id: str
    score: float
    who: str
    reason: str
    created_at: datetime
    undone_by: str | None = None
    undone_at: datetime | None = None


def checked_score(score: float) -> float:
    """The score, when it is on the scale; whole points as a whole number, as people write them.

    Raises:
        InputError: It is not a whole or half point from 1 to 5.
    """
    is_number = isinstance(score, int | float) and not isinstance(score, bool)
    if not is_number or score not in SCORES:
        raise InputError(f"The score {score!r} is not on the scale.", place="score", remedy=SCORE_REMEDY)
    return SCORES[SCORES.index(score)]
