"""The options of ``dramaturg eval``."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from evaluation.cli.options import OutputFormat

_TIME_FORMATS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"]
_LARGEST_SEED = 2**31 - 1


class Mode(StrEnum):
    """Who judges: a model, rules that need none, or recordings of a model."""

    LIVE = "live"
    OFFLINE = "offline"
    MOCK = "mock"


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
        help="Of adherence, consistency, fluency, convergence, ideas_quantity; all when left out.",
    ),
]
ModeOption = Annotated[
    Mode | None,
    typer.Option("--mode", show_default=False, help="live with a key or an address when left out, else offline."),
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
Model = Annotated[str | None, typer.Option(metavar="NAME", show_default=False, help="The judge's model.")]
Address = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", show_default=False, help="The address of an OpenAI-compatible server."),
]
Recordings = Annotated[
    Path | None,
    typer.Option(
        metavar="PATH", show_default=False, help="The file or folder that mock plays; the shipped one when left out."
    ),
]
Output = Annotated[OutputFormat, typer.Option("--format", help="How the scores are printed.")]
