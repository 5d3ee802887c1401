"""Charts as plain SVG, which need no library, script or browser and print well.

Dots are games, diamonds means with their intervals, the dashed line is the threshold: shapes and places tell them
apart, so that a colour lost to a printer or to colour blindness takes nothing away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluation.escaping import shortened
from evaluation.files.html_templates import render, render_fragment
from evaluation.score import LIKERT, PERCENT, Scale
from evaluation.statistics.intervals import Interval

if TYPE_CHECKING:
    from markupsafe import Markup

WIDTH, HEIGHT = 640, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 66, 34, 34
_LETTER = 6.6
_MOST_DOTS = 300


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
) -> Markup:
    """Groups of games side by side on one scale.

    Args:
        strips: From left to right.
        scale: Of the axis.
        threshold: Drawn as a dashed line; ``None`` for none.
        title: Above the chart, and its name for screen readers.
        description: The chart in words, for people who do not see it.
        top: Where it begins within a larger drawing.
    """
    unit = " %" if scale == PERCENT else ""
    means = [
        f"{_x(place, len(strips)):.1f} {_y(strip.mean, scale):.1f}"
        for place, strip in enumerate(strips)
        if strip.mean is not None
    ]
    return render_fragment(
        "report/templates/chart.svg.j2",
        title=title,
        description=description,
        width=WIDTH,
        height=HEIGHT,
        top=top,
        left=_LEFT,
        right=WIDTH - _RIGHT,
        ticks=[(f"{tick:g}{unit}", _y(tick, scale)) for tick in _ticks(scale)],
        limit=None if threshold is None else (f"≥ {threshold:g}{unit}", _y(threshold, scale)),
        line="M " + " L ".join(means) if len(means) > 1 else "",
        columns=[_column(strip, place, len(strips), scale) for place, strip in enumerate(strips)],
    )


def stacked_svg(drawings: Sequence[Markup], title: str) -> str:
    """Several charts below each other as one SVG file."""
    height = HEIGHT * max(1, len(drawings))
    return render("report/templates/stacked_charts.svg.j2", title=title, charts=drawings, width=WIDTH, height=height)


def _ticks(scale: Scale) -> list[float]:
    if scale == LIKERT:
        return [1, 2, 3, 4, 5]
    parts = 3 if scale.width % 3 == 0 and scale != PERCENT else 4
    return [scale.low + scale.width * part / parts for part in range(parts + 1)]


def _column(strip: Strip, place: int, count: int, scale: Scale) -> dict[str, object]:
    """Positions of one group's parts, as the template draws them."""
    center, slot = _x(place, count), _slot(count)
    letters = int((slot - 6) / _LETTER)
    diamond = "" if strip.mean is None else f"M {center:.1f} {_y(strip.mean, scale) - 7:.1f} l 7 7 l -7 7 l -7 -7 z"
    return {
        "center": center,
        # Where there is no room for a name, the place of the iteration stands.
        "label": shortened(strip.label, letters) if letters >= 8 else str(place + 1) * (count <= 40 or place % 5 == 0),
        "dots": _dots(strip, center, slot, scale),
        "interval": _interval_path(strip.interval, center, scale),
        "diamond": diamond,
        "words": strip.words,
    }


def _dots(strip: Strip, center: float, slot: float, scale: Scale) -> list[tuple[str, str, str]]:
    """Title, x and y of each game's dot."""
    step = 1 + max(0, len(strip.values) - 1) // _MOST_DOTS
    shown = range(0, len(strip.values), step)
    gap = min(0.3 * slot, 60.0) / max(3, len(shown))
    dots = []
    for rank, number in enumerate(shown):
        name, value = strip.names[number] if strip.names else "", strip.values[number]
        title = f"{shortened(name, 60)}: {value:.1f}" if name else ""
        dots.append((title, f"{center + (rank - (len(shown) - 1) / 2) * gap:.1f}", f"{_y(value, scale):.1f}"))
    return dots


def _interval_path(interval: Interval, center: float, scale: Scale) -> str:
    if interval.low is None or interval.high is None:
        return ""
    low, high = _y(interval.low, scale), _y(interval.high, scale)
    ends = (f"M {center - 7:.1f} {end:.1f} h 14" for end in (low, high))
    return " ".join((f"M {center:.1f} {low:.1f} V {high:.1f}", *ends))


def _slot(count: int) -> float:
    return (WIDTH - _LEFT - _RIGHT) / max(1, count)


def _x(place: int, count: int) -> float:
    return _LEFT + (place + 0.5) * _slot(count)


def _y(value: float, scale: Scale) -> float:
    share = (value - scale.low) / scale.width
    return HEIGHT - _BOTTOM - min(1.0, max(0.0, share)) * (HEIGHT - _TOP - _BOTTOM)
