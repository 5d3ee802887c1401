"""Split a message into words, stems and sentences with their places, and find the phrases of a search in texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any, NamedTuple

import snowballstemmer

from evaluation.errors import InputError
from evaluation.text.normal import normalise, word_list

# Vowel signs and accents are not letters for ``re``, yet they stand inside words: Latin, Hebrew, Arabic, the scripts of
# India and South-East Asia. (NFKC has already joined what has a composed form.)
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u0730-\u074a\u0900-\u0903\u093a-\u094f\u0951-\u0963\u0981-\u0983\u09bc-\u09cd\u09d7"
    "\u0a01-\u0a03\u0a3c-\u0a51\u0a70\u0a71\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57\u0b82\u0bbe-\u0bcd"
    "\u0c00-\u0c04\u0c3e-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03\u0d3b-\u0d4d\u0d81-\u0d83\u0dca-\u0ddf"
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u17b4-\u17d3"
)
# In parentheses, so that splitting by them yields gaps and words in turn.
_WORD = re.compile(rf"([\w{_MARKS}]+(?:'[\w{_MARKS}]+)*)")
_ASCII_WORD = re.compile(r"([a-z0-9]++(?:'[a-z0-9]++)*)")
# A run of terminal marks with the quotes that close on it. The negative look-behind keeps long runs linear; the set at
# the beginning lets the search skip all other characters at once.
_SENTENCE_END = re.compile(
    r"[.!?\u2026\u3002\uff01\uff1f\n](?:"
    r"(?<=[.!?\u2026])(?<![.!?\u2026].)[.!?\u2026]*+[\"'\u2019\u201d)\]*_]*+(?=\s|$)"
    r"|(?<=[\u3002\uff01\uff1f])[\u3002\uff01\uff1f]*+[\u300d\u300f\uff09]*+|(?<=\n)\n*+)"
)
_ABBREVIATION = re.compile(r"(?:\b(?:mr|mrs|ms|dr|vs|etc|e\.g|i\.e)|\b[a-z]\.[a-z])\.$")
_LONGEST_ABBREVIATION = 5
# The last two letters of those without a full stop inside.
_ABBREVIATION_ENDS = frozenset({"mr", "rs", "ms", "dr", "vs", "tc"})


class Token(NamedTuple):
    """A word or number: normalised, with its span in the original text (code points, end exclusive)."""

    text: str
    start: int
    end: int


_new_token: Callable[[tuple[str, int, int]], Token] = partial(tuple.__new__, Token)


@lru_cache(maxsize=128)
def tokenize(text: str) -> tuple[Token, ...]:
    """The words and numbers of ``text`` in order.

    Apostrophes inside a word stay ("don't"); hyphens, underscores and everything else separate. A possessive is one
    token with its word ("bravo's").
    """
    copy = normalise(text)
    # Where every character kept its place, no word holds any but ASCII letters.
    pieces = _ASCII_WORD.split(copy.text) if copy.starts is None else _WORD.split(copy.text.replace("_", " "))
    # Splitting and summing lengths is three times as fast as asking every match for its span.
    borders = list(accumulate(map(len, pieces), initial=0))
    starts, ends = borders[1:-1:2], borders[2::2]
    if copy.starts is not None and copy.ends is not None:
        starts = [copy.starts[start] for start in starts]
        ends = [copy.ends[end - 1] for end in ends]
    return tuple(map(_new_token, zip(pieces[1::2], starts, ends, strict=True)))


@lru_cache(maxsize=128)
def sentences(text: str) -> tuple[tuple[int, int], ...]:
    """Spans of the sentences of ``text`` in order, terminal punctuation inside, surrounding white space outside.

    A line break ends a sentence. A full stop after a title or an abbreviation ("Dr.", "e.g.") does not.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        if not _is_abbreviation(text, match):
            _append_trimmed(spans, text, start, match.end())
            start = match.end()
    _append_trimmed(spans, text, start, len(text))
    return tuple(spans)


def _is_abbreviation(text: str, match: re.Match[str]) -> bool:
    end = match.end()
    ending = text[max(0, end - 3) : end - 1]
    # Nearly every full stop is none of an abbreviation, and two letters tell.
    if match[0] != "." or not (ending.startswith(".") or ending.lower() in _ABBREVIATION_ENDS):
        return False
    before = text[max(0, match.end() - _LONGEST_ABBREVIATION) : match.end()].lower()
    return match.end() < len(text) and _ABBREVIATION.search(before) is not None


