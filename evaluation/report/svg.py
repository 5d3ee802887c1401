"""Charts as plain SVG, which need no library, script or browser and print well.

Dots are games, diamonds means with their intervals, the dashed line is the threshold: shapes and places tell them
apart, so that a colour lost to a printer or to colour blindness takes nothing away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluation.escaping import shortened
from evaluation.report._html import Html, tag
from evaluation.score import LIKERT, PERCENT, Scale
from evaluation.statistics.intervals import Interval

WIDTH, HEIGHT = 640, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 66, 34, 34
_ACCENT, _DOT, _LIMIT, _INK, _GRID = "#5b50d6", "#8a8798", "#c2500f", "#17151f", "#e4e1ec"
_LETTER = 6.6
_MOST_DOTS = 300
_FONT = "system-ui, Liberation Sans, DejaVu Sans, sans-serif"


@dataclass(frozen=True, slots=True)
class Strip:
    """One group of games in a chart.

    Attributes:
        label: Below the axis: text of strangers is fine.
        values: One per game that has a score.
        mean: ``None`` without any.
        interval: Of the mean.
        names: Of the games, for whoever hovers over a dot; none is fine too.
        words: The mean with its interval, as people read it.
    """

    label: str
    values: tuple[float, ...]
    mean: float | None
    interval: Interval
    names: tuple[str, ...] = ()
    words: str = ""


def strip_svg(
    strips: Sequence[Strip], scale: Scale, threshold: float | None, title: str, description: str, *, top: float = 0.0
) -> Html:
    """Groups of games side by side on one scale.

    Args:
        strips: From left to right.
        scale: Of the axis.
        threshold: Drawn as a dashed line; ``None`` for none.
        title: Above the chart, and its name for screen readers.
        description: The chart in words, for people who do not see it.
        top: Where it begins within a larger drawing.
    """
    return tag(
        "svg",
        tag("title", title),
        tag("desc", description),
        tag("rect", width=WIDTH, height=HEIGHT, fill="#ffffff"),
        _text(8, 20, title, size=15, weight="600"),
        *_axis(scale),
        *_threshold(threshold, scale),
        *_line(strips, scale),
        *(part for place, strip in enumerate(strips) for part in _strip(strip, place, len(strips), scale)),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        width=WIDTH,
        height=HEIGHT,
        y=top or None,
        role="img",
        font_family=_FONT,
    )


def stacked_svg(drawings: Sequence[Html], title: str) -> str:
    """Several charts below each other as one SVG file."""
    height = HEIGHT * max(1, len(drawings))
    return tag(
        "svg",
        tag("title", title),
        *drawings,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {height}",
        width=WIDTH,
        height=height,
    )


def _axis(scale: Scale) -> Iterator[Html]:
    for tick in _ticks(scale):
        height = _y(tick, scale)
        yield tag("line", x1=_LEFT, x2=WIDTH - _RIGHT, y1=height, y2=height, stroke=_GRID)
        label = f"{tick:g} %" if scale == PERCENT else f"{tick:g}"
        yield _text(_LEFT - 8, height + 4, label, anchor="end")


def _ticks(scale: Scale) -> list[float]:
    if scale == LIKERT:
        return [1, 2, 3, 4, 5]
    parts = 3 if scale.width % 3 == 0 and scale != PERCENT else 4
    return [scale.low + scale.width * part / parts for part in range(parts + 1)]


def _threshold(threshold: float | None, scale: Scale) -> Iterator[Html]:
    if threshold is not None:
        height = _y(threshold, scale)
        yield tag(
            "line",
            x1=_LEFT,
            x2=WIDTH - _RIGHT,
            y1=height,
            y2=height,
            stroke=_LIMIT,
            stroke_width=2,
            stroke_dasharray="7 5",
        )
        yield _text(WIDTH - _RIGHT + 6, height + 4, f"≥ {threshold:g}" + (" %" if scale == PERCENT else ""))


def _line(strips: Sequence[Strip], scale: Scale) -> Iterator[Html]:
    points = [
        f"{_x(place, len(strips)):.1f} {_y(strip.mean, scale):.1f}"
        for place, strip in enumerate(strips)
        if strip.mean is not None
    ]
    if len(points) > 1:
        yield tag("path", d="M " + " L ".join(points), fill="none", stroke=_ACCENT, stroke_width=2, opacity=0.6)


def _strip(strip: Strip, place: int, count: int, scale: Scale) -> Iterator[Html]:
    center, slot = _x(place, count), _slot(count)
    yield from _dots(strip, center, slot, scale)
    if strip.mean is not None:
        yield from _mean(strip, center, scale)
    letters = int((slot - 6) / _LETTER)
    # Where there is no room for a name, the place of the iteration stands.
    label = shortened(strip.label, letters) if letters >= 8 else str(place + 1) * (count <= 40 or place % 5 == 0)
    yield _text(center, HEIGHT - 12, label, anchor="middle")


def _dots(strip: Strip, center: float, slot: float, scale: Scale) -> Iterator[Html]:
    step = 1 + max(0, len(strip.values) - 1) // _MOST_DOTS
    shown = range(0, len(strip.values), step)
    width = min(0.3 * slot, 60.0)
    for rank, number in enumerate(shown):
        beside = (rank - (len(shown) - 1) / 2) * width / max(3, len(shown))
        name = strip.names[number] if strip.names else ""
        yield _dot(name, center + beside, strip.values[number], scale)


def _dot(name: str, x: float, value: float, scale: Scale) -> Html:
    dot = tag(
        "circle", cx=f"{x:.1f}", cy=f"{_y(value, scale):.1f}", r=4, fill=_DOT, fill_opacity=0.65, stroke="#ffffff"
    )
    return tag("g", tag("title", f"{shortened(name, 60)}: {value:.1f}"), dot) if name else dot


def _mean(strip: Strip, center: float, scale: Scale) -> Iterator[Html]:
    assert strip.mean is not None
    middle = _y(strip.mean, scale)
    if strip.interval.low is not None and strip.interval.high is not None:
        low, high = _y(strip.interval.low, scale), _y(strip.interval.high, scale)
        ends = (f"M {center - 7:.1f} {end:.1f} h 14" for end in (low, high))
        path = " ".join((f"M {center:.1f} {low:.1f} V {high:.1f}", *ends))
        yield tag("path", d=path, stroke=_ACCENT, stroke_width=2, fill="none")
    diamond = f"M {center:.1f} {middle - 7:.1f} l 7 7 l -7 7 l -7 -7 z"
    shape = tag("path", d=diamond, fill=_ACCENT, stroke="#ffffff")
    yield tag("g", tag("title", strip.words), shape) if strip.words else shape


def _text(x: float, y: float, words: str, *, size: int = 12, anchor: str = "start", weight: str | None = None) -> Html:
    return tag(
        "text", words, x=f"{x:.1f}", y=f"{y:.1f}", font_size=size, text_anchor=anchor, font_weight=weight, fill=_INK
    )


def _slot(count: int) -> float:
    return (WIDTH - _LEFT - _RIGHT) / max(1, count)


def _x(place: int, count: int) -> float:
    return _LEFT + (place + 0.5) * _slot(count)


def _y(value: float, scale: Scale) -> float:
    share = (value - scale.low) / scale.width
    return HEIGHT - _BOTTOM - min(1.0, max(0.0, share)) * (HEIGHT - _TOP - _BOTTOM)


def figure(drawing: Html, caption: str) -> Html:
    """A chart in a page, with its caption."""
    return tag("figure", drawing, tag("figcaption", caption))
