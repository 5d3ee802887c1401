"""Hashed n-grams of many short texts at once, as plain arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BUCKET_BITS = 15
BUCKETS = 2 << BUCKET_BITS
"""Words fill the first half, characters the second."""
_MOST_CHARACTERS = 5
_WORDS = (1, 2, 3)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_STEP = np.uint64(1_000_003)
# Texts at a time: what is computed of a character takes a hundred times its memory. Not more than bytes can number.
_AT_ONCE = 255
# Between two texts; no text holds it, because control characters are replaced by blanks.
_SEPARATOR = "\x00"


@dataclass(frozen=True, slots=True)
class NGrams:
    """The distinct buckets of each text.

    Attributes:
        buckets: The buckets of all texts, one text after the other, ascending within a text.
        starts: For each text the place of its first bucket, and at the end the number of buckets.
    """

    buckets: NDArray[np.uint16]
    starts: NDArray[np.int64]

    def sums(self, weights: NDArray[np.float32], idf: NDArray[np.float32]) -> NDArray[np.float32]:
        """For each text the sum of its buckets' weights, divided by the norm of the idfs.

        Args:
            weights: Each times its ``idf``. Shape (BUCKETS, outputs), rows side by side in memory.
            idf: Shape (BUCKETS,).

        Returns:
            Shape (texts, outputs); zeros for a text without buckets.
        """
        texts = len(self.starts) - 1
        found = np.zeros((texts, weights.shape[1]), dtype=np.float32)
        for first in range(0, texts, _AT_ONCE):
            starts = self.starts[first : first + _AT_ONCE + 1]
            filled = np.flatnonzero(np.diff(starts))
            if not len(filled):
                continue
            begins, buckets = starts[filled] - starts[0], self.buckets[starts[0] : starts[-1]]
            # Taking rows is five times as fast as indexing with an array.
            values = idf.take(buckets)
            norms = np.sqrt(np.add.reduceat(values * values, begins))
            sums = np.add.reduceat(weights.take(buckets, axis=0), begins, axis=0)
            found[first + filled] = sums / np.maximum(norms, 1e-6)[:, None]
        return found

    @classmethod
    def joined(cls, parts: Sequence[NGrams]) -> NGrams:
        """The n-grams of the texts of all parts, one part after the other."""
        ends = np.cumsum([0, *(len(part.buckets) for part in parts)])
        starts = [part.starts[:-1] + end for part, end in zip(parts, ends[:-1], strict=True)]
        return cls(np.concatenate([part.buckets for part in parts]), np.concatenate([*starts, ends[-1:]]))


def hashed_ngrams(texts: Sequence[str]) -> NGrams:
    """The n-grams of words (1 to 3) and of characters (2 to 5) in ``texts``, hashed to ``BUCKETS`` places.

    Texts are expected folded, words divided by single blanks, without NUL. A blank is put before and after each text.
    """
    return NGrams.joined([_hashed(texts[first : first + _AT_ONCE]) for first in range(0, len(texts) or 1, _AT_ONCE)])


def _hashed(texts: Sequence[str]) -> NGrams:
    joined = _SEPARATOR + "".join([f" {text} {_SEPARATOR}" for text in texts])
    codes = np.frombuffer(joined.encode("utf-32-le", "replace"), dtype=np.uint32).astype(np.uint64)
    # Integers of up to 16 bits are sorted by radix.
    owner = (np.cumsum(codes == 0) - 1).astype(np.uint8)
    with np.errstate(over="ignore"):
        parts = [*_characters(codes, owner), *_words(codes, owner)]
    buckets, owners = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.argsort(buckets, kind="stable")
    order = order[np.argsort(owners[order], kind="stable")]
    buckets, owners = buckets[order], owners[order]
    is_first = np.ones(len(buckets), dtype=bool)
    is_first[1:] = (buckets[1:] != buckets[:-1]) | (owners[1:] != owners[:-1])
    starts = np.searchsorted(owners[is_first], np.arange(len(texts) + 1))
    return NGrams(buckets[is_first], starts.astype(np.int64))


_Part = tuple[NDArray[np.uint16], NDArray[np.uint8]]
"""The buckets of n-grams of one size, and the place of the text that each one stands in."""


def _characters(codes: NDArray[np.uint64], owner: NDArray[np.uint8]) -> Iterator[_Part]:
    # Within one text: from its first blank to its last, so no separator lies inside.
    inside = codes != 0
    hashes = codes
    for size in range(2, _MOST_CHARACTERS + 1):
        count = max(0, len(codes) - size + 1)
        hashes = hashes[:count] * _STEP + codes[size - 1 :]
        inside = inside[:count] & (codes[size - 1 :] != 0)
        # The hash of each size begins with the size.
        begin = np.uint64(size) * _STEP ** np.uint64(size)
        yield _buckets(hashes[inside] + begin, half=1), owner[:count][inside]


def _words(codes: NDArray[np.uint64], owner: NDArray[np.uint8]) -> Iterator[_Part]:
    is_gap = (codes == 32) | (codes == 0)
    begins = np.flatnonzero(is_gap[:-1] & ~is_gap[1:]) + 1
    ends = np.flatnonzero(~is_gap[:-1] & is_gap[1:]) + 1
    # Sums of character x power, so that any word's hash is a difference of two sums, freed from its place.
    powers = np.cumprod(np.full(len(codes), _STEP, dtype=np.uint64))
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(codes * powers)])
    inverse = np.cumprod(np.full(len(codes), _INVERSE_STEP, dtype=np.uint64))
    hashes = (sums[ends] - sums[begins]) * inverse[begins]
    owners = owner[begins]
    for size in _WORDS:
        count = max(0, len(begins) - size + 1)
        joined = np.full(count, size, dtype=np.uint64)
        for shift in range(size):
            joined = joined * _MULTIPLIER + hashes[shift : shift + count]
        inside = owners[:count] == owners[size - 1 : size - 1 + count]
        yield _buckets(joined[inside], half=0), owners[:count][inside]


def _buckets(hashes: NDArray[np.uint64], half: int) -> NDArray[np.uint16]:
    mixed = (hashes ^ (hashes >> np.uint64(29))) * _MULTIPLIER
    return (mixed >> np.uint64(64 - BUCKET_BITS)).astype(np.uint16) + np.uint16(half << BUCKET_BITS)


_INVERSE_STEP = np.uint64(pow(1_000_003, -1, 1 << 64))
