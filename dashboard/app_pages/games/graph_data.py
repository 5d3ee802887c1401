"""Data of a graph of players or roles: what is drawn, and the same as tables. Independent of Streamlit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from dashboard.shared.charts.metric_charts import escaped_label
from evaluation.escaping import shortened, spreadsheet_safe
from evaluation.insight.metrics import SimulationMetrics
from evaluation.text.display import counted

Arrows = Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class PlayerGraph:
    """A graph of who addresses whom, ready to draw.

    Attributes:
        key: Tells its widgets from those of another graph; without untrusted text.
        metrics: The figures behind it.
        players: In the order of the transcript, then others who speak, or roles; untrusted text. Places in it name
            players.
    """

    key: str
    metrics: SimulationMetrics
    players: tuple[str, ...]

    @property
    def counts(self) -> Arrows:
        """Messages by sender and receiver."""
        return self.metrics.interaction_matrix

    @property
    def arrows(self) -> Arrows:
        """Those of them that can be drawn: what roles say among themselves stands in the table only."""
        return {pair: count for pair, count in self.counts.items() if pair[0] != pair[1]}


def player_graph(key: str, metrics: SimulationMetrics) -> PlayerGraph:
    """The graph of these figures."""
    return PlayerGraph(key, metrics, tuple(metrics.network.centrality) if metrics.network else ())


def inner_words(graph: PlayerGraph) -> str:
    """The messages within a role as a sentence; empty without any."""
    inner = sum(count for (sender, receiver), count in graph.counts.items() if sender == receiver)
    verb = "stays" if inner == 1 else "stay"
    return f"{counted(inner, 'message')} {verb} within a role and {verb} out of the picture." if inner else ""


def picture(graph: PlayerGraph, chosen: int | None) -> go.Figure:
    """Speakers as rows and those whom they address as columns: the larger a dot, the more messages.

    Args:
        graph: What is drawn.
        chosen: The place of the chosen player, whose dots stand out; ``None`` for nobody.
    """
    places = {player: place for place, player in enumerate(graph.players)}
    arrows = [(places[sender], places[receiver], count) for (sender, receiver), count in graph.arrows.items()]
    most = max((count for _, _, count in arrows), default=1)
    labels = [escaped_label(shortened(player, _LETTERS)) for player in graph.players]
    figure = go.Figure(
        go.Scatter(
            x=[receiver for _, receiver, _ in arrows],
            y=[sender for sender, _, _ in arrows],
            mode="markers+text",
            text=[str(count) for _, _, count in arrows],
            textfont={"size": 12},
            marker={
                "size": [_SMALLEST + (_LARGEST - _SMALLEST) * (count / most) ** 0.5 for _, _, count in arrows],
                "color": ["#8f88ea" if chosen in {None, one, other} else "#c8c8d0" for one, other, _ in arrows],
            },
            customdata=[[sender] for sender, _, _ in arrows],
            hovertext=[
                f"{labels[one]} to {labels[other]}: {counted(count, 'message')}" for one, other, count in arrows
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    )
    ticks = {
        "tickvals": list(range(len(labels))),
        "ticktext": labels,
        "range": [-0.6, len(labels) - 0.4],
        "automargin": True,
    }
    figure.update_layout(
        height=max(240, 60 + _ROW * len(labels)),
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        showlegend=False,
        xaxis={**ticks, "title": {"text": "addressed"}},
        yaxis={**ticks, "title": {"text": "speaks"}, "autorange": False, "range": [len(labels) - 0.4, -0.6]},
    )
    return figure


_LETTERS = 16
_SMALLEST, _LARGEST, _ROW = 14.0, 34.0, 44


def read_place(value: object, players: int) -> int | None:
    """The place of a player in a message from the browser; ``None`` for nobody and for anything else."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < players else None


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
