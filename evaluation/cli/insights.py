"""``dramaturg insights``: activity, who addresses whom, and cost of one game."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.cli.options import Database, OutputFormat, TranscriptReference, open_store
from evaluation.cli.terminal import code, markdown_table, safe, say, table

if TYPE_CHECKING:
    from evaluation.insight.metrics import SimulationMetrics
    from evaluation.transcript import Transcript


def insights(
    transcript: TranscriptReference,
    output: Annotated[
        OutputFormat, typer.Option("--format", help="A table to read, JSON for programs, or Markdown.")
    ] = OutputFormat.TABLE,
    db: Database = None,
) -> None:
    """Show who talks how much, who addresses whom, and what a game cost.

    What the file does not say is "not known" (null in JSON), never 0. Distances ignore who addressed whom first.
    """
    from evaluation.insight.addressing import transcript_metrics

    store = open_store(db)
    with store.unit():
        game = store.transcripts.get(store.transcripts.resolve(transcript))
    metrics = transcript_metrics(game)
    if output is OutputFormat.JSON:
        from evaluation.cli.rendering import json_text

        about = {"id": game.id, "game_id": game.game_id, "source_format": game.source_format}
        say(json_text({"transcript": about, "metrics": metrics.as_dict()}))
    else:
        say("\n".join(_lines(game, metrics, is_markdown=output is OutputFormat.MARKDOWN)))


def _lines(game: Transcript, metrics: SimulationMetrics, *, is_markdown: bool) -> Iterator[str]:
    from evaluation.insight.report import sections

    words, draw = (code, markdown_table) if is_markdown else (safe, table)
    yield f"{'# ' if is_markdown else ''}{words(game.game_id)}"
    for heading, lines in sections(metrics):
        yield f"\n{'## ' if is_markdown else ''}{heading}\n"
        yield draw(("What", "Figure"), [(what, words(figure)) for what, figure in lines])
    if metrics.network is not None:
        yield f"\n{'## ' if is_markdown else ''}Players\n"
        yield draw(_HEADERS, [*_players(metrics, is_markdown=is_markdown)])


_HEADERS = ("Player", "Messages", "Addresses", "Addressed by", "Between others", "Attention")


def _players(metrics: SimulationMetrics, *, is_markdown: bool) -> Iterator[tuple[str, ...]]:
    assert metrics.network is not None
    others = max(1, metrics.network.nodes - 1)
    for name, one in metrics.network.centrality.items():
        yield (
            code(name) if is_markdown else name,
            str(metrics.messages_per_agent.get(name, 0)),
            f"{round(one.out_degree * others)} of {others}",
            f"{round(one.in_degree * others)} of {others}",
            f"{one.betweenness:.2f}",
            f"{one.pagerank:.0%}",
        )
