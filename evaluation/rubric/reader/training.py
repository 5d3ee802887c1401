"""Tune a reader on the labels of a team, and the examples that its training and its tuning fit.

The reader that ships is trained by ``benchmarks/reader.py``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from evaluation.rubric.discussion import Discussion
from evaluation.rubric.reader._features import (
    Features,
    features,
)
from evaluation.rubric.reader._fitting import Fitted, fit, ngram_matrix
from evaluation.rubric.reader._ngrams import BUCKETS
from evaluation.rubric.reader.model import TEXT_HEADS, Reader, ReaderHead
from evaluation.transcript import Transcript

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]

SYNTHETIC_WEIGHT = 0.7
"""How much a message of a synthetic game counts beside one of a real game."""


@dataclass(frozen=True, slots=True)
class Labels:
    """Answers of people to one message. ``None``: the message was not labelled for that question.

    Attributes:
        strategic: Whether it shows strategic thinking.
        answers: Indexes of the messages that it answers.
        references: The quotes of its references to the past.
        acts: Its speech acts, each with its target.
    """

    strategic: bool | None = None
    answers: frozenset[int] | None = None
    references: tuple[str, ...] | None = None
    acts: frozenset[tuple[str, str | None]] | None = None


@dataclass(frozen=True, slots=True)
class LabelledGame:
    """A game with the labels of its messages, by index of the message.

    Attributes:
        source: Games of one source are left out together when the reader is measured.
        is_synthetic: Written for the purpose; counts less.
    """

    transcript: Transcript
    source: str
    labels: Mapping[int, Labels]
    is_synthetic: bool = False


class Examples(NamedTuple):
    """The examples of one question over all games: n-grams of texts, dense columns, labels, weights, sources."""

    words: csr_matrix
    dense: Floats
    answers: Bools
    weights: Floats
    sources: NDArray[np.str_]

    def where(self, chosen: Bools) -> Examples:
        """The chosen ones."""
        return Examples(
            self.words[chosen], self.dense[chosen], self.answers[chosen], self.weights[chosen], self.sources[chosen]
        )


@dataclass
class PreparedGame:
    """A labelled game with what a reader sees of it, and the labels of its public messages in their order."""

    game: LabelledGame
    discussion: Discussion
    seen: Features
    by_place: list[Labels]

    @property
    def weight(self) -> float:
        """Weight of each of its examples."""
        return SYNTHETIC_WEIGHT if self.game.is_synthetic else 1.0


TUNED = ("strategic", "answers")
"""The questions whose labels a check of single verdicts gives."""
FEWEST_LABELS, FEWEST_OF_EACH, FEWEST_GAMES = 40, 10, 3
SMALLEST_GAIN = 0.02
"""A question is tuned when that much more balanced accuracy is seen on games that the tuning did not see."""
_FOLDS = 5
_TUNED_WORD_PENALTY, _TUNED_DENSE_PENALTY = 2.0, 40.0


@dataclass(frozen=True, slots=True)
class Tuning:
    """Effect of a team's labels on one question.

    Attributes:
        question: One of ``TUNED``.
        labels: How many messages have one.
        before: Balanced accuracy of the reader as it was on them, 0 to 1; ``None`` where there are too few labels.
        after: The same after tuning, each message read by a fit that had not seen its game.
        is_taken: Whether the tuned weights are in the reader.
    """

    question: str
    labels: int
    before: float | None = None
    after: float | None = None
    is_taken: bool = False


def tune(reader: Reader, games: Sequence[LabelledGame], name: str) -> tuple[Reader, list[Tuning]]:
    """``reader`` with its weights moved towards a team's labels, where that helps on games left out.

    Thresholds stay: labels of doubtful verdicts say nothing about how common a yes is.

    Args:
        reader: From where the tuning starts.
        games: With labels for any of ``TUNED``.
        name: What the reader is called, if any question was tuned; a hash of its weights is put behind it.

    Returns:
        The tuned reader, or ``reader`` itself, and what happened for each of ``TUNED``.
    """
    words, heads, told = reader.words.copy(), dict(reader.heads), []
    for question in TUNED:
        examples, logits = _tuning_examples(reader, question, games)
        tuning, fitted = _tuned(reader.heads[question], question, examples, logits)
        told.append(tuning)
        if fitted is not None:
            head = heads[question]
            words[:, TEXT_HEADS.index(question)] += fitted.words
            heads[question] = replace(head, weights=head.weights + fitted.dense, bias=head.bias + fitted.bias)
    if not any(one.is_taken for one in told):
        return reader, told
    digest = hashlib.sha256(words.tobytes() + b"".join(head.weights.tobytes() for head in heads.values())).hexdigest()
    return replace(
        reader, name=f"{name}-{digest[:8]}", words=words, heads=heads, card={**reader.card, "is_own": True}
    ), told


def _tuning_examples(reader: Reader, question: str, games: Sequence[LabelledGame]) -> tuple[Examples, Floats]:
    head, chosen, logits = reader.heads[question], [], []
    for number, game in enumerate(games):
        one = prepared_game(replace(game, source=str(number)))
        mask = label_mask(one, question)
        if mask.any():
            dense, own = reader.message_columns(question, one.discussion)
            one.seen = replace(one.seen, style=(dense - head.means) / head.sizes)
            chosen.append((one, mask))
            logits.append(own[mask])
    if not chosen:
        nothing = np.zeros(0, dtype=np.float32)
        return Examples(csr_matrix((0, BUCKETS)), nothing, nothing > 0, nothing, np.zeros(0, dtype=np.str_)), nothing
    answer = message_examples(chosen, reader.idf, lambda labels: bool(getattr(labels, question)))
    return answer, np.concatenate(logits)


def _tuned(head: ReaderHead, question: str, examples: Examples, logits: Floats) -> tuple[Tuning, Fitted | None]:
    labels, yes = len(examples.answers), int(examples.answers.sum())
    games = sorted(set(examples.sources))
    if labels < FEWEST_LABELS or min(yes, labels - yes) < FEWEST_OF_EACH or len(games) < FEWEST_GAMES:
        return Tuning(question, labels), None
    needed = np.log(head.threshold / (1 - head.threshold))
    held_out = logits.copy()
    for fold in range(min(_FOLDS, len(games))):
        out = np.isin(examples.sources, games[fold::_FOLDS])
        fitted = _fit_beside(examples.where(~out), logits[~out])
        held_out[out] += examples.words[out] @ fitted.words + examples.dense[out] @ fitted.dense + fitted.bias
    before, after = (score(one >= needed, examples.answers, "balanced accuracy") for one in (logits, held_out))
    is_taken = after >= before + SMALLEST_GAIN
    return Tuning(question, labels, before, after, is_taken), _fit_beside(examples, logits) if is_taken else None


def _fit_beside(examples: Examples, logits: Floats) -> Fitted:
    return fit(
        examples.words,
        examples.dense,
        examples.answers,
        examples.weights,
        word_penalty=_TUNED_WORD_PENALTY,
        dense_penalty=_TUNED_DENSE_PENALTY,
        offsets=logits,
    )


def prepared_game(game: LabelledGame) -> PreparedGame:
    """The game with the features of its messages."""
    discussion = Discussion.of(game.transcript)
    return PreparedGame(
        game,
        discussion,
        features(discussion),
        [game.labels.get(one.message.index, Labels()) for one in discussion.messages],
    )


def label_mask(one: PreparedGame, question: str) -> Bools:
    """True for each public message that is labelled for a question."""
    return np.array([getattr(labels, question) is not None for labels in one.by_place], dtype=bool)


def message_examples(
    chosen: Sequence[tuple[PreparedGame, Bools]], idf: Floats, answer: Callable[[Labels], bool]
) -> Examples:
    """The chosen messages of games, with the answer that a message's labels give."""
    words, dense, answers, weights, sources = [], [], [], [], []
    for one, mask in chosen:
        words.append(ngram_matrix(one.seen.message_ngrams, idf)[mask])
        dense.append(one.seen.style[mask])
        answers += [answer(labels) for labels, is_in in zip(one.by_place, mask, strict=True) if is_in]
        weights += [one.weight] * int(mask.sum())
        sources += [one.game.source] * int(mask.sum())
    return joined_examples(words, dense, answers, weights, sources)


def joined_examples(words: Any, dense: Any, answers: Any, weights: Any, sources: Any) -> Examples:
    """The examples of several games as one; without ``words`` they have dense columns alone."""
    return Examples(
        vstack(words).tocsr() if words else csr_matrix((len(answers), 0)),
        np.concatenate(dense).astype(np.float32),
        np.array(answers, dtype=bool),
        np.array(weights, dtype=np.float32),
        np.array(sources),
    )


Measure = Literal["balanced accuracy", "F1"]


def score(said: Bools, answers: Bools, measure: Measure) -> float:
    """Balanced accuracy, or F1 of yes; 0 where it is not defined."""
    hits = int((said & answers).sum())
    if measure == "F1":
        return 2 * hits / max(1, int(said.sum()) + int(answers.sum()))
    yes, no = int(answers.sum()), int((~answers).sum())
    return 0.0 if not yes or not no else (hits / yes + int((~said & ~answers).sum()) / no) / 2
