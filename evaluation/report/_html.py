"""Build HTML and SVG so that all text is escaped unless ``tag`` made it."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from pathlib import Path

from evaluation.escaping import safe

# Besides what is escaped: should anything slip through, a browser loads and runs nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = Path(__file__).with_name("report.css")
_EMPTY = frozenset({"br", "circle", "hr", "line", "meta", "path", "rect"})


class Html(str):
    """Text that is HTML already; only :func:`tag`, :func:`join` and :func:`escaped` make it."""

    __slots__ = ()


Child = str | float | int | None


def escaped(text: object) -> Html:
    """Text of strangers for any place in HTML: escaped, without control characters and marks that reorder it.

    Line ends stay.
    """
    lines = str(text).replace("\r\n", "\n").split("\n")
    return Html(html.escape("\n".join(map(safe, lines)), quote=True))


def tag(name: str, *children: Child, **attributes: Child) -> Html:
    """An element.

    Args:
        name: Of the element: our own word.
        children: Escaped unless they are ``Html``; ``None`` is left out.
        attributes: Escaped; ``None`` is left out. An underscore stands for a hyphen, and one at the end for nothing
            (``class_``).
    """
    given = [(key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items() if value is not None]
    head = name + "".join(f' {key}="{escaped(value)}"' for key, value in given)
    return Html(f"<{head}/>" if name in _EMPTY else f"<{head}>{join(children)}</{name}>")


def join(parts: Iterable[Child]) -> Html:
    """The parts one after another; each is escaped unless it is ``Html``."""
    return Html("".join(part if isinstance(part, Html) else escaped(part) for part in parts if part is not None))


def table(headers: Sequence[str], rows: Sequence[Sequence[Child]], caption: str) -> Html:
    """A table whose first column heads its rows; nothing for no rows."""
    if not rows:
        return Html("")
    head = tag("tr", *(tag("th", each, scope="col") for each in headers))
    body = [tag("tr", tag("th", row[0], scope="row"), *(tag("td", cell) for cell in row[1:])) for row in rows]
    framed = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *body))
    return tag("div", framed, class_="wide", tabindex="0", role="region", aria_label=caption)


def bullets(lines: Iterable[Child]) -> Html:
    """A list; nothing for no lines."""
    items = [tag("li", line) for line in lines]
    return tag("ul", *items) if items else Html("")


def section(title: str, *content: Child) -> Html:
    """A part of a page with its heading."""
    return tag("section", tag("h2", title), *content)


def page(title: str, *content: Child) -> str:
    """A whole document that loads nothing and runs nothing."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        # Our own file, without any sign that HTML would read.
        tag("style", Html(_STYLE.read_text(encoding="utf-8"))),
    )
    body = tag("body", tag("main", tag("h1", title), *content))
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"
