"""Options that several commands share: the database, a judge, how files are read, formats, and who does it."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypedDict, TypeVar

import typer

from evaluation.errors import InputError

if TYPE_CHECKING:
    from evaluation.readers import Answers, ChooseColumns, ColumnMapping
    from evaluation.store import Store


Value = TypeVar("Value")
Command = TypeVar("Command", bound=Callable[..., Any])
_ATTRIBUTE = "shared_options"
_DB_HELP = (
    "The database file. Default: DRAMATURG_DB, else data/dramaturg.duckdb in a checkout, else one in your data folder."
)
_database: list[Path] = []


def _command_of(function: Callable[..., object]) -> Any:
    """The command that typer makes of a function, for its options."""
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command()(function)
    return typer.main.get_command(alone)


class SharedOptions(Generic[Value]):
    """A set of options, and what the command line says of them.

    Used as a decorator, it gives its options to a command, which calls ``value`` for what was typed.

    Args:
        read: Its parameters are the options, as in a command of typer's; it returns what commands want of them. A
            dataclass is one, whose fields are the options.
    """

    def __init__(self, read: Callable[..., Value]) -> None:
        self._read = read
        self._typed: dict[str, Any] = {}
        self._made: Any = None

    def __call__(self, command: Command) -> Command:
        """Marks a command as one that takes these options."""
        vars(command)[_ATTRIBUTE] = (*vars(command).get(_ATTRIBUTE, ()), self)
        return command

    def value(self) -> Value:
        """The typed options, as ``read`` returns them."""
        found: Value = self._command().callback(**self._typed)
        return found

    def add_to(self, command: Any) -> None:
        """Adds the options to a command, before ``--help``."""
        command.params.extend(self._command().params)

    def _command(self) -> Any:
        if self._made is None:
            self._made = _command_of(self._read)
            for option in self._made.params:
                option.expose_value = False
                option.callback = self._remember
        return self._made

    def _remember(self, _context: Any, option: Any, value: Any) -> Any:
        self._typed[option.name] = value
        return value


def forget_database() -> None:
    """Begins a command line that has named no database yet."""
    _database.clear()


def add_options(command: Any) -> None:
    """Gives a command, and all below it, the options that it is marked with and ``--db``.

    ``--db`` no command declares or passes on; behind a group it stands for its sub-commands, which may name another
    one.
    """
    for options in vars(command.callback).get(_ATTRIBUTE, ()) if command.callback else ():
        options.add_to(command)
    command.params.append(_database_option())
    for child in getattr(command, "commands", {}).values():
        add_options(child)


@cache
def _database_option() -> Any:
    """``--db``, as typer makes it."""

    def only(
        db: Annotated[
            Path | None, typer.Option("--db", expose_value=False, callback=_choose_database, help=_DB_HELP)
        ] = None,
    ) -> None:
        """Does nothing."""

    return next(option for option in _command_of(only).params if "--db" in option.opts)


def _choose_database(value: Path | None) -> None:
    if value is not None:
        _database[:] = [value]


def database_path() -> Path:
    """The file that ``--db`` names, else the default one."""
    from evaluation.store import default_path

    named = next(iter(_database), None)
    return named.expanduser() if named is not None else default_path()


def open_store() -> Store:
    """The store in that file."""
    from evaluation.store import Store

    return Store(database_path())


OutputFormat = Literal["table", "json", "markdown"]
"""Output formats of a command's result."""

ListFormat = Literal["table", "json"]
"""Output formats of a list."""

MetricName = Literal[
    "memory_accuracy",
    "strategic_depth",
    "coherence",
    "role_consistency",
    "personality_diversity",
    "anti_repetition",
    "engagement",
]
"""The rubric's metrics, as they are named in the output."""

TRANSCRIPTS_HELP = "Transcripts: files, zips, game folders, or folders of these"

