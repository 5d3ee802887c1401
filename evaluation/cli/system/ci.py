"""``dramaturg ci``: the games of a repository in continuous integration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.cli.shared.exit_codes import command_group, finish_scoring
from evaluation.cli.shared.options import Jobs
from evaluation.cli.shared.terminal import note, say
from evaluation.errors import DramaturgError

if TYPE_CHECKING:
    from evaluation.workflows.projects.pull_requests import ProposedChange

app = command_group("Score the games of a repository in CI, and comment on a pull request.")

_DEFAULT_REPORT = Path("dramaturg-report")

Report = Annotated[
    Path, typer.Option("--report", metavar="FOLDER", help="Where comparison.json and comment.md are written.")
]


@app.command()
def check(
    games: Annotated[
        str | None,
        typer.Argument(metavar="FOLDER", show_default=False, help="The games, in place of those of the configuration."),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            metavar="COMMIT",
            show_default=False,
            help="The commit to compare with, such as origin/main; else games are only held against the gate.",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", show_default=False, help="The configuration; dramaturg.toml, where there is one."),
    ] = None,
    report: Report = _DEFAULT_REPORT,
    jobs: Jobs = 1,
) -> None:
    """Score a folder of games, compare it with another commit, and write the comment for a pull request.

    Needs no database, network or token. The exit code is 3 if a metric could not be computed, else 2 if a file could
    not be read, else 1 if a game fails the gate or a metric fell; a folder that the commit lacks is not a failure.
    """
    try:
        found = _compared(games, base, config, jobs)
    except DramaturgError as error:
        _write(report, {"kind": "games", "verdict": "broken", "problem": str(error)})
        raise
    written = _write(report, found.as_dict())
    say(written.partition("\n")[2])
    failed = len(found.failed) + len(found.fallen)
    finish_scoring(incomplete=found.incomplete, refused=found.refused, gate_failed=failed)


@app.command()
def comment(report: Report = _DEFAULT_REPORT) -> None:
    """Write the comment on the GitHub pull request, or update it.

    Needs GITHUB_REPOSITORY, GITHUB_TOKEN and GITHUB_EVENT_PATH. The report is treated as untrusted.
    """
    import os

    from evaluation.harness.github_comment import main

    raise typer.Exit(main(["post", str(report)], os.environ))


def _compared(games: str | None, base: str | None, config: Path | None, jobs: int) -> ProposedChange:
    from evaluation.workflows.projects.configuration import FILE_NAME, configured
    from evaluation.workflows.projects.pull_requests import compare_with_base

    path = config if config is not None else Path(FILE_NAME)
    configuration = configured(path, is_required=config is not None, games=games)
    return compare_with_base(path.parent, configuration, base=base, note=note, jobs=jobs)


def _write(folder: Path, report: dict[str, object]) -> str:
    from evaluation.escaping import json_text
    from evaluation.harness.games_comment import games_markdown
    from evaluation.harness.github_comment import COMMENT, REPORT

    text = games_markdown(report)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / REPORT).write_text(json_text(report) + "\n", encoding="utf-8")
    (folder / COMMENT).write_text(text + "\n", encoding="utf-8")
    return text
