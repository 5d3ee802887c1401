"""Parse search queries, and cut the excerpt of a text that shows a match."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evaluation.errors import InputError

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
_MARKS = r"|*\\\"'`\u00b4\u00ab\u00bb\u2018-\u201f\u2032\u2033\u2039\u203a\u300c-\u300f\uff02\uff07"
_RUN = re.compile(rf"[^\s{_MARKS}]+")
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
    return rf"[\s{_MARKS}]+" if any(map(str.isspace, signs)) else f"[{_MARKS}]*"
