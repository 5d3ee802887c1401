"""Data of a graph of players or roles: what is drawn, and the same as tables. Independent of Streamlit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard.shared.formatting import share_text
from evaluation.escaping import shortened, spreadsheet_safe
from evaluation.insight.figures.addressing import NO_ROLE
from evaluation.insight.figures.metrics import SimulationMetrics
from evaluation.insight.network.drawing import curve, fewest_messages, number_spots, thickness
from evaluation.insight.network.graph import interaction_graph
from evaluation.insight.network.layout import Canvas, GraphLayout, graph_layout
from evaluation.text.display import counted
from evaluation.transcript import Transcript

WIDE = Canvas(840.0, 520.0)
NARROW = Canvas(330.0, 540.0)
"""As wide as the page is on a phone; the drawing is not scaled, or its letters would be too small to read."""

MOST_NUMBERED = 24
"""More arrows than that carry no numbers, but for those of the chosen player."""

UNKNOWN_SIDE = "unknown"
"""Instead of a side, where those of others are known."""

Arrows = Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class PlayerGraph:
    """A graph of who addresses whom, ready to draw.

    Attributes:
        key: Tells its widgets from those of another graph; without untrusted text.
        metrics: The figures behind it.
        players: In the order of the transcript, then others who speak, or roles; untrusted text. Places in it name
            players.
        least: From how many messages on an arrow is drawn unless the person says otherwise.
        wide: Places on a wide page.
        narrow: Places on a phone.
        sides: The side ("mafia" or "town") of each player whose side is known and the same in every game.
    """

    key: str
    metrics: SimulationMetrics
    players: tuple[str, ...]
    least: int
    wide: GraphLayout
    narrow: GraphLayout
    sides: Mapping[str, str]

    @property
    def counts(self) -> Arrows:
        """Messages by sender and receiver."""
        return self.metrics.interaction_matrix

    @property
    def arrows(self) -> Arrows:
        """Those of them that can be drawn: what roles say among themselves stands in the table only."""
        return {pair: count for pair, count in self.counts.items() if pair[0] != pair[1]}


def player_graph(key: str, metrics: SimulationMetrics, sides: Mapping[str, str]) -> PlayerGraph:
    """The graph of these figures, with a place for every player."""
    network = metrics.network
    players = tuple(network.centrality) if network else ()
    graph = interaction_graph(players, metrics.interaction_matrix)
    least = fewest_messages(metrics.interaction_matrix, len(players))
    return PlayerGraph(key, metrics, players, least, graph_layout(graph, WIDE), graph_layout(graph, NARROW), sides)


def sides_of(games: Iterable[Transcript], *, by_role: bool = False) -> dict[str, str]:
    """The side of each player, or of each role, where it is known and the same in all games."""
    found: dict[str, set[str]] = {}
    for game in games:
        for player in game.players:
            label = (player.role or NO_ROLE) if by_role else player.name
            found.setdefault(label, set()).add(player.alignment or "")
    return {label: next(iter(sides)) for label, sides in found.items() if len(sides) == 1 and sides != {""}}


def side_legend(graph: PlayerGraph) -> str:
    """The meaning of the dots' colours as Markdown; empty where no side is known."""
    shown = [colour for side, colour in _SIDES.items() if side in graph.sides.values()]
    rest = len(graph.sides) < len(graph.players)
    return "Dots: " + ", ".join([*shown, *([_NO_SIDE] if rest else [])]) + "." if shown else ""


_SIDES = {"mafia": ":red[●] mafia", "town": ":blue[●] town"}
_NO_SIDE = ":gray[●] side not known or not always the same"


def inner_words(graph: PlayerGraph) -> str:
    """The messages within a role as a sentence; empty without any."""
    inner = sum(count for (sender, receiver), count in graph.counts.items() if sender == receiver)
    verb = "stays" if inner == 1 else "stay"
    return f"{counted(inner, 'message')} {verb} within a role and {verb} out of the drawing." if inner else ""


