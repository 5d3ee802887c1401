"""Options of ``dramaturg persona``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from evaluation.cli.options import OutputFormat, PropositionFolder, SharedOptions

_TIME_FORMATS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"]
_LARGEST_SEED = 2**31 - 1


Mode = Literal["mock", "live", "synthetic", "offline"]
"""Source of answers: recordings of a judge, a model, a model on synthetic answers, or counting only."""


@dataclass(frozen=True)
class Sample:
    """Agents, and what they are evaluated on: the options of that name."""

    agents: Annotated[
        str,
        typer.Option(
            metavar="NAME,...",
            help="Names or ids; 'all' for everybody who is stored. Default: agents with a persona or propositions.",
        ),
    ] = ""
    dimensions: Annotated[
        str,
        typer.Option(
            metavar="NAME,...",
            help="Default: all of adherence, consistency, fluency, convergence (voice distinctness), ideas_quantity.",
        ),
    ] = ""
    sample_size: Annotated[
        int, typer.Option(min=1, max=10_000, help="At most so many messages of an agent are judged one by one.")
    ] = 20
    seed: Annotated[int, typer.Option(min=0, max=_LARGEST_SEED, help="Chooses the sample.")] = 0
    double_check: Annotated[
        bool, typer.Option("--double-check", help="Ask the judge to reconsider; twice the calls, stricter.")
    ] = False
    individual: Annotated[
        bool, typer.Option("--individual", help="Ask every proposition in a call of its own; dearer, more exact.")
    ] = False
    propositions: PropositionFolder = None


sample_options = SharedOptions(Sample)


@dataclass(frozen=True)
class Source:
    """The source of answers, and of what scores are held against: the options of that name."""

    mode: Annotated[
        Mode,
        typer.Option(
            "--mode",
            help=(
                "mock plays recorded answers (other commands call it recorded), live asks a model, synthetic lets "
                "agents answer scenario prompts and a model judge that, offline counts what can be counted."
            ),
        ),
    ] = "mock"
    simulated: Annotated[
        bool,
        typer.Option("--simulated", help="Count the conversations of experiments too; they are left out otherwise."),
    ] = False
    recordings: Annotated[
        Path | None,
        typer.Option(
            envvar="DRAMATURG_RECORDINGS",
            metavar="PATH",
            help="The file or folder of recorded answers. Default: the shipped one.",
        ),
    ] = None
    baselines: Annotated[
        Path | None,
        typer.Option(
            envvar="DRAMATURG_BASELINES",
            metavar="FOLDER",
            file_okay=False,
            help="The folder with baselines. Default: the shipped one.",
        ),
    ] = None


source_options = SharedOptions(Source)


Since = Annotated[datetime | None, typer.Option(formats=_TIME_FORMATS, help="Only messages from this time on (UTC).")]
Until = Annotated[datetime | None, typer.Option(formats=_TIME_FORMATS, help="Only messages up to this time (UTC).")]
MaxDrop = Annotated[
    float,
    typer.Option(
        min=0.0, max=9.0, help="The largest drop below the baseline that is allowed, on the scale from 0 to 9."
    ),
]
RequireBaseline = Annotated[
    bool, typer.Option("--require-baseline", help="Exit with 1 when no score could be compared with a baseline.")
]
Output = Annotated[OutputFormat, typer.Option("--format", help="A table, JSON, or the Markdown of a pull request.")]
