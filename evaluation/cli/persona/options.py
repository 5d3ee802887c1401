"""Options of ``dramaturg persona``."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

_TIME_FORMATS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"]
_LARGEST_SEED = 2**31 - 1


class Mode(StrEnum):
    """Source of answers: recordings of a judge, a model, a model on synthetic answers, or counting only."""

    MOCK = "mock"
    LIVE = "live"
    SYNTHETIC = "synthetic"
    OFFLINE = "offline"


class RecordMode(StrEnum):
    """Source of the recorded answers: a model, or the script behind the shipped recordings."""

    LIVE = "live"
    SCRIPTED = "scripted"


class CommentAction(StrEnum):
    """Steps of the comment on a pull request: the comparison, and the comment itself."""

    CHECK = "check"
    POST = "post"


class PersonaFormat(StrEnum):
    """Output formats of an evaluation."""

    TABLE = "table"
    MARKDOWN = "markdown"
    JUNIT = "junit"
    JSON = "json"


Agents = Annotated[
    str,
    typer.Option(
        metavar="NAME,...",
        show_default=False,
        help="Names or ids; 'all' for everybody who is stored. Those with a persona or propositions when left out.",
    ),
]
Dimensions = Annotated[
    str,
    typer.Option(
        metavar="NAME,...",
        show_default=False,
        help=(
            "Of adherence, consistency, fluency, convergence, ideas_quantity and those of plug-ins; all when left out."
        ),
    ),
]
ModeOption = Annotated[
    Mode,
    typer.Option(
        "--mode",
        help=(
            "mock plays recorded answers, live asks a model, synthetic lets agents answer scenario prompts and a model "
            "judge that, offline counts what can be counted."
        ),
    ),
]
Since = Annotated[
    datetime | None,
    typer.Option(formats=_TIME_FORMATS, show_default=False, help="Only messages from then on (UTC)."),
]
Until = Annotated[
    datetime | None,
    typer.Option(formats=_TIME_FORMATS, show_default=False, help="Only messages until then (UTC)."),
]
SampleSize = Annotated[
    int, typer.Option(min=1, max=10_000, help="At most so many messages of an agent are judged one by one.")
]
Seed = Annotated[int, typer.Option(min=0, max=_LARGEST_SEED, help="Chooses the sample.")]
DoubleCheck = Annotated[
    bool, typer.Option("--double-check", help="Ask the judge to reconsider; twice the calls, stricter.")
]
Individual = Annotated[
    bool, typer.Option("--individual", help="Ask every proposition in a call of its own; dearer, more exact.")
]
Recordings = Annotated[
    Path | None,
    typer.Option(
        envvar="DRAMATURG_RECORDINGS",
        metavar="PATH",
        show_default=False,
        help="The file or folder that mock plays; the shipped one when left out.",
    ),
]
Baselines = Annotated[
    Path | None,
    typer.Option(
        envvar="DRAMATURG_BASELINES",
        metavar="FOLDER",
        show_default=False,
        file_okay=False,
        help="The folder with golden baselines; the shipped one when left out.",
    ),
]
MaxDrop = Annotated[
    float, typer.Option(min=0.0, max=9.0, help="A score may fall by so much; a larger drop is a regression.")
]
Simulated = Annotated[
    bool,
    typer.Option("--simulated", help="Count the conversations of experiments too; they are left out otherwise."),
]
RequireBaseline = Annotated[
    bool, typer.Option("--require-baseline", help="Exit with 1 when no score could be held against a baseline.")
]
Output = Annotated[PersonaFormat, typer.Option("--format", help="How it is printed; junit is XML for CI systems.")]
