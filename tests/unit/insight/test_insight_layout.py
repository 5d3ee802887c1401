"""Where players stand in the drawing: no label on another, nothing outside, and the same places every time."""

from __future__ import annotations

import itertools
import random

import networkx as nx
import pytest

from evaluation.escaping import shortened
from evaluation.insight.figures.metrics import SimulationMetrics
from evaluation.insight.network.drawing import ARROWS_PER_PLAYER, LABEL, RADIUS, fewest_messages, graph_svg
from evaluation.insight.network.graph import interaction_graph, network_metrics
from evaluation.insight.network.layout import Canvas, Spot, graph_layout

WIDE, NARROW = Canvas(860, 520), Canvas(330, 520)
LETTER = 7.0
"""Width of a letter of 13 pixels in a common font, on the safe side."""


def crowd(players: int, share: float, seed: int) -> nx.DiGraph:
    chance = random.Random(seed)
    names = [f"{'Player' * chance.randrange(1, 4)} {place}" for place in range(players)]
    pairs = {
        (one, other): chance.randrange(1, 9)
        for one, other in itertools.permutations(names, 2)
        if chance.random() < share
    }
    return interaction_graph(names, pairs)


def box(name: str, spot: Spot) -> tuple[float, float, float, float]:
    half = max(RADIUS, LETTER * len(shortened(name, spot.letters)) / 2)
    return spot.x - half, spot.y - RADIUS, spot.x + half, spot.y + LABEL + 4


@pytest.mark.parametrize("canvas", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("share", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("players", [1, 2, 7, 20, 40])
def test_no_label_lies_on_another_or_outside(players: int, share: float, canvas: Canvas) -> None:
    layout = graph_layout(crowd(players, share, players), canvas)
    boxes = [box(name, spot) for name, spot in layout.spots.items()]
    for left, top, right, bottom in boxes:
        assert left >= 0
        assert top >= 0
        assert right <= layout.canvas.width
        assert bottom <= layout.canvas.height
    for one, other in itertools.combinations(boxes, 2):
        apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert apart, (one, other)


def test_the_same_graph_has_the_same_places() -> None:
    assert graph_layout(crowd(20, 0.3, 1), WIDE) == graph_layout(crowd(20, 0.3, 1), WIDE)
    assert graph_layout(nx.DiGraph(), WIDE).spots == {}


def test_weak_arrows_are_left_out_of_a_crowd() -> None:
    counts = {(str(one), str(other)): 1 + (one + other) % 9 for one, other in itertools.permutations(range(20), 2)}
    least = fewest_messages(counts, 20)
    drawn = sum(count >= least for count in counts.values())
    # 380 arrows, of which those of 8 and 9 messages are few enough for three to a player.
    assert 0 < drawn <= ARROWS_PER_PLAYER * 20
    assert fewest_messages({("A", "B"): 1}, 2) == 1
    equal = dict.fromkeys(counts, 4)
    assert fewest_messages(equal, 20) == 4, "equal pairs are all drawn, rather than none"


def test_the_picture_holds_every_player_and_arrow() -> None:
    counts = {("A", "B"): 2, ("B", "A"): 1}
    network = network_metrics(interaction_graph(["A", "B", "<C>"], counts))
    picture = graph_svg(SimulationMetrics(3, interaction_matrix=counts, network=network))
    assert picture.count("<circle") == 3
    assert picture.count('class="arrow ') == 2
    assert "&lt;C&gt;" in picture
    assert graph_svg(SimulationMetrics()) == ""
