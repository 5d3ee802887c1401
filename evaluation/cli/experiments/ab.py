"""``dramaturg ab``: variants of a configuration against each other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.cli.shared.exit_codes import INFRASTRUCTURE
from evaluation.cli.shared.options import (
    JudgeMode,
    OutputFormat,
    TextFormat,
    judge_options,
    open_store,
    print_config_option,
)
from evaluation.cli.shared.terminal import TerminalProgress, code, markdown_table, note, safe, say, table

if TYPE_CHECKING:
    from evaluation.experiments.ab_runner import ABTestResult


@judge_options
def ab(
    config: Annotated[
        Path, typer.Argument(metavar="CONFIG", show_default=False, help="The test, in YAML; see --print-config.")
    ],
    output: TextFormat = OutputFormat.TABLE,
    print_config: Annotated[  # noqa: ARG001 - its callback acts
        bool, print_config_option("evaluation.experiments", "ab.yaml")
    ] = False,
    mode: JudgeMode = None,
) -> None:
    """Compare variants of a configuration: on stored games, on numbers that you have, or on simulated runs.

    A winner is named only where its difference on the primary measure is significant after Holm's adjustment over all
    comparisons, and more than 10 % (or what the file says) of the larger mean. Runs that are done are stored: run it
    again to go on where a limit or a crash stopped it. Exits with 3 when runs failed.
    """
    from evaluation.experiments.ab_runner import ABConfig
    from evaluation.files.yaml_models import read_model
    from evaluation.judging.judge_config import price_of
    from evaluation.workflows.ab_tests import StoredRuns, estimate_ab_test, run_ab_test

    store, test = open_store(), read_model(config, ABConfig)
    finished = StoredRuns.of(store, test)
    asked = judge_options.value()
    options = {"mode": mode, **asked.config}
    if asked.is_estimate:
        found = estimate_ab_test(store, test, finished, options)
        say(found.words(found.usd(price_of)))
        return
    progress = TerminalProgress("run")
    result = run_ab_test(
        store,
        test,
        finished,
        options,
        lambda one: progress.advance(f"{one.variant} {one.run_index + 1}: {one.status}"),
    )
    progress.finish()
    _say(result, output)
    if result.skipped:
        note(f"{result.skipped} runs wait for a new budget. Raise the limit, or run it again.")
    if result.failed:
        raise typer.Exit(INFRASTRUCTURE)


def _say(result: ABTestResult, output: OutputFormat) -> None:
    if output is OutputFormat.JSON:
        from evaluation.escaping import json_text

        say(json_text(result.as_dict()))
    else:
        say("\n".join(_lines(result, is_markdown=output is OutputFormat.MARKDOWN)))


def _lines(result: ABTestResult, *, is_markdown: bool) -> Iterator[str]:
    from evaluation.experiments.ab_summary import ab_summary, cells

    words, draw, mark = (code, markdown_table, "## ") if is_markdown else (safe, table, "")
    found = ab_summary(result.as_dict())
    yield f"{mark}{words(result.name)}\n"
    yield f"Date: {found.date}. Runs: {found.runs}. Spent: {found.spent}.\n"
    for rows in (found.variants, found.comparisons):
        headers, lines = cells(rows)
        own = {place for place, header in enumerate(headers) if header in _NAMES}
        shown = [[words(cell) if place in own else cell for place, cell in enumerate(line)] for line in lines]
        yield draw([words(header) if header.startswith("Mean ") else header for header in headers], shown)
        yield ""
    yield words(result.recommendation)
    yield from (f"- {words(reason)}" for reason in result.reasons)
    for run in found.every_run:
        if run["Status"].startswith("failed"):
            yield "- " + words(" ".join((run["Variant"], run["Run"], run["Status"])))


_NAMES = {"Variant", "Measure", "A", "B", "Better"}
"""Columns that hold what somebody wrote into the file."""
