"""The rubric's manual check for personality: guess a speaker from the language alone (rubric 1.0, metric 5).

A rater sees a few messages of one player without names, and chooses among shuffled candidates: the personalities of
the game if it names them, else the other players' voices, each shown by two other messages. With n candidates, a guess
is right once in n times; that chance level stands beside every figure.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from evaluation.statistics.intervals import Interval, proportion_interval
from evaluation.text.names import NameIndex
from evaluation.transcript import Message, Transcript

Kind = Literal["personality", "voice"]

MOST_MESSAGES = 5
FEWEST_MESSAGES = 3
VOICE_MESSAGES = 2
MOST_CANDIDATES = 6
FEWEST_WORDS = 5
ENOUGH_IDENTIFIED = 5
"""The rubric: "if yes for 5+ agents". Where fewer than ten play, more than half do."""
_FULL_TABLE = 10

BLANK = "[name]"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of the answers to choose from.

    Attributes:
        label: The personality, or the player whose voice it is (never shown before the answer).
        samples: What that voice said elsewhere; empty for personalities.
    """

    label: str
    samples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StyleQuestion:
    """One question: which candidate is the speaker of these messages?

    Attributes:
        player: Who it is; not shown before the answer.
        message_ids: Of the messages shown.
        texts: Their words, players' names blanked.
        candidates: Shuffled, in the same order whenever this rater is asked.
        truth: The label of the right candidate.
    """

    player: str
    kind: Kind
    message_ids: tuple[str, ...]
    texts: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    truth: str


@dataclass(frozen=True, slots=True)
class StyleAnswer:
    """A rater's answer. ``chosen`` is ``None`` for "I cannot tell"."""

    transcript_id: str
    rater: str
    player: str
    kind: Kind
    candidates: tuple[str, ...]
    message_ids: tuple[str, ...]
    truth: str
    chosen: str | None

    @property
    def is_identified(self) -> bool:
        """Whether the rater found the right one."""
        return self.chosen == self.truth

    @property
    def chance(self) -> float:
        """Probability of a right guess, 0 to 1."""
        return 1.0 / len(self.candidates)


@dataclass(frozen=True, slots=True)
class StyleResult:
    """Number of times that players were recognised by their language.

    Attributes:
        asked: Answers given.
        identified: Right ones among them; "I cannot tell" is none.
        chance: The share that guessing finds, 0 to 1: the mean over the questions.
        interval: Wilson's, of the share identified. The players of a game are not independent of each other.
    """

    asked: int
    identified: int
    chance: float
    interval: Interval

    @property
    def share(self) -> float:
        """Identified of asked, 0 to 1."""
        return self.identified / self.asked

    @property
    def is_above_chance(self) -> bool:
        """Whether the whole interval lies above what guessing finds."""
        return self.interval.low is not None and self.interval.low > self.chance


def style_questions(transcript: Transcript, rater: str) -> tuple[StyleQuestion, ...]:
    """The questions about one game, in an order of this rater's own.

    Players with fewer than three public messages of five words are left out; voices need two more messages each.

    Returns:
        Empty when the game has fewer than two personalities and fewer than two voices to tell apart.
    """
    draw = random.Random(hashlib.sha256(f"{rater} {transcript.id}".encode()).digest())
    said = _said(transcript)
    questions = _by_personality(transcript, said, draw) or _by_voice(said, draw)
    draw.shuffle(questions)
    return tuple(questions)


def _said(transcript: Transcript) -> dict[str, list[tuple[Message, str]]]:
    """Each player's public messages with their names blanked, those of some length only."""
    index = NameIndex.of(transcript.player_names)
    said: dict[str, list[tuple[Message, str]]] = {name: [] for name in transcript.player_names}
    for message in transcript.discussion:
        text = _without_names(message, index)
        if len(text.split()) >= FEWEST_WORDS:
            said[message.speaker].append((message, text))
    return said


def _without_names(message: Message, index: NameIndex) -> str:
    start = index.body_start(message.text, message.speaker)
    parts, done = [], start
    for mention in index.mentions(message.text, start):
        parts += [message.text[done : mention.start], BLANK]
        done = mention.end
    return "".join([*parts, message.text[done:]]).strip()


