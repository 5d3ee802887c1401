"""Tables that are read: whole texts, a colour for each status, cards on a phone, rows to choose; and their files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import access_checks
from dashboard.shared.chat.conversation import utf16_span
from dashboard.shared.drawing import define_component
from dashboard.shared.formatting import SIGNS
from evaluation.escaping import json_text
from evaluation.writers import csv_text

_text_table = define_component("dramaturg_text_table", Path(__file__).with_name("text_table"))

Table = pd.DataFrame | Sequence[Mapping[str, object]]
"""A frame, or rows of cells by heading; terminal and files take the same rows."""

Bars = Mapping[str, Sequence[float | None]]
"""By column: the length of the bar below each cell, as a share of the longest possible (0 to 1); ``None`` for none."""


Marks = Mapping[str, Sequence[Sequence[tuple[int, int]]]]
"""By column: begin and end in each cell's text, in characters, of the parts that are marked."""


def status_table(
    table: Table,
    alt: str,
    *,
    bars: Bars | None = None,
    marks: Marks | None = None,
    groups: Sequence[str] = (),
    is_code: bool = False,
    is_matrix: bool = False,
) -> None:
    """``table`` as texts; cells that begin with a status symbol are in that status's colour.

    Args:
        table: What to show; untrusted text is fine. Floats are shown with at most four places, missing values as
            nothing.
        alt: What the table holds, in our own words.
        bars: Columns whose cells have a bar below.
        marks: Columns with marked parts.
        groups: For each row, the heading above it and those of the same group that follow it.
        is_code: Whether it is a text in lines, each behind its sign, drawn as one block in a typeface of equal widths.
        is_matrix: Scrolled sideways on a phone, where other tables become cards; the first column stays.
    """
    _draw(table, alt, bars=bars, marks=marks, groups=groups, is_code=is_code, is_matrix=is_matrix)


def pick_row(table: Table, alt: str, key: str, *, at_first: int | None = None) -> int | None:
    """A table like :func:`status_table` whose rows can be chosen.

    Args:
        table: What to show.
        alt: What the table holds, in our own words.
        key: The key of the choice.
        at_first: The row that is chosen at first; one is always chosen then.

    Returns:
        The number of the chosen row from 0, until another is chosen, or the table changes; ``None`` for none.
    """
    rows = _rows(_draw(table, alt, key=key, pick="row", keeps=True, at_first=at_first), table)
    return rows[0] if rows else at_first


def pick_rows(table: Table, alt: str, key: str) -> list[int]:
    """A table like that of :func:`pick_row` in which several rows can be chosen: their numbers in that order."""
    return _rows(_draw(table, alt, key=key, pick="rows", keeps=True), table)


def _rows(chosen: list[list[int]], table: Table) -> list[int]:
    return [row for row, *_ in chosen if row < len(table)]


def open_row(
    table: Table,
    alt: str,
    key: str,
    *,
    opened: int | None = None,
    bars: Bars | None = None,
    groups: Sequence[str] = (),
) -> int | None:
    """A table whose rows lead elsewhere: the number of the row is told once, in the run after the click.

    The row ``opened`` is marked as the one that is shown; ``bars`` and ``groups`` are as elsewhere.
    """
    chosen = _rows(_draw(table, alt, key=key, pick="row", at_first=opened, bars=bars, groups=groups), table)
    return chosen[0] if chosen else None


def open_below(
    table: Table,
    alt: str,
    key: str,
    opened: int | None,
    draw: Callable[[], None],
    *,
    groups: Sequence[str] = (),
    bars: Bars | None = None,
) -> int | None:
    """A table whose rows open below themselves, on a phone as well: the row that was pressed, told once.

    Texts are cut after two lines. What the first column repeats from the row above is shown once.

    Args:
        table: What to show; where its second column holds no figures, a phone has room for four.
        alt: What the table holds, in our own words.
        key: The key of the table.
        opened: The row that is open; ``None`` for none.
        draw: Draws what it holds.
        groups: For each row, the heading above it and those of the same group that follow it.
        bars: Columns whose cells have a bar below.
    """
    frame = pd.DataFrame(table)
    until = len(frame) if opened is None else opened + 1
    lengths = dict(bars or {})
    upper = {name: shares[:until] for name, shares in lengths.items()}
    above = _draw(frame[:until], alt, key=key, pick="line", at_first=opened, groups=groups[:until], bars=upper)
    if opened is not None:
        with st.container(key=f"{key}_chosen", gap="small"):
            draw()
    below: list[list[int]] = []
    if until < len(frame):
        further = f"{alt}, below"
        # The heading above the open row is that of the rows below it, too.
        rest = ["" if one == groups[until - 1] else one for one in groups[until:]]
        lower = {name: shares[until:] for name, shares in lengths.items()}
        below = _draw(frame[until:], further, key=f"{key}_below", pick="line", has_head=False, groups=rest, bars=lower)
    pressed = [row for row, *_ in above if row < until] + [until + row for row, *_ in below if until + row < len(frame)]
    return pressed[0] if pressed else None