def drawing(graph: PlayerGraph, least: int, chosen: int | None) -> dict[str, Any]:
    """The data of the graph component.

    Args:
        graph: What is drawn.
        least: Arrows of fewer messages are left out, but for those of the chosen player.
        chosen: The place of the chosen player; ``None`` for nobody.
    """
    name = None if chosen is None else graph.players[chosen]
    drawn = {pair: count for pair, count in graph.arrows.items() if count >= least or name in pair}
    numbered = drawn if len(drawn) <= MOST_NUMBERED else {pair: count for pair, count in drawn.items() if name in pair}
    most = max(drawn.values(), default=1)
    places = {player: place for place, player in enumerate(graph.players)}
    return {
        "chosen": chosen,
        "players": [
            {
                "name": shortened(player, 200),
                "messages": graph.metrics.messages_per_agent.get(player, 0),
                "side": graph.sides.get(player, UNKNOWN_SIDE if graph.sides else ""),
            }
            for player in graph.players
        ],
        "arrows": [
            {
                "from": places[sender],
                "to": places[receiver],
                "count": count,
                "width": thickness(count, most),
                "mutual": (receiver, sender) in graph.counts,
            }
            for (sender, receiver), count in drawn.items()
        ],
        "layouts": [_layout(layout, graph, drawn, numbered) for layout in (graph.wide, graph.narrow)],
    }


def _layout(layout: GraphLayout, graph: PlayerGraph, drawn: Arrows, numbered: Arrows) -> dict[str, Any]:
    spots, numbers = layout.spots, number_spots(layout, numbered)
    return {
        "width": layout.canvas.width,
        "height": layout.canvas.height,
        "spots": [
            {"x": spots[player].x, "y": spots[player].y, "label": shortened(player, spots[player].letters)}
            for player in graph.players
        ],
        "paths": [curve(spots[sender], spots[receiver]) for sender, receiver in drawn],
        # Where the number of an arrow stands; null for none.
        "numbers": [numbers.get(pair) for pair in drawn],
    }


def drawn_words(graph: PlayerGraph, least: int) -> str:
    """The drawn part of the graph, as a sentence."""
    drawn = sum(count >= least for count in graph.arrows.values())
    whole = f"{drawn} of {len(graph.arrows)} arrows are drawn"
    return f"{whole}: those of {least} messages or more." if drawn < len(graph.arrows) else f"{whole}."


def pairs_frame(graph: PlayerGraph) -> pd.DataFrame:
    """Pairs of sender and receiver, the most frequent first: ``From``, ``To``, ``Messages``, ``Back``, ``Pair``."""
    ordered = sorted(graph.counts.items(), key=lambda one: -one[1])
    rows = [
        (
            spreadsheet_safe(sender),
            spreadsheet_safe(receiver),
            count,
            graph.counts.get((receiver, sender), 0),
            "within" if sender == receiver else "mutual" if (receiver, sender) in graph.counts else "one-way",
        )
        for (sender, receiver), count in ordered
    ]
    return pd.DataFrame(rows, columns=["From", "To", "Messages", "Back", "Pair"])


def players_frame(graph: PlayerGraph) -> pd.DataFrame:
    """The centrality of each player in the graph."""
    metrics = graph.metrics
    network = metrics.network
    assert network is not None
    others = max(1, network.nodes - 1)
    return pd.DataFrame(
        [
            {
                "Player": spreadsheet_safe(name),
                "Addresses": f"{round(one.out_degree * others)} of {others}",
                "Addressed by": f"{round(one.in_degree * others)} of {others}",
                "Between others": round(one.betweenness, 2),
                "Attention": share_text(one.pagerank),
                "Closeness": round(one.closeness, 2),
            }
            for name, one in network.centrality.items()
        ]
    )


def chosen_frames(graph: PlayerGraph, chosen: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The receivers and the senders of a player's messages: ``Player``, ``Messages``."""
    name = graph.players[chosen]
    out = {receiver: count for (sender, receiver), count in graph.counts.items() if sender == name}
    back = {sender: count for (sender, receiver), count in graph.counts.items() if receiver == name}
    return _counted(out), _counted(back)


def _counted(counts: Mapping[str, int]) -> pd.DataFrame:
    rows = [(spreadsheet_safe(name), count) for name, count in sorted(counts.items(), key=lambda one: -one[1])]
    return pd.DataFrame(rows, columns=["Player", "Messages"])