def _append_trimmed(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    raw = text[start:end]
    stripped = raw.strip()
    if stripped:
        first = start + len(raw) - len(raw.lstrip())
        spans.append((first, first + len(stripped)))


STOP_WORDS: frozenset[str] = word_list("stop_words.txt")
"""Function words of English and of chat, contractions with and without their apostrophe."""


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The Snowball stem of a normalised English word; a possessive ending is dropped first.

    Args:
        word: As :func:`~evaluation.text.tokens.tokenize` gives it.
    """
    return str(_STEMMER.stemWord(word.removesuffix("'s")))


_STEMMER: Any = snowballstemmer.stemmer("english")


MOST_PHRASES = 20
MOST_LETTERS = 500
_ELLIPSIS = "…"
_TYPOGRAPHIC_QUOTES = dict.fromkeys(map(ord, "“”„‟«»"), '"')
_PART = re.compile(r'"([^"]*)"?|([^\s"]+)')


def phrases(query: str) -> tuple[str, ...]:
    """Parts that a text must all contain to be found: single words, and quoted phrases.

    A quote that is never closed ends with the query. Case does not matter to the search, so of two phrases that differ
    in nothing else the first stays.

    Raises:
        InputError: The query holds no word, more than 20 words and phrases, or more than 500 letters.
    """
    if len(query) > MOST_LETTERS:
        raise InputError(f"The search is {len(query)} letters long.", remedy=f"Use {MOST_LETTERS} at the most.")
    found: dict[str, str] = {}
    for quoted, word in _PART.findall(query.translate(_TYPOGRAPHIC_QUOTES)):
        if phrase := " ".join((quoted or word).split()):
            found.setdefault(phrase.lower(), phrase)
    if not found:
        raise InputError("There is no word to search for.", remedy='Type a word, or a phrase in quotes: "voted for".')
    if len(found) > MOST_PHRASES:
        raise InputError(
            f"The search holds {len(found)} words and phrases; {MOST_PHRASES} are the most.",
            remedy="Put words that belong together in quotes.",
        )
    return tuple(found.values())


def pattern(phrase: str) -> str:
    """A regular expression for ``phrase`` in any case, with any white space between its words; linear in time."""
    return r"(?i)" + r"\s+".join(map(re.escape, phrase.split()))


def excerpt(text: str, wanted: Sequence[str], length: int = 160) -> str:
    """At most ``length`` characters of ``text`` on one line, around the first place that holds one of ``wanted``."""
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    places = [found.start() for phrase in wanted if (found := re.search(pattern(phrase), line))]
    # A third of the excerpt stands before what was found; the ellipses take a character each.
    start = min(max(0, min(places, default=0) - length // 3), len(line) - length)
    end = start + length
    head = _ELLIPSIS if start else ""
    tail = _ELLIPSIS if end < len(line) else ""
    return head + line[start + len(head) : end - len(tail)] + tail


# Quotation marks of all kinds with what escapes them, emphasis, and the mark between lines: models change them.
_SPECIAL = r"|*\\\"'`\u00b4\u00ab\u00bb\u2018-\u201f\u2032\u2033\u2039\u203a\u300c-\u300f\uff02\uff07"
_RUN = re.compile(rf"[^\s{_SPECIAL}]+")
_DASHES = dict.fromkeys("-\u2013\u2014", "[-\u2013\u2014]")
# Other signs that models put around what they quote.
_AROUND = " \"'\u2018\u2019\u201c\u201d\u2026.,;:!?-"


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """The span of a quote in a text in code points, end exclusive; ``None`` where it does not stand there.

    Case, blanks, marks between lines ("|"), quotation marks of any shape and the shapes of dashes do not matter, nor
    the signs around the quote.
    """
    for words in (quote.strip(), quote.strip(_AROUND)):
        pattern, end = "", 0
        for run in _RUN.finditer(words):
            pattern += _between(words[end : run.start()])
            pattern += "".join(_DASHES.get(sign) or re.escape(sign) for sign in run.group())
            end = run.end()
        if end and (found := re.search(pattern + _between(words[end:]), text, re.IGNORECASE)):
            return found.span()
    return None


def _between(signs: str) -> str:
    """A pattern for what stands between runs of a quote: a blank must be there, a mark may be missing."""
    if not signs:
        return ""
    return rf"[\s{_SPECIAL}]+" if any(map(str.isspace, signs)) else f"[{_SPECIAL}]*"
