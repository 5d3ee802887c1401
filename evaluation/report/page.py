"""A report as sections of paragraphs, lists, tables and quotations, and the one page of HTML that shows them.

The page is one self-contained file: readable offline, printable, and without anything loaded from elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Literal, NamedTuple

from evaluation.files.html_templates import render
from evaluation.insight.recommendations import Recommendation

_GOOD = frozenset({"passed", "met", "keep", "kept", "clearly better"})
_BAD = frozenset({"failed", "not met", "revert", "reverted", "clearly worse"})
_MARKS = {
    "pending": "…",
    "cannot be decided yet": "…",
    "cannot be decided": "–",
    "not applicable": "–",
    "could be luck": "–",
    "no evidence either way": "–",
}


class Badge(NamedTuple):
    """A status in a frame.

    Attributes:
        words: What it says.
        tone: "good", "bad" or nothing.
    """

    words: str
    tone: str = ""


class Bar(NamedTuple):
    """A cell with a bar below its words.

    Attributes:
        words: What it says.
        share: Length of the bar, from 0 to 1.
        limit: Place of the threshold's mark, from 0 to 1; ``None`` for none.
    """

    words: str
    share: float
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table; headers are our own words, the first cell of a row names it."""

    headers: Sequence[str]
    rows: Sequence[Sequence[str | Bar]]
    caption: str = ""
    kind: ClassVar[str] = "table"


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list; without items nothing is shown."""

    items: Sequence[str | Recommendation]
    kind: ClassVar[str] = "bullets"


@dataclass(frozen=True, slots=True)
class MessageQuote:
    """A message, with what is said of it."""

    source: str
    text: str
    reason: str
    kind: ClassVar[str] = "quote"


@dataclass(frozen=True, slots=True)
class StyledText:
    """A sub-heading, a remark in small print, or preformatted text."""

    words: str
    kind: Literal["h3", "quiet", "pre"]


Block = str | tuple[str | Badge, ...] | Table | Bullets | MessageQuote | StyledText
"""What stands in a section; a text is a paragraph that keeps its line ends, a tuple one with badges in it."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, empty for none, with what stands below it."""

    heading: str
    blocks: Sequence[Block]


def html_page(title: str, sections: Sequence[Section], made_at: datetime, notes: Sequence[str] = ()) -> str:
    """The report as one HTML document: no scripts, no addresses, and a policy that forbids both.

    Args:
        title: Its heading.
        sections: What it shows.
        made_at: When it is written (UTC).
        notes: How to read its figures.
    """
    reading = Section("How to read this", [Bullets(notes)])
    shown = [*sections, *([reading] if notes else [])]
    made = f"Made with Dramaturg on {made_at:%Y-%m-%d at %H:%M} UTC."
    return render("report/templates/report.html.j2", title=title, sections=shown, made=made)


def status_words(status: object) -> str:
    """A status as a symbol and a word, so that no colour is needed: "✓ passed"."""
    word = str(status).replace("_", " ")
    mark = "✓" if word in _GOOD else "✗" if word in _BAD else _MARKS.get(word, "?")
    # No line ends between the two.
    return f"{mark}\u00a0{word}"


def badge(status: object, words: str = "") -> Badge:
    """The badge of a status, which its symbol and word stand in unless other words are given."""
    word = str(status).replace("_", " ")
    return Badge(words or status_words(status), "good" if word in _GOOD else "bad" if word in _BAD else "")
