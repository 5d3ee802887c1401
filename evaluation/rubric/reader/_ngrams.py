"""Hashed n-grams of many short texts at once, as plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BUCKET_BITS = 15
BUCKETS = 2 << BUCKET_BITS
"""Words fill the first half, characters the second."""
_CHARACTERS = (2, 3, 4, 5)
_WORDS = (1, 2, 3)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_STEP = np.uint64(1_000_003)
# Between two texts; no text holds it, because control characters are replaced by blanks.
_SEPARATOR = "\x00"


@dataclass(frozen=True, slots=True)
class NGrams:
    """The distinct buckets of each text.

    Attributes:
        buckets: The buckets of all texts, one text after the other, ascending within a text.
        starts: For each text the place of its first bucket, and at the end the number of buckets.
    """

    buckets: NDArray[np.int64]
    starts: NDArray[np.int64]

    def sums(self, weights: NDArray[np.float32], idf: NDArray[np.float32]) -> NDArray[np.float32]:
        """For each text the sum of its buckets' weights, each times its ``idf``, divided by the norm of the idfs.

        Args:
            weights: Shape (BUCKETS, outputs).
            idf: Shape (BUCKETS,).

        Returns:
            Shape (texts, outputs); zeros for a text without buckets.
        """
        texts = len(self.starts) - 1
        found = np.zeros((texts, weights.shape[1]), dtype=np.float32)
        if not len(self.buckets):
            return found
        values = idf[self.buckets]
        filled = np.flatnonzero(np.diff(self.starts))
        begins = self.starts[filled]
        norms = np.sqrt(np.add.reduceat(values * values, begins))
        sums = np.add.reduceat(weights[self.buckets] * values[:, None], begins, axis=0)
        found[filled] = sums / np.maximum(norms, 1e-6)[:, None]
        return found


def hashed_ngrams(texts: Sequence[str]) -> NGrams:
    """The n-grams of words (1 to 3) and of characters (2 to 5) in ``texts``, hashed to ``BUCKETS`` places.

    Texts are expected folded, words divided by single blanks, without NUL. A blank is put before and after each text.
    """
    joined = _SEPARATOR + "".join(f" {text} {_SEPARATOR}" for text in texts)
    codes = np.frombuffer(joined.encode("utf-32-le", "replace"), dtype=np.uint32).astype(np.uint64)
    owner = np.cumsum(codes == 0) - 1
    with np.errstate(over="ignore"):
        parts = [_characters(codes, owner, size) for size in _CHARACTERS]
        parts += _words(codes, owner)
    keys = np.sort(np.concatenate(parts))
    keys = keys[np.concatenate([np.ones(min(1, len(keys)), dtype=bool), keys[1:] != keys[:-1]])]
    owners = keys >> np.int64(BUCKET_BITS + 1)
    starts = np.searchsorted(owners, np.arange(len(texts) + 1))
    return NGrams(keys & np.int64(BUCKETS - 1), starts.astype(np.int64))


def _characters(codes: NDArray[np.uint64], owner: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    count = len(codes) - size + 1
    if count <= 0:
        return np.zeros(0, dtype=np.int64)
    hashes = np.full(count, size, dtype=np.uint64)
    for shift in range(size):
        hashes = hashes * _STEP + codes[shift : shift + count]
    # Within one text: from its first blank to its last, so no separator lies inside.
    inside = (owner[:count] == owner[size - 1 : size - 1 + count]) & (codes[:count] != 0)
    return _keys(hashes[inside], owner[:count][inside], half=1)


def _words(codes: NDArray[np.uint64], owner: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    is_gap = (codes == 32) | (codes == 0)
    begins = np.flatnonzero(is_gap[:-1] & ~is_gap[1:]) + 1
    if not len(begins):
        return []
    ends = np.flatnonzero(~is_gap[:-1] & is_gap[1:]) + 1
    # Sums of character x power, so that any word's hash is a difference of two sums, freed from its place.
    powers = np.cumprod(np.full(len(codes), _STEP, dtype=np.uint64))
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(codes * powers)])
    inverse = np.cumprod(np.full(len(codes), _INVERSE_STEP, dtype=np.uint64))
    hashes = (sums[ends] - sums[begins]) * inverse[begins]
    owners = owner[begins]
    found = []
    for size in _WORDS:
        count = len(begins) - size + 1
        if count <= 0:
            break
        joined = np.full(count, size, dtype=np.uint64)
        for shift in range(size):
            joined = joined * _MULTIPLIER + hashes[shift : shift + count]
        inside = owners[:count] == owners[size - 1 : size - 1 + count]
        found.append(_keys(joined[inside], owners[:count][inside], half=0))
    return found


def _keys(hashes: NDArray[np.uint64], owners: NDArray[np.int64], half: int) -> NDArray[np.int64]:
    mixed = (hashes ^ (hashes >> np.uint64(29))) * _MULTIPLIER
    buckets = (mixed >> np.uint64(64 - BUCKET_BITS)).astype(np.int64) + (half << BUCKET_BITS)
    return (owners << np.int64(BUCKET_BITS + 1)) | buckets


_INVERSE_STEP = np.uint64(pow(1_000_003, -1, 1 << 64))
