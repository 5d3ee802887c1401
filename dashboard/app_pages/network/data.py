"""Data for the Insights page: figures of games, calls to models. Independent of Streamlit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import pandas as pd

from dashboard.app_pages.network.graph_data import PlayerGraph, player_graph
from dashboard.shared.formatting import duration_text, share_text, usd_text
from evaluation.escaping import spreadsheet_safe
from evaluation.insight.addressing import EVERYTHING, MessageFilter, combined_metrics, talk_shares, transcript_metrics
from evaluation.insight.evaluation_report import EvaluationReport, plain_report
from evaluation.insight.figure_sentences import AGENT_HEADERS, UNKNOWN, Line, agent_rows
from evaluation.store import Store
from evaluation.store.llm_calls import spending_by_model, spending_by_run
from evaluation.transcript import SIMULATED_FORMAT, Transcript

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


def games(store: Store) -> dict[str, str]:
    """The names of all games by id: simulated conversations first, named as such, then the others, as they came."""
    with store.unit():
        names = store.transcripts.game_names()
        summaries = store.transcripts.summaries()
    made = set(summaries.loc[summaries["source_format"] == SIMULATED_FORMAT, "transcript_id"].astype(str))
    found = {key: f"{names[key]} (simulated)" for key in names if key in made}
    return found | {key: name for key, name in names.items() if key not in made}


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


@dataclass(frozen=True, slots=True)
class SeveralGames:
    """Games and iterations beside each other, and together. Shared between sessions: nobody changes it.

    Attributes:
        beside: One row each; figures of an iteration are means over its games.
        games: How many different games they are.
        graph: Who addresses whom in all of them.
        rounds: Of all of them.
        channels: In which players speak in them.
    """

    beside: pd.DataFrame
    games: int
    graph: PlayerGraph
    rounds: tuple[int, ...]
    channels: tuple[str, ...]


def several_games(
    store: Store, chosen: Sequence[tuple[str, bool]], only: MessageFilter = EVERYTHING, by_role: bool = False
) -> SeveralGames:
    """Games and iterations beside each other, and as one graph in which counts are sums.

    Args:
        store: Where they are.
        chosen: Names of iterations (with true) and ids of transcripts (with false).
        only: The messages that are counted.
        by_role: Whether the nodes of the graph are roles; names otherwise.
    """
    rows: list[dict[str, Any]] = []
    found: dict[str, Transcript] = {}
    for name, is_iteration in chosen:
        with store.unit():
            ids = store.transcripts.ids(name) if is_iteration else [name]
            held = {one: store.transcripts.get(one) for one in ids}
            label = name if is_iteration else store.transcripts.name(name)
        rows.append({"What": spreadsheet_safe(label), "Games": len(held), **_beside([*held.values()], only)})
        found |= held
    every = [*found.values()]
    metrics = combined_metrics(every, only, by_role=by_role)
    graph = player_graph("several", metrics)
    return SeveralGames(pd.DataFrame(rows), len(every), graph, *_kinds_of_messages(every))


def _beside(games: Sequence[Transcript], only: MessageFilter) -> dict[str, str]:
    shares = [talk_shares(game, only) for game in games]
    figures = [transcript_metrics(game, only=only) for game in games]
    networks = [one.network for one in figures]
    tops = [max((one.domination(name) or 0.0 for name in one.words), default=0.0) for one in shares]
    return {
        "Messages": _mean([one.total_messages for one in figures], 1),
        "Words": _mean([sum(one.words.values()) for one in shares], 0),
        "Largest share, times even": _mean([top or None for top in tops], 1),
        "Density": _mean([one.density if one else None for one in networks]),
        "Answered": _mean([one.reciprocity if one else None for one in networks]),
    }


def _mean(values: Sequence[float | None], digits: int = 2) -> str:
    known = [value for value in values if value is not None]
    return f"{fmean(known):,.{digits}f}" if known else UNKNOWN


def agents_frame(opened: OpenGame) -> pd.DataFrame:
    """Memory and calls of each agent; no rows where nothing is known of any."""
    rows = [[spreadsheet_safe(cell) for cell in row] for row in agent_rows(opened.report.metrics)]
    return pd.DataFrame(rows, columns=list(AGENT_HEADERS))


def lines_frame(lines: list[Line]) -> pd.DataFrame:
    """Figures in words: ``What``, ``Figure``."""
    return pd.DataFrame([(what, spreadsheet_safe(cell)) for what, cell in lines], columns=["What", "Figure"])


@dataclass(frozen=True, slots=True)
class Spending:
    """The cost of calls to models, and of the games themselves.

    Attributes:
        models: As ``spending_by_model`` gives it.
        runs: As ``spending_by_run`` gives it.
        games: One row per iteration: ``Iteration``, ``Games``, ``With a known cost``, ``Spent``, ``Mean per game``,
            ``Cache hits``.
    """

    models: pd.DataFrame
    runs: pd.DataFrame
    games: pd.DataFrame


def spending(store: Store) -> Spending:
    """Stored money, tokens and time."""
    with store.unit():
        models, runs = spending_by_model(store), spending_by_run(store)
        summaries = store.transcripts.summaries()
        names = [one.name for one in store.iterations.list()]
    return Spending(models, runs, _games_frame(summaries, names))


def _games_frame(summaries: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    rows = []
    for name in (*names, None):
        held = summaries[summaries["iteration"].isna() if name is None else summaries["iteration"] == name]
        if len(held):
            known = held["total_usd"].dropna().astype(float)
            hits = held["cache_hit_rate"].dropna().astype(float)
            rows.append(
                {
                    "Iteration": NO_ITERATION if name is None else spreadsheet_safe(name),
                    "Games": len(held),
                    "With a known cost": len(known),
                    "Spent": usd_text(float(known.sum()) if len(known) else None),
                    "Mean per game": usd_text(float(known.mean()) if len(known) else None),
                    "Cache hits": f"{share_text(float(hits.mean()))} in {len(hits)} games"
                    if len(hits)
                    else share_text(None),
                }
            )
    return pd.DataFrame(rows)


def totals(found: Spending) -> dict[str, str]:
    """The figures of all calls together, in words."""
    models = found.models
    priced = models["cost_usd"].dropna()
    read, cached = int(models["input_tokens"].sum()), int(models["cached_tokens"].sum())
    answers, kept = int(found.runs["answers"].sum()), int(found.runs["kept"].sum())
    found_totals = {
        "Calls": f"{int(models['calls'].sum()):,}",
        "Spent": usd_text(float(priced.sum()) if len(priced) else None),
        "Tokens read / written": f"{read:,} / {int(models['output_tokens'].sum()):,}",
        "Provider's cache": share_text(cached / read if read else None),
    }
    return found_totals | ({"Answers known already": f"{kept:,} of {answers:,}"} if answers else {})


def models_frame(found: Spending) -> pd.DataFrame:
    """Calls by model and purpose, in words."""
    return pd.DataFrame(
        [
            {
                "Model": spreadsheet_safe(one["model"]),
                "For": spreadsheet_safe(str(one["purpose"]).replace("_", " ")),
                "Calls": one["calls"],
                "Failed": one["failed"],
                "Tokens": f"{one['input_tokens']:,} / {one['output_tokens']:,}",
                "Cached": share_text(one["cached_tokens"] / one["input_tokens"] if one["input_tokens"] else None),
                "Spent": usd_text(one["cost_usd"]),
                "Unpriced": one["unpriced"],
                "Median time": _seconds(one["median_seconds"]),
                "Slow (95 %)": _seconds(one["slow_seconds"]),
            }
            for one in found.models.to_dict("records")
        ]
    )


def runs_frame(found: Spending) -> pd.DataFrame:
    """Evaluation runs, the latest first, in words."""
    return pd.DataFrame(
        [
            {
                "When": f"{one['created_at']:%Y-%m-%d %H:%M}",
                "Agent": spreadsheet_safe(one["agent"]),
                "State": one["status"],
                "Model": spreadsheet_safe("" if pd.isna(one["model"]) else one["model"]),
                "Answers": one["answers"],
                "Known already": one["kept"],
                "Calls": _whole(one["calls"]),
                "Tokens": f"{_whole(one['input_tokens'])} / {_whole(one['output_tokens'])}",
                "Spent": usd_text(one["cost_usd"]),
                "Took": _seconds(one["seconds"]),
            }
            for one in found.runs.to_dict("records")
        ]
    )


def _seconds(seconds: float) -> str:
    if pd.isna(seconds):
        return UNKNOWN
    return f"{seconds:.1f} s" if seconds < 10 else duration_text(seconds)


def _whole(value: float) -> str:
    return UNKNOWN if pd.isna(value) else f"{int(value):,}"
