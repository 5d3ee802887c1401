"""Normalise text for matching, with a map back to the original characters."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from evaluation.files.bundled import parse_yaml


@cache
def word_list(name: str) -> frozenset[str]:
    """The words of ``data/<name>``: separated by white space, ``#`` starts a comment line."""
    lines = _read(name).splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


@cache
def word_groups(name: str) -> Mapping[str, frozenset[str]]:
    """The named groups of words in ``data/<name>``, a YAML mapping of strings to words separated by white space."""
    groups = parse_yaml(_read(name))
    return {group: frozenset(words.split()) for group, words in groups.items()}


@cache
def english_words() -> frozenset[str]:
    """Common English words and chat slang: what is never taken for a misspelt name."""
    return word_list("english_words.txt") | word_list("chat_words.txt") | word_list("stop_words.txt")


def _read(name: str) -> str:
    return (files("evaluation.text") / "data" / name).read_text("utf-8")


# Typographic variants that no normal form joins: apostrophes, and the hyphens that language models like to write.
_FOLDED = str.maketrans({"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u2010": "-", "\u2011": "-"})
# What is not drawn: soft hyphen, zero-width space and joiners, word joiner, variation selectors, byte-order mark.
_INVISIBLE = dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFE0E, 0xFE0F, 0xFEFF))
# All but the characters that are normalised one for one by lowering them and folding the variants above: ASCII, quotes
# and dashes.
_NOT_PLAIN = re.compile("[^\\x00-\\x7f\u2018\u2019\u201c\u201d\u2010\u2011\u2013\u2014\u2022]")
_RUN = re.compile(r"[\x00-\x7f]+|[^\x00-\x7f]+")
# Class-0 characters that compose with the one before: Hangul vowels and finals, half-width voicing marks.
_HANGUL_PARTS = range(0x1160, 0x1200)
_VOICING_MARKS = ("\uff9e", "\uff9f")
# Canonical ordering is quadratic in the length of a run of marks; no script stacks more than 30 (UAX 15, section 13).
_LONGEST_CLUSTER = 31


@dataclass(frozen=True, slots=True)
class Normalised:
    """A normalised text.

    ``starts`` and ``ends`` map its characters to the original; ``None`` when every character kept its place.
    """

    text: str
    starts: Sequence[int] | None = None
    ends: Sequence[int] | None = None

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """The code points of the original that became ``text[start:end]``, a whole cluster at a time.

        An empty span stays empty.
        """
        if self.starts is None or self.ends is None:
            return start, end
        if start >= end:
            position = self.starts[start] if start < len(self.starts) else (self.ends[-1] if self.ends else 0)
            return position, position
        return self.starts[start], self.ends[end - 1]


@lru_cache(maxsize=128)
def normalise(text: str) -> Normalised:
    """``text`` in NFKC, case-folded, apostrophes and hyphens unified, invisible characters dropped.

    Time is linear in the length, whatever the text holds.
    """
    if text.isascii():
        return Normalised(text.lower())
    if _NOT_PLAIN.search(text) is None:
        return Normalised(text.lower().translate(_FOLDED))
    pieces: list[str] = []
    starts = array("I")
    ends = array("I")
    for start, end in _clusters(text):
        raw = text[start:end]
        if raw.isascii():
            pieces.append(raw.lower())
            starts.extend(range(start, end))
            ends.extend(range(start + 1, end + 1))
            continue
        piece = fold(raw)
        pieces.append(piece)
        starts.extend([start] * len(piece))
        ends.extend([end] * len(piece))
    return Normalised("".join(pieces), starts, ends)


def fold(text: str) -> str:
    """The normal form of a short piece of text (a name, a word)."""
    folded = unicodedata.normalize("NFKC", text.translate(_INVISIBLE)).casefold()
    return unicodedata.normalize("NFKC", folded).translate(_FOLDED)


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Spans that are normalised independently of each other.

    Each is a character with the marks that follow it, or a run of ASCII.
    """
    for run in _RUN.finditer(text):
        start, end = run.span()
        if text[start].isascii():
            # The last letter belongs to the marks that follow it.
            end -= end < len(text) and _continues(text[end])
            if start < end:
                yield start, end
            continue
        start -= start > 0 and _continues(text[start])
        for position in range(start + 1, end):
            if position - start >= _LONGEST_CLUSTER or not _continues(text[position]):
                yield start, position
                start = position
        yield start, end


def _continues(character: str) -> bool:
    is_mark = unicodedata.category(character)[0] == "M"
    return is_mark or ord(character) in _HANGUL_PARTS or character in _VOICING_MARKS