def pick_cell(
    frame: pd.DataFrame, alt: str, key: str, *, groups: Sequence[str] = (), heads: int = 1, is_shaded: bool = False
) -> tuple[int, int] | None:
    """A matrix whose cells, but for those of the first ``heads`` columns, can be chosen: row and column, told once.

    Shaded, a cell is the darker the larger its count is.
    """
    counts: Any = frame.iloc[:, heads:].apply(pd.to_numeric) if is_shaded else pd.DataFrame()
    bars = {str(name): list(counts[name] / counts.max(axis=None)) for name in counts}
    chosen = _draw(frame, alt, bars=bars, key=key, pick="cell", groups=groups, heads=heads, is_matrix=True)
    if not chosen or len(chosen[0]) != 2:
        return None
    row, column = chosen[0]
    return (row, column) if row < len(frame) and heads <= column < frame.shape[1] else None


def _draw(
    table: Table,
    alt: str,
    *,
    bars: Bars | None = None,
    marks: Marks | None = None,
    key: str | None = None,
    pick: str = "",
    keeps: bool = False,
    at_first: int | None = None,
    groups: Sequence[str] = (),
    is_code: bool = False,
    has_head: bool = True,
    is_matrix: bool = False,
    heads: int = 1,
) -> list[list[int]]:
    frame = pd.DataFrame(table)
    rows: list[list[list[Any]]] = [[[cell_text(cell)] for cell in row] for row in frame.itertuples(index=False)]
    columns = [
        {"label": str(name), "isNumber": at > 0 and holds_figures([row[at][0] for row in rows])}
        for at, name in enumerate(frame.columns)
    ]
    for name, shares in (bars or {}).items():
        at = list(frame.columns).index(name)
        for row, share in zip(rows, shares, strict=True):
            if share is not None and share == share:
                row[at].append(min(1.0, max(0.0, share)))
    for name, spans in (marks or {}).items():
        at = list(frame.columns).index(name)
        for row, own in zip(rows, spans, strict=True):
            row[at] = [row[at][0], None, [utf16_span(str(row[at][0]), *one) for one in own]]
    data = {"alt": alt, "columns": columns, "rows": rows, "groups": list(groups), "isCode": is_code}
    data |= {"pick": pick, "keeps": keeps, "atFirst": at_first, "hasHead": has_head}
    data |= {"isMatrix": is_matrix, "heads": heads}
    if key is None:
        _text_table(data=data)
        return []
    # A choice is by row numbers, so it must not outlive the rows that it was made on. Lines are drawn again in place.
    version = (
        ""
        if pick == "line"
        else hashlib.blake2s(repr(rows).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    )
    return _read(_text_table(data=data, key=f"{key}_{version}", on_chosen_change=_ignore).chosen)


def _ignore() -> None:
    """The choice is read where the table is drawn."""


def _read(value: object) -> list[list[int]]:
    """The chosen places; whatever else the browser may send chooses nothing."""
    places = value if isinstance(value, list) else []
    # One place that is told once comes as such.
    places = [places] if places and all(isinstance(one, int) for one in places) else places
    return [place for place in places if isinstance(place, list) and place and all(map(_is_number, place))]


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def cell_text(cell: Any) -> str:
    """A value of a frame as text: at most four places and no zeros behind the last that says something."""
    if cell is None or cell is pd.NaT or (isinstance(cell, float) and cell != cell) or cell is pd.NA:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:,.4f}".rstrip("0").rstrip(".").replace("-", "\u2212")
    text = f"{cell:,}" if isinstance(cell, int) else str(cell)
    # A minus sign is as wide as a plus; a hyphen in somebody's words stays one.
    return _MINUS.sub("\u2212", text) if _FIGURE.fullmatch(text) else text


def holds_figures(texts: Sequence[str]) -> bool:
    """Whether most cells of a column are figures, with a sign or a unit or without, so that it is aligned right."""
    told = [text for text in texts if text]
    figures = sum(_FIGURE.fullmatch(text.lstrip(_SIGNS)) is not None for text in told)
    return figures > len(told) / 2


_SIGNS = "".join(SIGNS) + " <"
_MINUS = re.compile(r"(?<![\w])-(?=\d)")
_NUMBER = r"[-+\u2212\d][-+\u2212\d.,%()\s]*+"
_FIGURE = re.compile(rf"{_NUMBER}(?:(?:to|of) {_NUMBER})?(?:points|USD|times|games?|s|ms|min)?")


def csv_download(label: str, table: Callable[[], Table], file_name: str) -> None:
    """A button for a table as CSV in which nothing runs when a spreadsheet opens it."""
    # A byte order mark tells spreadsheets that it is UTF-8.
    _download(label, lambda: ("\ufeff" + csv_text(pd.DataFrame(table()))).encode("utf-8"), file_name, "text/csv")


def json_download(label: str, data: Callable[[], Any], file_name: str) -> None:
    """A button for data as JSON."""
    _download(label, lambda: json_text(data()).encode("utf-8"), file_name, "application/json")


def _download(label: str, make: Callable[[], bytes], file_name: str, mime: str) -> None:
    access_checks.download_button("table", label, make, file_name, mime, key=f"download {file_name}")
