"""Place players in the network drawing, the same way every time and without overlapping labels.

networkx places them (Fruchterman and Reingold, with a fixed seed); what overlaps is then pushed apart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import networkx as nx

_SEED = 7
_ROUNDS = 400
_LETTER = 7.2
"""Width of a letter in pixels, at 13 pixels a line."""
_LINE = 18.0
_RADIUS = 15.0
_GAP = 6.0
_MOST_LETTERS = 16
_FEWEST_LETTERS = 4


@dataclass(frozen=True, slots=True)
class Spot:
    """The place of a player's dot, in pixels from the upper left corner; the label is centred below it.

    Attributes:
        letters: How many letters of the name have room.
    """

    x: float
    y: float
    letters: int


@dataclass(frozen=True, slots=True)
class Canvas:
    """The room for a drawing, in pixels; grows in height when the players need it."""

    width: float
    height: float


@dataclass(frozen=True, slots=True)
class GraphLayout:
    """The place of every player, and the size of the drawing."""

    canvas: Canvas
    spots: Mapping[str, Spot]


def graph_layout(graph: nx.DiGraph[str], canvas: Canvas) -> GraphLayout:
    """A place for every player of ``graph``: dots and labels overlap nobody else's and stay inside.

    Who addresses each other stands close. Longer names are cut to what has room in the columns of the canvas.
    """
    players = list(graph)
    if not players:
        return GraphLayout(canvas, {})
    letters = _letters(players, canvas)
    half = [max(_RADIUS, _LETTER * min(len(name), letters) / 2) + _GAP / 2 for name in players]
    tall = 2 * _RADIUS + _LINE + _GAP
    canvas = _grown(canvas, half, tall)
    places = _apart(_spread(graph, canvas, half, tall), half, tall, canvas)
    spots = [Spot(round(x, 1), round(y - _LINE / 2, 1), letters) for x, y in places]
    return GraphLayout(canvas, dict(zip(players, spots, strict=True)))


def _letters(players: Sequence[str], canvas: Canvas) -> int:
    """The number of letters that leaves room for the columns that the players need."""
    columns = max(2, math.ceil(math.sqrt(len(players) * canvas.width / canvas.height)))
    room = int((canvas.width / columns - 2 * _GAP) / _LETTER)
    return max(_FEWEST_LETTERS, min(_MOST_LETTERS, room))


def _grown(canvas: Canvas, half: Sequence[float], tall: float) -> Canvas:
    """The canvas, higher where so many players would fill more than half of it."""
    needed = 2.2 * sum(2 * one * tall for one in half) / canvas.width
    return Canvas(canvas.width, max(canvas.height, needed))


def _spread(graph: nx.DiGraph[str], canvas: Canvas, half: Sequence[float], tall: float) -> list[tuple[float, float]]:
    """Places by networkx, stretched over the canvas."""
    found = nx.spring_layout(graph.to_undirected(), seed=_SEED, iterations=100, k=2.0 / math.sqrt(len(graph)))
    xs, ys = ([float(found[name][axis]) for name in graph] for axis in (0, 1))
    margin = max(half)
    return list(
        zip(
            _stretched(xs, margin, canvas.width - margin),
            _stretched(ys, tall / 2, canvas.height - tall / 2),
            strict=True,
        )
    )


def _stretched(values: Sequence[float], low: float, high: float) -> list[float]:
    least, most = min(values), max(values)
    if most - least < 1e-9:
        return [(low + high) / 2] * len(values)
    return [low + (value - least) / (most - least) * (high - low) for value in values]


def _apart(
    places: list[tuple[float, float]], half: Sequence[float], tall: float, canvas: Canvas
) -> list[tuple[float, float]]:
    """Pushes boxes (dot and label) apart until none overlaps; a grid where that does not end."""
    current = [list(place) for place in places]
    for _ in range(_ROUNDS):
        has_moved = False
        for one in range(len(current)):
            for other in range(one):
                has_moved |= _push(current[one], current[other], half[one] + half[other], tall)
        for place, width in zip(current, half, strict=True):
            place[0] = min(max(place[0], width), canvas.width - width)
            place[1] = min(max(place[1], tall / 2), canvas.height - tall / 2)
        if not has_moved:
            return [(x, y) for x, y in current]
    return _grid(len(current), half, tall, canvas)


def _push(one: list[float], other: list[float], wide: float, tall: float) -> bool:
    """Moves two boxes along the axis on which they overlap less; ``False`` when they do not overlap."""
    across, down = one[0] - other[0], one[1] - other[1]
    over_x, over_y = wide - abs(across), tall - abs(down)
    if over_x <= 1e-6 or over_y <= 1e-6:
        return False
    axis, over, sign = (0, over_x, across) if over_x < over_y else (1, over_y, down)
    step = math.copysign(over / 2 + 0.5, sign if sign else 1.0)
    one[axis] += step
    other[axis] -= step
    return True


def _grid(count: int, half: Sequence[float], tall: float, canvas: Canvas) -> list[tuple[float, float]]:
    """Rows and columns: the canvas is large enough for them."""
    columns = max(1, int(canvas.width // (2 * max(half))))
    rows = math.ceil(count / columns)
    return [
        (
            canvas.width * (place % columns + 0.5) / columns,
            max(tall, canvas.height / rows) * (place // columns + 0.5),
        )
        for place in range(count)
    ]
