"""Numbers on the drawing's arrows, and answers that a run knew before it began."""

from __future__ import annotations

import itertools

import pytest

from evaluation.escaping import shortened
from evaluation.insight.network.drawing import LABEL, RADIUS, number_spots, thickness
from evaluation.insight.network.graph import interaction_graph
from evaluation.insight.network.layout import Canvas, graph_layout


@pytest.mark.parametrize("width", [840.0, 330.0])
def test_no_number_lies_on_a_player_or_on_another_number(width: float) -> None:
    names = [f"Player {place}" for place in range(20)]
    counts = {pair: 1 + place % 12 for place, pair in enumerate(itertools.permutations(names, 2))}
    layout = graph_layout(interaction_graph(names, counts), Canvas(width, 540.0))
    own = {pair: count for pair, count in counts.items() if names[4] in pair}
    places = {pair: place for pair, place in number_spots(layout, own).items() if place is not None}
    assert len(places) > len(own) / 2
    for (x, y), (left, top) in itertools.combinations(places.values(), 2):
        assert abs(x - left) >= 9 or abs(y - top) >= 14
    for (x, y), (name, spot) in itertools.product(places.values(), layout.spots.items()):
        half = 7.0 * len(shortened(name, spot.letters)) / 2
        assert abs(x - spot.x) >= RADIUS or abs(y - spot.y) >= RADIUS
        assert abs(x - spot.x) >= half or not spot.y + LABEL - 12 < y < spot.y + LABEL + 4


def test_thickness_tells_few_from_many() -> None:
    # Proportional: half the messages, half the width; what would be too thin to see is 0.8.
    assert (thickness(6, 6), thickness(3, 6), thickness(2, 6), thickness(1, 100)) == (6.0, 3.0, 2.0, 0.8)