def _by_personality(
    transcript: Transcript, said: dict[str, list[tuple[Message, str]]], draw: random.Random
) -> list[StyleQuestion]:
    own = {player.name: (player.personality or "").strip() for player in transcript.players}
    known = sorted({personality for personality in own.values() if personality})
    if len(known) < 2:
        return []
    questions = []
    for name, messages in said.items():
        if own[name] and len(messages) >= FEWEST_MESSAGES:
            shown = _some(messages, MOST_MESSAGES, draw)
            labels = _few(known, own[name], draw)
            questions.append(_question(name, "personality", shown, [Candidate(label) for label in labels], own[name]))
    return questions


def _by_voice(said: dict[str, list[tuple[Message, str]]], draw: random.Random) -> list[StyleQuestion]:
    shown: dict[str, list[tuple[Message, str]]] = {}
    voices: dict[str, Candidate] = {}
    for name, messages in said.items():
        if len(messages) >= FEWEST_MESSAGES + VOICE_MESSAGES:
            samples = _some(messages, VOICE_MESSAGES, draw)
            voices[name] = Candidate(name, tuple(text for _, text in samples))
            held = {message.id for message, _ in samples}
            shown[name] = _some([one for one in messages if one[0].id not in held], MOST_MESSAGES, draw)
    if len(voices) < 2:
        return []
    return [
        _question(name, "voice", messages, [voices[one] for one in _few(sorted(voices), name, draw)], name)
        for name, messages in shown.items()
    ]


def _some(messages: Sequence[tuple[Message, str]], count: int, draw: random.Random) -> list[tuple[Message, str]]:
    """At most ``count`` of the messages, in order."""
    chosen = draw.sample(list(messages), min(count, len(messages)))
    return sorted(chosen, key=lambda one: one[0].index)


def _few(labels: Sequence[str], truth: str, draw: random.Random) -> list[str]:
    others = [label for label in labels if label != truth]
    kept = [truth, *draw.sample(others, min(MOST_CANDIDATES - 1, len(others)))]
    draw.shuffle(kept)
    return kept


def _question(
    player: str, kind: Kind, shown: Sequence[tuple[Message, str]], candidates: Sequence[Candidate], truth: str
) -> StyleQuestion:
    ids, texts = tuple(message.id for message, _ in shown), tuple(text for _, text in shown)
    return StyleQuestion(player, kind, ids, texts, tuple(candidates), truth)


def style_result(answers: Iterable[StyleAnswer]) -> StyleResult | None:
    """Answers added up; ``None`` when there are none."""
    given = list(answers)
    if not given:
        return None
    identified = sum(one.is_identified for one in given)
    return StyleResult(
        asked=len(given),
        identified=identified,
        chance=sum(one.chance for one in given) / len(given),
        interval=proportion_interval(identified, len(given)),
    )


def style_results_by_rater(answers: Iterable[StyleAnswer]) -> dict[str, StyleResult]:
    """One result per rater, raters in alphabetical order."""
    ordered = sorted(answers, key=lambda one: one.rater)
    found = {rater: style_result(given) for rater, given in groupby(ordered, key=lambda one: one.rater)}
    return {rater: result for rater, result in found.items() if result is not None}


def chance_to_pass(given: Sequence[StyleAnswer]) -> float:
    """Probability that guesses alone would pass a game, 0 to 1: each player found by its own chance."""
    found = [1.0]
    for one in given:
        missed = [share * (1 - one.chance) for share in found]
        hit = [share * one.chance for share in found]
        found = [low + high for low, high in zip([*missed, 0.0], [0.0, *hit], strict=True)]
    return sum(share for count, share in enumerate(found) if passes_manual_check(count, len(given)))


def passes_manual_check(identified: int, players: int) -> bool:
    """The rubric's rule: five or more players told by their language, or more than half where fewer than ten play."""
    return identified >= ENOUGH_IDENTIFIED if players >= _FULL_TABLE else 2 * identified > players
