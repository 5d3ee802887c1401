"""``dramaturg experiment`` and ``dramaturg ab``: treatment and control, Table 1, and variants compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from evaluation.cli.exit_codes import INFRASTRUCTURE, command_group
from evaluation.cli.options import JudgeMode, Rows, Yes, judge_options, open_store, print_config_option
from evaluation.cli.terminal import cell_table, note, say, say_json
from evaluation.escaping import safe

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
    typer.Option(min=0.0, max=1.0, help="How much of the full size: 0.1 is a tenth, rounded up, two pairs at least."),
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


app = command_group("Experiments with a treatment and a control, and Table 1 of the TinyTroupe paper.")


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
    from evaluation.cli._experiment_runs import run_all

    asked = judge_options.value()
    if scripted and (asked.config["model"] or asked.config["base_url"]):
        raise typer.BadParameter(
            "With --scripted no model and no server is asked: leave one of them out.", param_hint="--model, --base-url"
        )
    settings = {
        "scale": scale,
        "seed": seed,
        "steps": steps,
        "sample_size": sample_size,
        "is_batched": batched,
        "has_double_check": double_check,
        "effects": True if scripted else None,
    }
    run_all(open_store(), scenario, settings, asked, output, yes=yes)


@app.command()
def report(
    table: Annotated[Literal["table1"], typer.Argument(metavar="table1", help="Table 1 of arXiv:2507.09788.")],  # noqa: ARG001
    output: Rows = "table",
) -> None:
    """Print the paper's Table 1, beside which the reports of runs stand."""
    from evaluation.cli._experiment_runs import table1_text

    say(table1_text(output))


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
    from evaluation.cli._experiment_runs import carry_out
    from evaluation.experiments.ab_runner import ABConfig
    from evaluation.experiments.results import measure_label
    from evaluation.experiments.tables import comparison_cells, run_cells, runs_by_status, variant_cells
    from evaluation.files.yaml_files import read_model
    from evaluation.judging.judge_config import price_of
    from evaluation.text.display import cost_text, json_data
    from evaluation.workflows.ab_tests import estimate_ab_test

    store, test = open_store(), read_model(config, ABConfig)
    asked = judge_options.value()
    options = {"mode": mode, **asked.config}
    if asked.estimate:
        say(estimate_ab_test(store, test, options).words(price_of))
        return
    result = carry_out(store, test, options, "run").result
    if output == "json":
        told = ("winner", "recommendation", "reasons", "spent_usd", "failed", "skipped")
        say_json({"name": test.name, **json_data(result), **{name: getattr(result, name) for name in told}})
    else:
        say(f"{safe(test.name)}\n\nRuns: {runs_by_status(result.runs)}. Spent: {cost_text(result.spent_usd)}.\n")
        is_only_pair = len(result.variants) == 2
        say(cell_table([variant_cells(one) for one in result.variants.values()]) + "\n")
        say(cell_table([comparison_cells(one, is_only_pair=is_only_pair) for one in result.comparisons]) + "\n")
        failed = [run_cells(one) for one in result.runs if one.status == "failed"]
        lines = [*result.reasons, *(" ".join((one["Variant"], one["Run"], one["Status"])) for one in failed)]
        decides = f"{test.decides.capitalize()}: {measure_label(test.primary)}."
        say("\n".join([safe(result.recommendation), *(f"- {safe(line)}" for line in (decides, *lines))]))
    if result.skipped:
        note(f"{result.skipped} runs wait for a new budget. Raise the limit, or run it again.")
    if result.failed:
        raise typer.Exit(INFRASTRUCTURE)
