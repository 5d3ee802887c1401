"""Link strength: how much closer a message is to what others just said than to the rest of the game.

Each message gets tf-idf weights inside the game (stems; players' names kept). Its similarities to the previous 8
messages of other players are added up, each further one with 0.7 times the weight of the one before. The link strength
is the percentile of that sum among the sums at all other places of the game: 50 is chance. Ties count half. A message
has no link strength if no other player spoke before it. A speaker's own consecutive messages are skipped, so that they
neither raise nor lower it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evaluation.rubric.discussion import Discussion, PreparedMessage
from evaluation.text.tokens import stem
from evaluation.transcript import Transcript

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Vectors:
    """Messages as rows of unit length (zero for a message without words).

    Attributes:
        weights: Sparse, shape (messages, terms).
        terms: What the columns stand for.
    """

    weights: csr_array
    terms: tuple[str, ...]

    def similarities(self) -> Matrix:
        """The cosine of every two messages, 0 to 1; shape (messages, messages)."""
        return np.asarray((self.weights @ self.weights.T).toarray(), dtype=np.float64)

    def shared(self, one: int, others: Sequence[int], factors: Sequence[float]) -> list[tuple[str, float]]:
        """The terms that make message ``one`` similar to ``others``, each with its part of the sum, greatest first.

        Args:
            one: Position of the message.
            others: Positions of the others.
            factors: By how much each of them counts.
        """
        own = self._row(one)
        parts: dict[str, float] = defaultdict(float)
        for other, factor in zip(others, factors, strict=True):
            for term, weight in self._row(other).items():
                if term in own:
                    parts[term] += factor * weight * own[term]
        return sorted(parts.items(), key=lambda part: (-part[1], part[0]))

    def _row(self, position: int) -> dict[str, float]:
        start, end = self.weights.indptr[position], self.weights.indptr[position + 1]
        columns, weights = self.weights.indices[start:end], self.weights.data[start:end]
        return {self.terms[column]: float(weight) for column, weight in zip(columns, weights, strict=True)}


def tf_idf(messages: Sequence[Sequence[str]]) -> Vectors:
    """The vectors of messages given as their terms: (1 + ln tf) x ln((n + 1) / df), scaled to length 1."""
    # Loading scipy takes longer than most commands do without it.
    from scipy.sparse import csr_array

    counts = [Counter(message) for message in messages]
    in_messages = Counter(term for message in counts for term in message)
    column = {term: place for place, term in enumerate(in_messages)}
    rarity = {term: np.log((len(messages) + 1) / count) for term, count in in_messages.items()}
    data: list[float] = []
    indices: list[int] = []
    borders = [0]
    for message in counts:
        row = np.array([(1 + np.log(count)) * rarity[term] for term, count in message.items()])
        length = float(np.sqrt((row**2).sum()))
        data.extend((row / length if length else row).tolist())
        indices.extend(column[term] for term in message)
        borders.append(len(indices))
    shape = (len(messages), max(1, len(column)))
    return Vectors(csr_array((data, indices, borders), shape=shape, dtype=np.float64), tuple(column))


WINDOW = 8
DECAY = 0.7
MOST_MESSAGES = 2_000
"""Of longer discussions no link strengths are computed: time and memory grow with the square."""
_SHOWN_WORDS = 3
_SAME = 1e-9
_FACTORS = DECAY ** np.arange(WINDOW)
# Numbers that fit into a processor's cache.
_CELLS_AT_ONCE = 200_000


@dataclass(frozen=True, slots=True)
class Link:
    """Strength of the link of one message to those before it.

    Attributes:
        message_id: The message.
        strength: Percentile, 0 to 100; ``None`` before which nobody else spoke.
        words: The words that carry it, most important first, as they stand in the message.
    """

    message_id: str
    strength: float | None
    words: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The link as the JSON output shows it."""
        return {"message_id": self.message_id, "strength": self.strength, "words": list(self.words)}


def link_strengths(transcript: Transcript) -> tuple[Link, ...]:
    """The link strength of every public message, in order; none where :func:`unlinked` says why."""
    discussion = Discussion.of(transcript)
    if unlinked(discussion):
        return ()
    vectors = tf_idf([_terms(prepared, discussion) for prepared in discussion.messages])
    speakers = speaker_numbers(discussion)
    strengths = percentiles(vectors.similarities(), speakers)
    return tuple(
        _link(prepared, place, strengths[place], vectors, speakers, discussion)
        for place, prepared in enumerate(discussion.messages)
    )


def unlinked(discussion: Discussion) -> str:
    """Why link strengths cannot be computed; empty when they can."""
    if discussion.without_words:
        return discussion.without_words
    if len(discussion.messages) < 2:
        return "fewer than two messages"
    if len(discussion.messages) > MOST_MESSAGES:
        return f"more than {MOST_MESSAGES:,} messages"
    return "one speaker" if len({prepared.message.speaker for prepared in discussion.messages}) < 2 else ""


