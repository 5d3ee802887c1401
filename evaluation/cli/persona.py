"""``dramaturg persona``: how agents hold their character, and whether they held it better before."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evaluation.cli._persona_options import (
    MaxDrop,
    Output,
    RequireBaseline,
    Since,
    Until,
    sample_options,
    source_options,
)
from evaluation.cli.exit_codes import command_group
from evaluation.cli.options import judge_options

app = command_group(
    "Evaluate agents on adherence, consistency, fluency, voice distinctness and ideas, and compare them with baselines."
)


@app.command()
@source_options
@sample_options
@judge_options
def run(
    since: Since = None,
    until: Until = None,
    max_drop: MaxDrop = 1.0,
    require_baseline: RequireBaseline = False,
    output: Output = "table",
) -> None:
    """Evaluate agents over everything they said, store scores and reasons, and compare them with their
    baselines.

    An agent that speaks in no stored transcript is judged on the shipped ones. Exits with 1 when a score fell by more
    than --max-drop or is gone, with 3 when the judge failed on anything or cannot be reached.
    """
    from evaluation.cli._persona_runs import run_evaluations

    run_evaluations(output, since=since, until=until, max_drop=max_drop, requires_baseline=require_baseline)


@app.command()
@source_options
@sample_options
@judge_options
def compare(max_drop: MaxDrop = 1.0, require_baseline: RequireBaseline = False, output: Output = "table") -> None:
    """Evaluate agents and print every score beside its baseline, with what fell, what is gone and what is new.

    Exits like 'run'. Markdown is the comment for a pull request.
    """
    from evaluation.cli._persona_runs import run_comparison

    run_comparison(output, max_drop=max_drop, requires_baseline=require_baseline)


@app.command()
@source_options
@sample_options
@judge_options
def baseline() -> None:
    """Evaluate agents and write what they score as the baseline that later runs are compared with.

    Prints each score beside the baseline that it replaces. Writes nothing, and exits with 3, when the judge failed on
    anything.
    """
    from evaluation.cli._persona_runs import make_baselines

    make_baselines()


@app.command()
@sample_options
@judge_options
def record(
    to: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="The .jsonl file that answers are added to; of several answers to one prompt, the last counts.",
        ),
    ],
) -> None:
    """Evaluate agents with a model and record its answers, so that --mode mock can play them without one.

    Play them with the same agents, dimensions, sample size, seed and model.
    """
    from evaluation.cli._persona_runs import record_answers

    record_answers(to)