Port = Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")]
IterationName = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The iteration that the games belong to; created where there is none."),
]
TranscriptReference = Annotated[
    str,
    typer.Argument(
        metavar="TRANSCRIPT",
        help="The id of a stored transcript, its first digits, the game's id or name, or its file.",
    ),
]
OutputFile = Annotated[
    Path | None, typer.Option("--output", "-o", dir_okay=False, help="The file; else standard output.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")]
Rows = Annotated[ListFormat, typer.Option("--format", help="A table to read, or JSON for programs.")]
OfIteration = Annotated[
    str | None, typer.Option("--iteration", metavar="NAME", help="Only the games of this iteration.")
]
Jobs = Annotated[int, typer.Option(min=1, help="How many processes compute at the same time.")]
CorpusOutput = Annotated[
    str | None,
    typer.Option(
        "--output",
        metavar="URL",
        help="The folder or s3:// URL of a corpus of Parquet files: scores and ledgers are written there, for "
        "'dramaturg collect', and nothing goes to the database. Games that are there already are skipped.",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="tcp://HOST:PORT",
        help="Score on the workers of a Dask cluster, by the address of its scheduler; needs --output.",
    ),
]
JudgeMode = Annotated[
    str | None,
    typer.Option(
        metavar="MODE",
        help="live asks a model, recorded plays stored answers, offline asks nothing. "
        "Default: live where there is a key or an address of a model, else offline.",
    ),
]
PropositionFolder = Annotated[
    Path | None,
    typer.Option(
        "--propositions",
        envvar="DRAMATURG_PROPOSITIONS",
        metavar="FOLDER",
        exists=True,
        file_okay=False,
        help="A folder of your own; its files add to the shipped ones and override them by id.",
    ),
]


By = Annotated[str | None, typer.Option(metavar="NAME", help="Your name, for the record. Default: your user name.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation; required in scripts.")]


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


@dataclass(frozen=True)
class JudgeChoice:
    """The model that is asked, with its limits: the options of that name; ``None`` for those that were not given."""

    model: Annotated[str | None, typer.Option("--model", metavar="NAME", help="The model to ask.")] = None
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", help="The address of an OpenAI-compatible server.")
    ] = None
    budget: Annotated[
        float | None,
        typer.Option("--budget", min=0, metavar="USD", help="Stop when the run has cost this much. Default: no limit."),
    ] = None
    max_calls: Annotated[int | None, typer.Option(min=0, metavar="CALLS", help="The most calls that it may make.")] = (
        None
    )
    concurrency: Annotated[
        int | None,
        typer.Option(min=1, max=1_000, help="The most calls at the same time. Default: 10."),
    ] = None
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0.1,
            max=3_600,
            metavar="SECONDS",
            help="How long the server may be silent in a call, in seconds. Default: 60.",
        ),
    ] = None
    max_tokens: Annotated[
        int | None,
        typer.Option(
            min=100,
            max=1_000_000,
            metavar="TOKENS",
            help="The most tokens of an answer, with its reasoning. Default: 1000.",
        ),
    ] = None
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Say how many calls it would make and what they would cost, and stop.")
    ] = False

    @property
    def config(self) -> dict[str, Any]:
        """The same as fields of ``JudgeConfig``."""
        names = {"budget": "max_usd", "timeout": "timeout_seconds"}
        given = {names.get(name, name): value for name, value in asdict(self).items()}
        del given["estimate"]
        return given


judge_options = SharedOptions(JudgeChoice)


def print_config_option(package: str, name: str) -> Any:
    """The option ``--print-config``, which prints the sample configuration ``name`` of ``package`` and exits."""

    def print_sample(wanted: bool) -> None:
        if wanted:
            from importlib.resources import files

            typer.echo((files(package) / name).read_text("utf-8").rstrip())
            raise typer.Exit

    return typer.Option("--print-config", callback=print_sample, is_eager=True, help="Print an example of that file.")


DateOrder = Literal["day-first", "month-first"]
"""The order of day and month in dates of numbers."""

MergedCells = Literal["carry", "leave"]
"""The fate of a row whose cell of the speaker is empty."""


