"""The labelled examples that the reader is trained on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from benchmarks.fitting import ngram_matrix
from evaluation.rubric.discussion import Discussion
from evaluation.rubric.reader._features import Features, features
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
        references: The quotes of its references to the past.
        acts: Its speech acts, each with its target.
    """

    strategic: bool | None = None
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
    chosen: Sequence[tuple[PreparedGame, Bools]],
    idf: Floats,
    answer: Callable[[Labels], bool],
    columns: int | None = None,
) -> Examples:
    """The chosen messages of games, with the answer that a message's labels give, and the first of their columns."""
    words, dense, answers, weights, sources = [], [], [], [], []
    for one, mask in chosen:
        words.append(ngram_matrix(one.seen.message_ngrams, idf)[mask])
        dense.append(one.seen.style[mask][:, :columns])
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
