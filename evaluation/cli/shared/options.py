"""Options that several commands share."""

from __future__ import annotations

import getpass
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from evaluation.cli.shared.shared_options import SharedOptions
from evaluation.cli.shared.shared_options import database_path as database_path
from evaluation.cli.shared.shared_options import open_store as open_store
from evaluation.engines.task_engines import EngineName
from evaluation.errors import InputError


class JudgeChoice(NamedTuple):
    """The model that options choose, and what it may cost.

    Attributes:
        config: Fields of ``JudgeConfig``; ``None`` for those that were not given.
        is_estimate: Whether nobody is to be asked.
    """

    config: dict[str, Any]
    is_estimate: bool


class OutputFormat(StrEnum):
    """Output formats of a command's result."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"


class ListFormat(StrEnum):
    """Output formats of a list."""

    TABLE = "table"
    JSON = "json"


class MetricName(StrEnum):
    """The rubric's metrics, as they are named in the output."""

    MEMORY_ACCURACY = "memory_accuracy"
    STRATEGIC_DEPTH = "strategic_depth"
    COHERENCE = "coherence"
    ROLE_CONSISTENCY = "role_consistency"
    PERSONALITY_DIVERSITY = "personality_diversity"
    ANTI_REPETITION = "anti_repetition"
    ENGAGEMENT = "engagement"


Database = Annotated[
    Path | None,
    typer.Option(
        "--db",
        envvar="DRAMATURG_DB",
        show_default=False,
        help="The database file; in a checkout data/dramaturg.duckdb, else in your data folder.",
    ),
]
TRANSCRIPTS_HELP = "Transcripts: files, zips, game folders, or folders of these"
Port = Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")]
IterationName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", show_default=False, help="The iteration that the games belong to; created where there is none."
    ),
]
TranscriptReference = Annotated[
    str,
    typer.Argument(
        metavar="TRANSCRIPT",
        show_default=False,
        help="The id of a stored transcript, its first digits, or the game's id.",
    ),
]
OutputFile = Annotated[
    Path | None,
    typer.Option("--output", "-o", dir_okay=False, show_default=False, help="The file; else standard output."),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")]
Rows = Annotated[ListFormat, typer.Option("--format", help="A table to read, or JSON for programs.")]
TextFormat = Annotated[OutputFormat, typer.Option("--format", help="A table to read, JSON for programs, or Markdown.")]
OfIteration = Annotated[
    str | None,
    typer.Option("--iteration", metavar="NAME", show_default=False, help="Only the games of this iteration."),
]
Jobs = Annotated[int, typer.Option(min=1, help="How many processes compute at the same time.")]
CorpusOutput = Annotated[
    str | None,
    typer.Option(
        "--output",
        metavar="URL",
        show_default=False,
        help="The folder or s3:// URL of a corpus of Parquet files: scores and ledgers are written there, for "
        "'dramaturg collect', and nothing goes to the database. What is there already is left out.",
    ),
]
Engine = Annotated[EngineName, typer.Option(help="Where the work is done; dask needs --output.")]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="tcp://HOST:PORT",
        show_default=False,
        help="The scheduler of a Dask cluster; without it, a cluster of --jobs processes is started here.",
    ),
]
JudgeMode = Annotated[
    str | None,
    typer.Option(metavar="MODE", show_default=False, help="live, recorded or offline; live when there is a key."),
]
PropositionFolder = Annotated[
    Path | None,
    typer.Option(
        "--propositions",
        envvar="DRAMATURG_PROPOSITIONS",
        metavar="FOLDER",
        show_default=False,
        exists=True,
        file_okay=False,
        help="A folder of your own; its files add to the shipped ones and override them by id.",
    ),
]


By = Annotated[
    str | None,
    typer.Option(metavar="NAME", show_default=False, help="Who does it, for the record; your user name if left out."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask. Needed where nobody can be asked, as in a script.")]


def person(by: str | None) -> str:
    """The name to record: the one given, else the user's on this machine."""
    if by is not None:
        return by
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        # A container may run as a number that has no name.
        return "command line"


def require_consent(question: str, yes: bool) -> None:
    """Returns when the person agrees.

    Raises:
        InputError: They do not, or nobody can be asked and ``--yes`` was not said.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise InputError(f"{question} Nobody can be asked here.", remedy="Say --yes.")
    if not typer.confirm(question, err=True):
        raise InputError("Nothing was changed.")


def listed_names(listed: str) -> list[str]:
    """The names in a list with commas."""
    return [name for name in map(str.strip, listed.split(",")) if name]


@SharedOptions
def judge_options(
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", show_default=False, help="The model to ask.")
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(
            "--base-url", metavar="URL", show_default=False, help="The address of an OpenAI-compatible server."
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option("--budget", min=0, metavar="USD", show_default=False, help="What the run may cost."),
    ] = None,
    max_calls: Annotated[
        int | None, typer.Option(min=0, metavar="CALLS", show_default=False, help="How many calls it may make.")
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1_000,
            show_default=False,
            help="Calls under way at the same time, at most; 20. How many there are follows the server.",
        ),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0.1,
            max=3_600,
            metavar="SECONDS",
            show_default=False,
            help="The longest that a call may take; 600. Below it the timeout follows the server.",
        ),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            min=100,
            max=1_000_000,
            metavar="TOKENS",
            show_default=False,
            help="The most that the model may write for an answer, its reasoning included; 1000.",
        ),
    ] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Say what it would ask and cost, and stop.")] = False,
) -> JudgeChoice:
    """The model that is asked, with its limits."""
    config = {
        "model": model,
        "base_url": base_url,
        "max_usd": budget,
        "max_calls": max_calls,
        "concurrency": concurrency,
        "timeout_seconds": timeout,
        "max_tokens": max_tokens,
    }
    return JudgeChoice(config, estimate)


def require_output(output: str | None, engine: EngineName, scheduler: str | None) -> None:
    """Refuses an engine or a scheduler where there is no corpus that workers could write to."""
    if output is None and (engine is not EngineName.LOCAL or scheduler is not None):
        raise typer.BadParameter("Workers write Parquet: say where with --output URL.", param_hint="--engine")


def print_config_option(package: str, name: str) -> Any:
    """The option ``--print-config``, which prints the sample configuration ``name`` of ``package`` and exits."""

    def print_sample(wanted: bool) -> None:
        if wanted:
            from importlib.resources import files

            typer.echo((files(package) / name).read_text("utf-8").rstrip())
            raise typer.Exit

    return typer.Option("--print-config", callback=print_sample, is_eager=True, help="Print a sample of that file.")
