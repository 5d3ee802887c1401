"""Figures of one game for its Insights: who addresses whom, shares, memory and cost. Independent of Streamlit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from evaluation.escaping import shortened
from evaluation.insight.collector import addressed_players
from evaluation.insight.evaluation_report import EvaluationReport, plain_report
from evaluation.insight.recommendations import UNKNOWN, Line
from evaluation.store import Store
from evaluation.text.display import counted, listed
from evaluation.transcript import Message


@dataclass(frozen=True, slots=True)
class Arrow:
    """The messages that one player addressed to another; places are those of the players."""

    sender: int
    receiver: int
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class OpenGame:
    """One game as the view draws it. Shared between sessions: nobody changes it.

    Attributes:
        report: Its figures.
        players: Who says most first, others in the order of the transcript; untrusted text.
        arrows: Who addresses whom, the most frequent first.
    """

    report: EvaluationReport
    players: tuple[str, ...]
    arrows: tuple[Arrow, ...]

    def words(self, arrow: Arrow) -> str:
        """An arrow in words: "Ann to Bob: 3 messages"; the names are untrusted text."""
        names = (shortened(self.players[place], _LETTERS) for place in (arrow.sender, arrow.receiver))
        return f"{' to '.join(names)}: {counted(len(arrow.messages), 'message')}"


def open_game(store: Store, transcript_id: str) -> OpenGame:
    """The game with that id, ready to draw.

    Raises:
        NotFoundError: There is none.
        InputError: What is stored with it as counts cannot be read.
    """
    transcript = store.transcripts.get(transcript_id)
    report = plain_report(transcript)
    said: defaultdict[tuple[str, str], list[Message]] = defaultdict(list)
    for message, receivers in addressed_players(transcript):
        for receiver in receivers:
            said[message.speaker, receiver].append(message)
    words = report.shares.words
    named = dict.fromkeys([*transcript.player_names, *(sender for sender, _ in said)])
    players = tuple(sorted(named, key=lambda player: -words.get(player, 0)))
    places = {player: place for place, player in enumerate(players)}
    arrows = [Arrow(places[one], places[other], tuple(messages)) for (one, other), messages in said.items()]
    return OpenGame(report, players, tuple(sorted(arrows, key=lambda one: -len(one.messages))))


def finding(opened: OpenGame) -> str:
    """The most talkative player, and the most frequent pair, in two sentences; names are untrusted text.

    Such as "Ann says most words: 1.4 times an even share. Ann speaks most often to or of Bob: 6 messages.". Those who
    say as many as the first, as far as the figure shows, are named with it.
    """
    said = []
    shares = opened.report.shares
    players, times = shares.most_talkative
    if len(players) == len(shares.words) > 1:
        said.append("All say about as many words.")
    elif players:
        verb, each = ("says", "") if len(players) == 1 else ("say", " each")
        names = listed([shortened(one, _LETTERS) for one in players])
        said.append(f"{names} {verb} most words: {times:.1f} times an even share{each}.")
    if opened.arrows:
        first = opened.arrows[0]
        pair = [shortened(opened.players[place], _LETTERS) for place in (first.sender, first.receiver)]
        messages = counted(len(first.messages), "message")
        ties = sum(len(one.messages) == len(first.messages) for one in opened.arrows) - 1
        said.append(
            f"No pair stands out: nobody speaks to or of anybody more often than in {messages}."
            if ties
            else f"{pair[0]} speaks most often to or of {pair[1]}: {messages}."
        )
    return " ".join(said)


def address_matrix(opened: OpenGame) -> pd.DataFrame:
    """Number of messages from each player, a row, to each other one, a column, with their sums; empty for none."""
    names = [shortened(player, _LETTERS) for player in opened.players]
    counts = [[0 for _ in names] for _ in names]
    for one in opened.arrows:
        counts[one.sender][one.receiver] = len(one.messages)
    heads = [f"{name} ({sum(column)})" for name, column in zip(names, zip(*counts, strict=True), strict=True)]
    rows = [[name, sum(row), *(count or "" for count in row)] for name, row in zip(names, counts, strict=True)]
    return pd.DataFrame(rows, columns=["From", "To all", *heads])


_LETTERS = 16
_MOSTLY = 0.4
"""From this share of unknown sentiments on, none is shown."""


def network_rows(opened: OpenGame) -> list[dict[str, object]]:
    """Every player's place in the network of those who address each other."""
    network = opened.report.metrics.network
    assert network is not None
    others = max(1, network.nodes - 1)
    return [
        {
            "Player": name,
            f"Addresses, of {others}": round(one.out_degree * others),
            f"Addressed by, of {others}": round(one.in_degree * others),
            "Between others": f"{one.betweenness:.2f}",
        }
        for name, one in network.centrality.items()
    ]


def share_rows(opened: OpenGame) -> list[dict[str, object]]:
    """Messages, words and turns of each player; columns of which nothing is known in any row are left out."""
    report = opened.report
    shares, sentiment = report.shares, report.sentiment or {}
    rows: list[dict[str, object]] = []
    for player in opened.players:
        messages, mood = report.metrics.messages_per_agent.get(player, 0), sentiment.get(player)
        said = shares.share_of_words(player) if player in shares.words else None
        rows.append(
            {
                "Player": player,
                "Messages": messages,
                "Words, %": UNKNOWN if said is None else f"{100 * said:.0f}",
                "Turns": shares.turns.get(player, 0),
                "Sentiment": f"{mood.score:.2f}" if mood and mood.telling else UNKNOWN,
            }
        )
    empty = {name for name in (rows[0] if rows else ()) if all(row[name] == UNKNOWN for row in rows)}
    # Where everybody says one message a turn, and where few sentiments are known, the column tells nothing.
    if all(row["Turns"] == row["Messages"] for row in rows):
        empty.add("Turns")
    if sum(row["Sentiment"] == UNKNOWN for row in rows) > _MOSTLY * len(rows):
        empty.add("Sentiment")
    return [{name: cell for name, cell in row.items() if name not in empty} for row in rows]


def known_words(lines: Iterable[Line]) -> str:
    """The figures that are known in words: "Tokens: 1,000. Cost: 1.50 USD."; empty without any."""
    return " ".join(f"{what}: {cell}." for what, cell in lines if cell != UNKNOWN)
