"""``dramaturg report``: one self-contained HTML file about an iteration or a comparison."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evaluation.cli.shared.options import Force, open_store
from evaluation.cli.shared.terminal import safe, say
from evaluation.cli.shared.version_warnings import stored_mixes, warn_of


def report(
    iteration: Annotated[
        str | None, typer.Argument(metavar="[ITERATION]", show_default=False, help="The iteration to report on.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", dir_okay=False, help="The file to write.")] = Path(
        "report.html"
    ),
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="BEFORE AFTER", show_default=False, help="Report on these two iterations compared."),
    ] = None,
    force: Force = False,
) -> None:
    """Write a report that opens offline in any browser and prints: no script, no font or picture from elsewhere.

    Its numbers are those of the Overview, Trends and Compare pages.
    """
    from evaluation.workflows.html_reports import comparison_html, iteration_html
    from evaluation.writers import write_new_bytes

    if (iteration is None) == (compare is None):
        raise typer.BadParameter("Name one iteration, or two with --compare.", param_hint="ITERATION")
    store = open_store()
    text = comparison_html(store, *compare) if compare else iteration_html(store, iteration or "")
    write_new_bytes(output, text.encode(), overwrite=force)
    say(f"Wrote {safe(output)}.")
    warn_of(stored_mixes(store))
