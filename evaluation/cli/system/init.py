"""``dramaturg init``: a starting configuration."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from evaluation.cli.shared.terminal import note, safe, say


class CIChoice(StrEnum):
    """Systems for which a job can be written."""

    GITHUB = "github"
    GITLAB = "gitlab"
    NONE = "none"


def init(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The project.")] = Path("."),
    games: Annotated[
        str, typer.Option("--games", metavar="FOLDER", help="Where its transcripts lie, inside the project.")
    ] = "games",
    base: Annotated[str, typer.Option(metavar="NAME", help="What the games of the base branch are called.")] = "base",
    proposed: Annotated[
        str, typer.Option(metavar="NAME", help="What the games of a proposed change are called.")
    ] = "proposed",
    max_drop: Annotated[
        float | None,
        typer.Option(metavar="POINTS", show_default=False, help="How far the mean of a metric may fall; any distance."),
    ] = None,
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC=POINTS",
            show_default=False,
            help="Another threshold than the rubric's, such as coherence=70. May be given several times.",
        ),
    ] = None,
    ci: Annotated[CIChoice, typer.Option("--ci", help="For which system a job is written.")] = CIChoice.GITHUB,
    action: Annotated[
        str | None,
        typer.Option(metavar="OWNER/REPOSITORY@REF", show_default=False, help="Where the GitHub action lies."),
    ] = None,
) -> None:
    """Write a starting configuration for a project: dramaturg.toml, a folder for games, and a job for CI.

    Nothing that is there is overwritten.
    """
    from evaluation.workflows.projects.configuration import build_configuration
    from evaluation.workflows.projects.starting import CISystem, write_starting_files

    configuration = build_configuration(
        {
            "games": games,
            "iterations": {"base": base, "proposed": proposed},
            "thresholds": _thresholds(threshold or []),
            **({} if max_drop is None else {"max_drop": max_drop}),
        },
        place="dramaturg init",
    )
    for file in write_starting_files(folder, configuration, CISystem(ci), action=action):
        say(f"{'wrote' if file.is_new else 'kept '}  {safe(file.path)}")
    if ci is CIChoice.GITHUB and action is None:
        note("Put the owner of your copy of Dramaturg in the place of OWNER in .github/workflows/games.yml.")
    note(f"Next: put games into {safe(folder / configuration.games)}, then run: dramaturg ci check")


def _thresholds(given: list[str]) -> dict[str, float]:
    found = {}
    for each in given:
        name, _, value = each.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            raise typer.BadParameter(f"{each!r} is not METRIC=POINTS.", param_hint="--threshold") from None
    return found
