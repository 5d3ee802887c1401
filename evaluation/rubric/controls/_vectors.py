"""Messages of one game as tf-idf vectors: words in few messages of the game weigh most."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

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