def speaker_numbers(discussion: Discussion) -> NDArray[np.int64]:
    """The author of each public message as a number."""
    numbers: dict[str, int] = {}
    speakers = [prepared.message.speaker for prepared in discussion.messages]
    return np.array([numbers.setdefault(speaker, len(numbers)) for speaker in speakers], dtype=np.int64)


def similarities(discussion: Discussion) -> Matrix:
    """The similarity of every two public messages, 0 to 1."""
    return tf_idf([_terms(prepared, discussion) for prepared in discussion.messages]).similarities()


def percentiles(similar: Matrix, speakers: NDArray[np.int64]) -> Matrix:
    """The link strength of every message in order, NaN where there is none.

    Args:
        similar: Of every two messages, in the same order.
        speakers: The author of each.
    """
    return next(percentiles_in([np.arange(len(speakers))], similar, speakers))


def percentiles_in(
    orders: Sequence[NDArray[np.int64]], similar: Matrix, speakers: NDArray[np.int64]
) -> Iterator[Matrix]:
    """The link strengths of the messages in each of several orders, by place; many orders at once where they are short.

    Args:
        orders: For each place, which message stands there.
        similar: Of every two messages.
        speakers: The author of each message.
    """
    at_once = max(1, _CELLS_AT_ONCE // max(1, len(speakers)) ** 2)
    for start in range(0, len(orders), at_once):
        yield from _percentiles(np.array(orders[start : start + at_once]), similar, speakers)


def _percentiles(orders: NDArray[np.int64], similar: Matrix, speakers: NDArray[np.int64]) -> Matrix:
    """The link strengths in every order (row), by place (column)."""
    authors = speakers[orders]
    found = np.full(orders.shape, np.nan)
    rows = np.arange(len(orders))[:, None]
    for speaker in np.unique(speakers):
        is_own = authors == speaker
        # Every order holds as many messages of a speaker as any other.
        own = np.nonzero(is_own)[1].reshape(len(orders), -1)
        others = np.nonzero(~is_own)[1].reshape(len(orders), -1)
        count = others.shape[1]
        if count < 2:
            continue
        messages, context = orders[rows, own], orders[rows, others]
        # Taking from the flat matrix is half again as fast as indexing with two arrays.
        sums = _sums(similar.take(messages[:, :, None] * len(similar) + context[:, None, :]))
        # The place of a message is told by the last message of somebody else before it.
        places = np.cumsum(~is_own, axis=1)[rows, own] - 1
        at = np.take_along_axis(sums, np.maximum(places, 0)[:, :, None], axis=2)
        below = (sums < at - _SAME).sum(axis=2)
        ties = (np.abs(sums - at) <= _SAME).sum(axis=2) - 1
        found[rows, own] = np.where(places >= 0, 100.0 * (below + ties / 2) / (count - 1), np.nan)
    return found


def mean_strength(strengths: Matrix) -> float | None:
    """The companion: the mean over messages that have a link strength."""
    known = strengths[~np.isnan(strengths)]
    return float(known.mean()) if len(known) else None


def _sums(similar: Matrix) -> Matrix:
    """For each message and each place (after that message of somebody else, last axis): the weighted sum before it."""
    sums = similar.copy()
    # The sum of eight is that of four and of the four before them: three steps in place of seven.
    for step in (1, 2, 4):
        sums[..., step:] += _FACTORS[step] * sums[..., :-step]
    return sums


def _terms(prepared: PreparedMessage, discussion: Discussion) -> list[str]:
    """The stems of a message, and a term for each name in it that no word can be."""
    return [term for term, _ in _terms_as_written(prepared, discussion)]


def _terms_as_written(prepared: PreparedMessage, discussion: Discussion) -> Iterator[tuple[str, str]]:
    text, pack = prepared.message.text, prepared.pack or discussion.pack
    for token in prepared.plain_tokens:
        yield stem(token.text) if pack else token.text, text[token.start : token.end]
    for mention in prepared.mentions:
        yield f"@{mention.player}", text[mention.start : mention.end]


def _link(
    prepared: PreparedMessage,
    place: int,
    strength: float,
    vectors: Vectors,
    speakers: NDArray[np.int64],
    discussion: Discussion,
) -> Link:
    if np.isnan(strength):
        return Link(prepared.message.id, None, ())
    before = _context(place, speakers)
    written: dict[str, str] = {}
    for term, word in _terms_as_written(prepared, discussion):
        written.setdefault(term, word)
    shared = vectors.shared(place, before, [float(factor) for factor in _FACTORS[: len(before)]])
    return Link(prepared.message.id, float(strength), tuple(written[term] for term, _ in shared[:_SHOWN_WORDS]))


def _context(place: int, speakers: NDArray[np.int64]) -> Sequence[int]:
    """The previous messages of other players, the nearest first."""
    others = np.flatnonzero(speakers[:place] != speakers[place])
    return [int(other) for other in others[::-1][:WINDOW]]
