"""Options of ``dramaturg experiment run``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def _above_zero(scale: float) -> float:
    if scale == 0:
        raise typer.BadParameter("0 is not a size: give a share above 0, such as 0.1.")
    return scale


Scenario = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        show_default=False,
        help="debate-controversial, brainstorming-average, brainstorming-difficult-full or -variety, 'all' for these "
        "four of Table 1, or a .yaml file of yours.",
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
Seed = Annotated[int, typer.Option(min=0, help="Draws population, seating, order of acting and samples.")]
PaperLayout = Annotated[
    bool,
    typer.Option(
        "--paper-layout", help="As the original runs: few personas that meet again and again, adherence at 5 alone."
    ),
]
Steps = Annotated[
    int | None,
    typer.Option(min=1, max=200, show_default=False, help="How many times everybody may speak; the scenario's number."),
]
Personas = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        show_default=False,
        help="Take the agents in this folder (TinyTroupe's *.agent.json) instead of making a population.",
    ),
]
Fragments = Annotated[
    list[Path] | None,
    typer.Option(
        "--fragment",
        metavar="FILE",
        show_default=False,
        help="Work a fragment (*.fragment.json) into all of them; may be given more than once.",
    ),
]
Scripted = Annotated[
    bool,
    typer.Option("--scripted", help="Ask no model: a script speaks and judges, with planted effects. Needs no key."),
]
Without = Annotated[
    bool, typer.Option("--no-effects", help="With --scripted: plant nothing, so that nothing should be found.")
]
SampleSize = Annotated[
    int, typer.Option("--sample-size", min=1, max=200, help="Messages of each agent judged one by one, at most.")
]
Batched = Annotated[
    bool, typer.Option("--batched", help="Ask up to ten questions in a call: cheaper and a little less exact.")
]
DoubleCheck = Annotated[bool, typer.Option("--double-check", help="Ask the judge whether it is sure: twice the price.")]
