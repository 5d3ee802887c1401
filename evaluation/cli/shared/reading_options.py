"""The options for reading files: columns of tables by name, and answers to what files leave open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.cli.shared.shared_options import SharedOptions

if TYPE_CHECKING:
    from evaluation.readers import Answers, ChooseColumns, ColumnMapping


class DateOrder(StrEnum):
    """The order of day and month in dates of numbers."""

    DAY_FIRST = "day-first"
    MONTH_FIRST = "month-first"


@dataclass(frozen=True, slots=True)
class ReadingChoices:
    """Choices of a person for the files of one command.

    Attributes:
        columns: Asked which column of a table holds what; ``None`` where the names decide.
        answers: What the person says about open questions.
    """

    columns: ChooseColumns | None
    answers: Answers


@SharedOptions
def reading_options(
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="FIELD=COLUMN",
            show_default=False,
            help="For tables: the column that holds a field, such as speaker=nick or text=body; FIELD= for none. May "
            "be given several times. The other fields follow the columns' names.",
        ),
    ] = None,
    speakers: Annotated[
        list[str] | None,
        typer.Option(
            "--speaker",
            metavar="NAME=KIND",
            show_default=False,
            help="A name that may not be a player's: player, moderator, or text (of the message above). May be given "
            "several times.",
        ),
    ] = None,
    channels: Annotated[
        list[str] | None,
        typer.Option(
            "--channel",
            metavar="NAME=KIND",
            show_default=False,
            help="Who hears a channel: public, team, private or system. May be given several times.",
        ),
    ] = None,
    dates: Annotated[
        DateOrder | None,
        typer.Option(show_default=False, help="How to read dates such as 01/06/2024."),
    ] = None,
    broken_off: Annotated[
        bool, typer.Option("--broken-off", help="Take runs that ended by an error or a limit as they are.")
    ] = False,
) -> ReadingChoices:
    """The choices for reading files."""
    from evaluation.readers import OPTIONS, Answers, Topic

    answers = Answers(
        _answered("--speaker", speakers, OPTIONS[Topic.SPEAKER]),
        _answered("--channel", channels, OPTIONS[Topic.CHANNEL]),
        None if dates is None else str(dates),
        broken_off,
    )
    return ReadingChoices(choose_columns(columns), answers)


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
    chosen = _parsed(pairs)

    def choose(columns: tuple[str, ...]) -> ColumnMapping:
        from evaluation.readers import guess_mapping

        free = [column for column in columns if column not in chosen.values()]
        return replace(guess_mapping(free), **chosen)

    return choose


def _parsed(pairs: list[str]) -> dict[str, str | None]:
    from evaluation.readers.tables import FIELDS

    chosen: dict[str, str | None] = {}
    for pair in pairs:
        field, separator, column = pair.partition("=")
        if not separator or field not in FIELDS:
            raise _refused(f"{pair!r} is not of the form FIELD=COLUMN. Fields are {', '.join(FIELDS)}.")
        if field in chosen:
            raise _refused(f"The {field} is given twice.")
        chosen[field] = column or None
    return chosen


def _refused(message: str) -> typer.BadParameter:
    return typer.BadParameter(message, param_hint="--map")
