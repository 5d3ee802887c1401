"""``dramaturg experiment`` and ``dramaturg ab``: treatment and control, Table 1, and variants compared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.cli.exit_codes import INFRASTRUCTURE, command_group
from evaluation.cli.options import (
    JudgeMode,
    ListFormat,
    Rows,
    Yes,
    judge_options,
    open_store,
    print_config_option,
)
from evaluation.cli.terminal import Columns, TerminalProgress, cell_table, note, safe, say, say_json, say_list

if TYPE_CHECKING:
    from evaluation.experiments.ab_runner import ABTestResult
    from evaluation.experiments.plan import ExperimentRecord
    from evaluation.store import Store


def _above_zero(scale: float) -> float:
    if scale == 0:
        raise typer.BadParameter("0 is not a size: give a share above 0, such as 0.1.")
    return scale


Scenario = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help="debate-controversial, brainstorming-average, brainstorming-difficult-full or -variety, or 'all' for "
        "these four of Table 1.",
    ),
]
Scale = Annotated[
    float,
    typer.Option(
        min=0.0,
        max=1.0,
        callback=_above_zero,
        help="How much of the full size: 0.1 is a tenth, rounded up, two pairs at least.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the random choice of population, seating, order and samples.")]
Steps = Annotated[
    int | None, typer.Option(min=1, max=200, help="How many times everybody may speak. Default: the scenario's number.")
]
Scripted = Annotated[
    bool,
    typer.Option("--scripted", help="Ask no model: a script speaks and judges, with planted effects. Needs no key."),
]
SampleSize = Annotated[
    int, typer.Option("--sample-size", min=1, max=200, help="Messages of each agent judged one by one, at most.")
]
Batched = Annotated[
    bool, typer.Option("--batched", help="Ask up to ten questions in a call: cheaper and a little less exact.")
]
DoubleCheck = Annotated[bool, typer.Option("--double-check", help="Ask the judge whether it is sure: twice the price.")]


_TABLE1 = "table1"

app = command_group("Experiments with a treatment and a control, and Table 1 of the TinyTroupe paper.")


@app.callback()
def experiments() -> None:
    """Experiments with a treatment and a control, and Table 1 of the TinyTroupe paper."""


@app.command()
@judge_options
def run(
    scenario: Scenario,
    scale: Scale = 1.0,
    seed: Seed = 0,
    steps: Steps = None,
    scripted: Scripted = False,
    sample_size: SampleSize = 3,
    batched: Batched = False,
    double_check: DoubleCheck = False,
    output: Rows = "table",
    yes: Yes = False,
) -> None:
    """Run an experiment: the same agents with and without the treatment, evaluated and compared.

    Says what the run will cost before anything is spent. Every answer is stored before it is used: after a stop, or
    when the budget ran out, run the same command again, and nothing is paid twice. Exits with 3 when the run stopped
    before its end.
    """
    from evaluation.cli._experiment_runs import chosen_plans, run_all

    asked = judge_options.value()
    if scripted and (asked.config["model"] or asked.config["base_url"]):
        raise typer.BadParameter(
            "With --scripted no model and no server is asked: leave one of them out.",
            param_hint="--model, --base-url",
        )
    store = open_store()
    settings = {
        "scale": scale,
        "seed": seed,
        "steps": steps,
        "sample_size": sample_size,
        "is_batched": batched,
        "has_double_check": double_check,
        "effects": True if scripted else None,
    }
    plans = chosen_plans(store, scenario, settings, asked.config["model"])
    run_all(store, plans, asked, output, yes=yes)


@app.command()
def report(
    experiment: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            help="The id, or its first digits; 'table1' for Table 1 of arXiv:2507.09788; without it, all are listed.",
        ),
    ] = None,
    output: Rows = "table",
) -> None:
    """List the experiments that were run, print the report of one that is done, or the paper's Table 1."""
    from evaluation.cli._experiment_runs import record_text, table1_text
    from evaluation.errors import InputError

    if experiment == _TABLE1:
        say(table1_text(output))
        return
    store = open_store()
    if experiment is None:
        _list_runs(store, output)
        return
    record = store.experiments.get(experiment)
    if not record.rows:
        raise InputError(f"The experiment {record.id[:8]} is not done.", remedy="Run it again to go on with it.")
    say(record_text(record, output))


def _list_runs(store: Store, output: ListFormat) -> None:
    from evaluation.cli._experiment_runs import record_dict
    from evaluation.experiments.plan import EXPERIMENT
    from evaluation.text.display import time_words

    found = store.experiments.all(EXPERIMENT)
    columns: Columns[ExperimentRecord] = {
        "Id": lambda record: record.id[:8],
        "Scenario": lambda record: record.scenario,
        "Scale": lambda record: f"{record.scale:g}",
        "Seed": lambda record: record.seed,
        "Model": lambda record: record.config["model"],
        "Status": lambda record: record.status,
        "Begun": lambda record: time_words(record.created_at),
    }
    nothing = "No experiment was run yet. Without a key: dramaturg experiment run debate-controversial --scripted."
    say_list(found, columns, record_dict, nothing, is_json=output == "json")


@judge_options
def ab(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="The test, in YAML or JSON; see --print-config.")],
    output: Rows = "table",
    print_config: Annotated[  # noqa: ARG001 - its callback acts
        bool, print_config_option("evaluation.experiments", "ab.yaml")
    ] = False,
    mode: JudgeMode = None,
) -> None:
    """Compare variants of a configuration: on stored games, or on simulated runs.

    A winner is named only where its difference on the primary measure is significant after Holm's adjustment over all
    comparisons, and more than 10 % (or what the file says) of the larger mean. Runs that are done are stored: run it
    again to go on where a limit or a crash stopped it. Exits with 3 when runs failed.
    """
    from evaluation.experiments.ab_runner import ABConfig
    from evaluation.files.yaml_files import read_model
    from evaluation.judging.judge_config import price_of
    from evaluation.workflows.ab_tests import estimate_ab_test, run_ab_test

    store, test = open_store(), read_model(config, ABConfig)
    asked = judge_options.value()
    options = {"mode": mode, **asked.config}
    if asked.is_estimate:
        found = estimate_ab_test(store, test, options)
        say(found.words(price_of))
        return
    progress = TerminalProgress("run")
    result = run_ab_test(
        store,
        test,
        options,
        lambda one: progress.advance(f"{one.variant} {one.run_index + 1}: {one.status}"),
    )
    progress.finish()
    _say(result, output)
    if result.skipped:
        note(f"{result.skipped} runs wait for a new budget. Raise the limit, or run it again.")
    if result.failed:
        raise typer.Exit(INFRASTRUCTURE)


def _say(result: ABTestResult, output: ListFormat) -> None:
    if output == "json":
        say_json(result.as_dict())
    else:
        say("\n".join(_lines(result)))


def _lines(result: ABTestResult) -> Iterator[str]:
    from evaluation.experiments.ab_results import ab_summary

    found = ab_summary(result.as_dict())
    yield f"{safe(result.name)}\n"
    yield f"Runs: {found.runs}. Spent: {found.spent}.\n"
    for rows in (found.variants, found.comparisons):
        yield f"{cell_table(rows)}\n"
    yield safe(result.recommendation)
    yield from (f"- {safe(reason)}" for reason in result.reasons)
    for run in found.every_run:
        if run["Status"].startswith("✗"):
            yield "- " + safe(" ".join((run["Variant"], run["Run"], run["Status"])))
