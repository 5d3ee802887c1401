"""Draw the network of players for files, and choose what a crowded graph shows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evaluation.escaping import shortened
from evaluation.files.html_templates import render_fragment
from evaluation.insight.figures.metrics import SimulationMetrics
from evaluation.insight.network.graph import interaction_graph
from evaluation.insight.network.layout import Canvas, GraphLayout, Spot, graph_layout
from evaluation.text.display import counted

if TYPE_CHECKING:
    from markupsafe import Markup

ARROWS_PER_PLAYER = 3
"""More than that many arrows for each player, and nobody can follow them."""

RADIUS = 11.0
LABEL = 28.0
"""From the middle of a dot down to the line on which its name stands."""

_WIDE = Canvas(860.0, 520.0)
_THINNEST = 0.8
_THICKEST = 6.0
_BEND = 0.14
_TIP = 7.0
_LETTER = 7.0
# Shares of the way along an arrow, the middle first.
_PLACES = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.82)


def fewest_messages(counts: Mapping[tuple[str, str], int], players: int) -> int:
    """The fewest messages that an arrow is drawn for, so that there are at most three per player; at least 1.

    All pairs that are as strong as the weakest drawn are drawn too or not at all, so that the rule can be said.
    """
    weights = sorted((count for (sender, receiver), count in counts.items() if sender != receiver), reverse=True)
    most = ARROWS_PER_PLAYER * players
    if len(weights) <= most:
        return 1
    return weights[most] + 1 if weights[most] < weights[0] else weights[0]


def thickness(count: int, most: int) -> float:
    """Width of an arrow in pixels, proportional to its messages: 6 for the most, at least 0.8 so that it is seen."""
    return round(max(_THINNEST, _THICKEST * count / most), 2)


def legend(most: int) -> str:
    """The meaning of the width of arrows: ``most`` is the number of messages of the widest."""
    return f"The width of an arrow is proportional to its messages; the widest has {counted(most, 'message')}."


LINE_LEGEND = "Solid arrows are mutual: the other one turns back. Dotted ones are one-way."


NO_ARROWS = "Nobody addresses anybody, so there are no arrows."


def curve(start: Spot, end: Spot) -> str:
    """The path of an arrow from the edge of one dot to that of another, bent so that both directions can be told."""
    across, down = end.x - start.x, end.y - start.y
    length = math.hypot(across, down) or 1.0
    bend_x, bend_y = _bend(start, end)
    first = _towards(start, bend_x, bend_y, min(RADIUS, length / 2))
    last = _towards(end, bend_x, bend_y, min(RADIUS + _TIP, length / 2))
    return f"M{first[0]:.1f} {first[1]:.1f}Q{bend_x:.1f} {bend_y:.1f} {last[0]:.1f} {last[1]:.1f}"


def _bend(start: Spot, end: Spot) -> tuple[float, float]:
    across, down = end.x - start.x, end.y - start.y
    return (start.x + end.x) / 2 - _BEND * down, (start.y + end.y) / 2 + _BEND * across


Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def number_spots(
    layout: GraphLayout, arrows: Mapping[tuple[str, str], int]
) -> dict[tuple[str, str], tuple[float, float] | None]:
    """The place of each arrow's number: on the arrow, and on no player, label or other number.

    ``None`` where no place is free; the tables have the number.
    """
    taken = [box for name, spot in layout.spots.items() for box in _boxes(name, spot)]
    found: dict[tuple[str, str], tuple[float, float] | None] = {}
    for (sender, receiver), count in sorted(arrows.items(), key=lambda one: -one[1]):
        place = _free(layout.spots[sender], layout.spots[receiver], len(str(count)), taken)
        found[sender, receiver] = place
        if place is not None:
            taken.append(_number_box(place, len(str(count))))
    return found


def _free(start: Spot, end: Spot, digits: int, taken: Sequence[Box]) -> tuple[float, float] | None:
    for share in _PLACES:
        place = _on_curve(start, end, share)
        if not any(_overlap(_number_box(place, digits), box) for box in taken):
            return place
    return None


def _on_curve(start: Spot, end: Spot, share: float) -> tuple[float, float]:
    bend, rest = _bend(start, end), 1.0 - share
    x = rest * rest * start.x + 2 * rest * share * bend[0] + share * share * end.x
    y = rest * rest * start.y + 2 * rest * share * bend[1] + share * share * end.y
    return round(x, 1), round(y, 1)


def _boxes(name: str, spot: Spot) -> tuple[Box, Box]:
    half = _LETTER * len(shortened(name, spot.letters)) / 2
    dot = (spot.x - RADIUS, spot.y - RADIUS, spot.x + RADIUS, spot.y + RADIUS)
    return dot, (spot.x - half, spot.y + LABEL - 12, spot.x + half, spot.y + LABEL + 4)


def _number_box(place: tuple[float, float], digits: int) -> Box:
    half = 3.5 * digits + 2
    return place[0] - half, place[1] - 7, place[0] + half, place[1] + 7


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _towards(spot: Spot, x: float, y: float, distance: float) -> tuple[float, float]:
    length = math.hypot(x - spot.x, y - spot.y) or 1.0
    return spot.x + (x - spot.x) / length * distance, spot.y + (y - spot.y) / length * distance


def graph_svg(metrics: SimulationMetrics) -> Markup | str:
    """The graph as an SVG element, with a sentence on what is left out; empty without players."""
    if metrics.network is None:
        return ""
    counts = metrics.interaction_matrix
    layout = graph_layout(interaction_graph(metrics.network.centrality, counts), _WIDE)
    least = fewest_messages(counts, metrics.network.nodes)
    drawn = {pair: count for pair, count in counts.items() if count >= least and pair[0] != pair[1]}
    most = max(drawn.values(), default=1)
    return render_fragment(
        "insight/network/templates/graph.html.j2",
        width=round(layout.canvas.width),
        height=round(layout.canvas.height),
        radius=RADIUS,
        label_distance=LABEL,
        least=least,
        legend=f"{legend(most)} {LINE_LEGEND}" if drawn else NO_ARROWS,
        arrows=[
            (
                curve(layout.spots[sender], layout.spots[receiver]),
                thickness(count, most),
                "mutual" if (receiver, sender) in counts else "one-way",
            )
            for (sender, receiver), count in drawn.items()
        ],
        dots=[(shortened(name, spot.letters), spot.x, spot.y) for name, spot in layout.spots.items()],
    )
