"""``dramaturg search``: who said something, in all stored transcripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from evaluation.cli.shared.options import Database, ListFormat, OfIteration, Rows, open_store
from evaluation.cli.shared.terminal import note, say, shortened, table

if TYPE_CHECKING:
    from evaluation.store.games.message_search import FoundMessages

_HEADERS = ("Transcript", "Game", "Iteration", "Message", "Speaker", "Text")
_EXCERPT = 100


def search(
    query: Annotated[
        str,
        typer.Argument(
            metavar="TEXT",
            show_default=False,
            help="Words that a message must hold, all of them, in any case. Words inside double quotes must stand "
            "beside each other: '\"voted for\" doctor'.",
        ),
    ],
    iteration: OfIteration = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Print at most so many messages.")] = 50,
    output: Rows = ListFormat.TABLE,
    db: Database = None,
) -> None:
    """Find messages by their words, in all stored transcripts."""
    found = open_store(db).messages.search(query, iteration=iteration, limit=limit)
    if output is ListFormat.JSON:
        from evaluation.escaping import json_text

        say(json_text({"total": found.total, "games": found.games, "messages": _objects(found)}))
        return
    if found.total:
        say(table(_HEADERS, _lines(found)))
    note(_summary(found))


def _objects(found: FoundMessages) -> list[dict[str, Any]]:
    rows = found.table.rename(columns={"transcript_id": "id"}).astype(object)
    return [
        {str(name): value for name, value in row.items()} for row in rows.where(rows.notna(), None).to_dict("records")
    ]


def _lines(found: FoundMessages) -> list[tuple[str, ...]]:
    from evaluation.text.searching import excerpt

    return [
        (
            row["id"][:8],
            shortened(row["game_id"], 30),
            shortened(row["iteration"] or "", 24),
            f"#{row['number']}",
            shortened(row["speaker"], 24),
            excerpt(row["text"], found.phrases, _EXCERPT),
        )
        for row in _objects(found)
    ]


def _summary(found: FoundMessages) -> str:
    if not found.total:
        return "No message holds all of that. Fewer words find more; words outside quotes may stand anywhere."
    shown = len(found.table)
    messages = "1 message" if found.total == 1 else f"{found.total:,} messages"
    games = "1 game" if found.games == 1 else f"{found.games:,} games"
    more = f"; the first {shown} are shown, --limit shows more" if shown < found.total else ""
    return f"{messages} in {games}{more}."
