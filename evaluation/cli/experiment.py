"""``dramaturg experiment``: simulations with and without a treatment, and the paper's table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.cli.exits import CommandGroup
from evaluation.cli.options import OutputFormat
from evaluation.cli.terminal import markdown_table, say, table

if TYPE_CHECKING:
    from evaluation.experiments import Table1Row

app = typer.Typer(
    cls=CommandGroup,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Experiments with a treatment and a control, and Table 1 of the TinyTroupe paper.",
)


@app.callback()
def experiments() -> None:
    """Experiments with a treatment and a control, and Table 1 of the TinyTroupe paper."""


@app.command()
def table1(
    from_raw: Annotated[
        Path,
        typer.Option(
            "--from-raw",
            metavar="FOLDER",
            show_default=False,
            help="The folder with the paper's four raw files; the table is recomputed from them.",
        ),
    ],
    output: Annotated[
        OutputFormat, typer.Option("--format", help="A table to read, JSON for programs, or Markdown.")
    ] = OutputFormat.TABLE,
) -> None:
    """Recompute Table 1 of arXiv:2507.09788 beside the published values, with intervals and Holm's adjustment."""
    from evaluation.experiments import CAVEAT, table1_from_raw

    rows = table1_from_raw(from_raw)
    if output is OutputFormat.JSON:
        from evaluation.cli.rendering import json_text

        say(json_text([row.as_dict() for row in rows]))
        return
    draw = markdown_table if output is OutputFormat.MARKDOWN else table
    headers = ("Exp", "Dimension", "T mean (sd)", "C mean (sd)", "n", "Difference", "95 % interval", "d", "p", "p Holm")
    say(draw((*headers, "p published", "As published"), [_line(row) for row in rows]))
    as_published = sum(row.has_published_values for row in rows)
    say(f"\n{as_published} of {len(rows)} rows have the published values.\n\n{CAVEAT}")


def _line(row: Table1Row) -> tuple[str, ...]:
    from evaluation.statistics.words import interval_words, p_words

    found = row.found
    return (
        row.experiment.name,
        row.published.dimension,
        f"{_printed(found.after.mean)} ({_printed(found.after.sd)})",
        f"{_printed(found.before.mean)} ({_printed(found.before.sd)})",
        f"{found.after.n}/{found.before.n}",
        f"{found.difference:+.3f}",
        interval_words(found.interval, digits=2, signed=True),
        f"{found.effect.value:+.2f}",
        p_words(found.welch.p),
        p_words(found.p_holm),
        row.published.p,
        "yes" if row.has_published_values else "no",
    )


def _printed(value: float) -> str:
    """Two digits, halves rounded up as in the paper: 6.625 is 6.63 there, and 6.62 in Python."""
    from decimal import ROUND_HALF_UP, Decimal

    return str(Decimal(repr(round(value, 9))).quantize(Decimal("0.01"), ROUND_HALF_UP))
