"""``dramaturg ab``: variants of a configuration against each other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evaluation.cli.shared.exit_codes import INFRASTRUCTURE
from evaluation.cli.shared.options import (
    BaseUrl,
    Concurrency,
    Database,
    JudgeMode,
    JudgeModel,
    MaxCalls,
    OutputFormat,
    TextFormat,
    Timeout,
    judge_limits,
    open_store,
    print_config_option,
)
from evaluation.cli.shared.terminal import TerminalProgress, code, markdown_table, note, safe, say, table

if TYPE_CHECKING:
    from evaluation.experiments.ab.results import ABTestResult, StatisticalComparison


def ab(
    config: Annotated[
        Path, typer.Argument(metavar="CONFIG", show_default=False, help="The test, in YAML; see --print-config.")
    ],
    output: TextFormat = OutputFormat.TABLE,
    state: Annotated[
        Path | None,
        typer.Option(metavar="FILE", show_default=False, help="Where runs are kept; beside CONFIG when left out."),
    ] = None,
    print_config: Annotated[  # noqa: ARG001 - its callback acts
        bool, print_config_option("evaluation.experiments.ab", "ab.yaml")
    ] = False,
    mode: JudgeMode = None,
    model: JudgeModel = None,
    base_url: BaseUrl = None,
    max_calls: MaxCalls = None,
    concurrency: Concurrency = None,
    timeout: Timeout = None,
    db: Database = None,
) -> None:
    """Compare variants of a configuration: on stored games, on numbers that you have, or on simulated runs.

    A winner is named only where its difference on the primary measure is significant after Holm's adjustment over all
    comparisons, and more than 10 % (or what the file says) of the larger mean. Runs that are done are kept: run it
    again to go on where a limit or a crash stopped it. Exits with 3 when runs failed.
    """
    from evaluation.experiments.ab.config import ABConfig
    from evaluation.files.yaml_models import read_model
    from evaluation.workflows.experiments.ab_tests import run_ab_test

    test = read_model(config, ABConfig)
    progress = TerminalProgress("run")
    result = run_ab_test(
        open_store(db),
        test,
        state or config.with_suffix(".runs.jsonl"),
        {
            "mode": mode,
            "model": model,
            "base_url": base_url,
            **judge_limits(None, max_calls, concurrency, timeout),
        },
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
    words, draw, mark = (code, markdown_table, "## ") if is_markdown else (safe, table, "")
    yield f"{mark}{words(result.name)}\n"
    rows = []
    for name, one in result.variants.items():
        done = sum(run.status == "done" for run in one.runs)
        means = [_number(one.avg_metrics[measure]) for measure in one.avg_metrics]
        rows.append((words(name), f"{done} of {len(one.runs)}", *means))
    measures = next(iter(result.variants.values())).avg_metrics
    yield draw(("Variant", "Runs", *(words(measure) for measure in measures)), rows)
    yield ""
    yield draw(_HEADERS, [_comparison(one, words) for one in result.comparisons])
    yield f"\n{words(result.recommendation)}"
    yield from (f"- {words(reason)}" for reason in result.reasons)
    spent = "not known" if result.spent_usd is None else f"{result.spent_usd:.4f} USD"
    yield f"\nSpent: {spent}."
    for variant in result.variants.values():
        failed = [run for run in variant.runs if run.status == "failed"]
        yield from (f"- failed: {words(f'{run.variant} {run.run_index + 1}: {run.detail}')}" for run in failed)


_HEADERS = ("Measure", "A", "B", "Mean of A", "Mean of B", "B less A", "p", "Holm", "Significant", "Practical")


def _comparison(one: StatisticalComparison, words: Any) -> tuple[str, ...]:
    from evaluation.statistics.words import p_words

    return (
        words(one.metric_name),
        words(one.variant_a),
        words(one.variant_b),
        _number(one.mean_a),
        _number(one.mean_b),
        _number(one.difference),
        p_words(one.p_value),
        p_words(one.p_holm),
        _yes(one.significant),
        _yes(one.practical_difference),
    )


def _number(value: float | None) -> str:
    return "not known" if value is None or math.isnan(value) else f"{value:.4g}"


def _yes(value: bool | None) -> str:
    return {True: "yes", False: "no", None: "untestable"}[value]
