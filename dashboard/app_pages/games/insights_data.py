"""Figures of one game for its Insights. Independent of Streamlit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from dashboard.app_pages.games.graph_data import PlayerGraph, player_graph
from dashboard.shared.formatting import share_text
from evaluation.escaping import spreadsheet_safe
from evaluation.insight.addressing import EVERYTHING, MessageFilter
from evaluation.insight.evaluation_report import EvaluationReport, plain_report
from evaluation.insight.figure_sentences import AGENT_HEADERS, UNKNOWN, Line, agent_rows
from evaluation.store import Store
from evaluation.transcript import Transcript

NO_ITERATION = "no iteration"
CHANNELS = ("public", "team", "private")


@dataclass(frozen=True, slots=True)
class OpenGame:
    """One game as the page draws it. Shared between sessions: nobody changes it.

    Attributes:
        name: What people call the game.
        report: Its figures.
        graph: Who addresses whom.
        rounds: Of the whole game.
        channels: In which players speak in the whole game.
    """

    name: str
    report: EvaluationReport
    graph: PlayerGraph
    rounds: tuple[int, ...] = ()
    channels: tuple[str, ...] = ()


def open_game(store: Store, transcript_id: str, only: MessageFilter = EVERYTHING) -> OpenGame:
    """The game with that id, ready to draw; figures are about the messages that the filter accepts.

    Raises:
        NotFoundError: There is none.
        InputError: What is stored with it as counts cannot be read.
    """
    with store.unit():
        transcript = store.transcripts.get(transcript_id)
        name = store.transcripts.name(transcript_id)
        calls = store.generations.calls_for(transcript)
    report = plain_report(transcript, calls=calls, only=only)
    graph = player_graph(transcript.id, report.metrics)
    return OpenGame(name, report, graph, *_kinds_of_messages([transcript]))


def _kinds_of_messages(transcripts: Sequence[Transcript]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The rounds, and the channels in which players speak."""
    messages = [one for transcript in transcripts for one in transcript.messages]
    rounds = {one.round for one in messages if one.round is not None}
    channels = {one.channel for one in messages}
    return tuple(sorted(rounds)), tuple(name for name in CHANNELS if name in channels)


def activity_frame(opened: OpenGame) -> pd.DataFrame:
    """The activity and sentiment of each player."""
    report = opened.report
    sentiment, total = report.sentiment or {}, max(1, report.metrics.total_messages)
    spoken: dict[str, list[int]] = {player: [0, 0] for player in opened.graph.players}
    for row in report.activity:
        if row["type"] in ("public", "team", "private") and row["agent"] in spoken:
            spoken[row["agent"]][0] += row["count"]
            spoken[row["agent"]][1] += row["characters"]
    rows = []
    shares = report.shares
    for player, (count, characters) in spoken.items():
        mood = sentiment.get(player)
        messages = report.metrics.messages_per_agent.get(player, 0)
        rows.append(
            {
                "Player": spreadsheet_safe(player),
                "Messages": messages,
                "Share": share_text(messages / total),
                "Share of words": share_text(shares.share_of_words(player)) if player in shares.words else UNKNOWN,
                "Turns": shares.turns.get(player, 0),
                "Times an even share": _times(shares.domination(player)) if player in shares.words else UNKNOWN,
                "Mean length": f"{characters / count:.0f} characters" if count else UNKNOWN,
                "Sentiment": f"{mood.score:.2f}" if mood and mood.telling else UNKNOWN,
                "Messages that tell it": f"{mood.telling} of {mood.messages}" if mood else UNKNOWN,
            }
        )
    return pd.DataFrame(rows)


def _times(domination: float | None) -> str:
    return UNKNOWN if domination is None else f"{domination:.1f}"


def agents_frame(opened: OpenGame) -> pd.DataFrame:
    """Memory and calls of each agent; no rows where nothing is known of any."""
    rows = [[spreadsheet_safe(cell) for cell in row] for row in agent_rows(opened.report.metrics)]
    return pd.DataFrame(rows, columns=list(AGENT_HEADERS))


def lines_frame(lines: list[Line]) -> pd.DataFrame:
    """Figures in words: ``What``, ``Figure``."""
    return pd.DataFrame([(what, spreadsheet_safe(cell)) for what, cell in lines], columns=["What", "Figure"])
