"""``dramaturg validate``: say whether files would be read, and what would be missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.cli.shared.exit_codes import BAD_INPUT
from evaluation.cli.shared.options import TRANSCRIPTS_HELP, ListFormat
from evaluation.cli.shared.reading_options import reading_options
from evaluation.cli.shared.terminal import note, safe, say
from evaluation.text.display import counted

if TYPE_CHECKING:
    from evaluation.workflows.validation import Report


@reading_options
def validate(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", show_default=False, help=f"{TRANSCRIPTS_HELP}."),
    ],
    output: Annotated[
        ListFormat, typer.Option("--format", help="Words to read, or JSON for programs: one object per game.")
    ] = ListFormat.TABLE,
) -> None:
    """Say what each file is taken for and what it lacks, without scoring or storing anything.

    Exits with 2 when a file would be refused, and says why, where and what to do. Warnings do not change the exit code.
    """
    from evaluation.cli.shared.rendering import print_json_list
    from evaluation.readers import Limits, iter_paths
    from evaluation.workflows.validation import Report

    refused, choices = 0, reading_options.value()

    def reports() -> Iterator[Report]:
        nonlocal refused
        for result in iter_paths(paths, Limits(), choices.columns, choices.answers):
            report = Report.of(result)
            refused += report.error is not None
            yield report

    if output is ListFormat.JSON:
        print_json_list(report.as_dict() for report in reports())
    else:
        for report in reports():
            say(_words(report))
    if refused:
        note(f"{refused} would be refused.")
        raise typer.Exit(BAD_INPUT)


def _words(report: Report) -> str:
    if report.error is not None:
        taken_for = f" (taken for {report.format})" if report.format else ""
        return f"{safe(report.name)}: refused{taken_for}\n  {safe(report.error)}"
    lines = [f"{safe(report.name)}: {report.format}", f"  {_counts(report)}"]
    return "\n".join(lines + [f"  warning: {safe(warning)}" for warning in report.warnings])


def _counts(report: Report) -> str:
    messages = report.messages or {}
    channels = ", ".join(f"{count:,} {channel}" for channel, count in messages.items())
    return ", ".join(
        (
            f"{counted(report.players or 0, 'player')} ({report.roles} with a role)",
            f"{counted(sum(messages.values()), 'message')} ({channels})",
            counted(report.votes or 0, "vote"),
            counted(report.eliminations or 0, "elimination"),
        )
    )