class ReadingChoices(TypedDict):
    """Choices of a person for the files of one command, by the names of the parameters that take them.

    Attributes:
        choose_columns: Asked which column of a table holds what; ``None`` where the names decide.
        answers: What the person says about open questions.
    """

    choose_columns: ChooseColumns | None
    answers: Answers


@SharedOptions
def reading_options(
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="FIELD=COLUMN",
            help="For tables: the column that holds a field, such as speaker=nick or text=body; FIELD= for none. May "
            "be given several times. The other fields follow the columns' names.",
        ),
    ] = None,
    speakers: Annotated[
        list[str] | None,
        typer.Option(
            "--speaker",
            metavar="NAME=KIND",
            help="A name that may not be a player's: player, moderator, or text (of the message above). May be given "
            "several times.",
        ),
    ] = None,
    channels: Annotated[
        list[str] | None,
        typer.Option(
            "--channel",
            metavar="NAME=KIND",
            help="Who hears a channel: public, team, private or system. May be given several times.",
        ),
    ] = None,
    roles: Annotated[
        list[str] | None,
        typer.Option(
            "--role",
            metavar="ROLE=SIDE",
            help="The side of a role that is not known: mafia (the informed minority), town or none. May be given "
            "several times.",
        ),
    ] = None,
    merged_cells: Annotated[
        MergedCells | None,
        typer.Option(help="Whether a row without a speaker is said by the one above, or left out."),
    ] = None,
    dates: Annotated[DateOrder | None, typer.Option(help="How to read dates such as 01/06/2024.")] = None,
    incomplete: Annotated[
        bool,
        typer.Option("--incomplete", help="Accept games that stopped early."),
    ] = False,
    as_read: Annotated[
        bool,
        typer.Option("--as-read", help="Accept what was understood of files that no program known here writes."),
    ] = False,
) -> ReadingChoices:
    """The choices for reading files."""
    from evaluation.readers import OPTIONS, Answers, Topic

    answers = Answers(
        _answered("--speaker", speakers, OPTIONS[Topic.SPEAKER]),
        _answered("--channel", channels, OPTIONS[Topic.CHANNEL]),
        dates,
        incomplete,
        _answered("--role", roles, OPTIONS[Topic.ROLE]),
        None if merged_cells is None else str(merged_cells),
        as_read,
    )
    return ReadingChoices(choose_columns=choose_columns(columns), answers=answers)


def _answered(option: str, pairs: list[str] | None, kinds: Sequence[str]) -> dict[str, str]:
    answered: dict[str, str] = {}
    for pair in pairs or ():
        # A name may hold the sign, a kind does not.
        name, separator, kind = pair.rpartition("=")
        if not separator or not name or kind not in kinds:
            raise typer.BadParameter(
                f"{pair!r} is not of the form NAME=KIND. Kinds are {', '.join(kinds)}.", param_hint=option
            )
        answered[name] = kind
    return answered


def choose_columns(pairs: list[str] | None) -> ChooseColumns | None:
    """The columns that ``pairs`` name, for every table; ``None`` where there are no pairs.

    Raises:
        BadParameter: A pair without ``=``, a field that no message has, or a field twice.
    """
    if not pairs:
        return None
    from evaluation.readers.tables import FIELDS

    chosen: dict[str, str | None] = {}
    for pair in pairs:
        field, separator, column = pair.partition("=")
        wrong = f"The {field} is given twice." if field in chosen else ""
        if not separator or field not in FIELDS:
            wrong = f"{pair!r} is not of the form FIELD=COLUMN. Fields are {', '.join(FIELDS)}."
        if wrong:
            raise typer.BadParameter(wrong, param_hint="--map")
        chosen[field] = column or None

    def choose(columns: tuple[str, ...]) -> ColumnMapping:
        from evaluation.readers import guess_mapping

        free = [column for column in columns if column not in chosen.values()]
        return replace(guess_mapping(free), **chosen)

    return choose
