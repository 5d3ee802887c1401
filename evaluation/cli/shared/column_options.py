"""Options for reading: columns of tables by name (``--map``), agents' names (``--rename``), ``--without-tools``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from evaluation.readers import ChooseColumns, ColumnMapping
    from evaluation.readers.edits import TranscriptEdits

ColumnPairs = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="FIELD=COLUMN",
        show_default=False,
        help="For tables: the column that holds a field, such as speaker=nick or text=body; FIELD= for none. May be "
        "given several times. The other fields follow the columns' names.",
    ),
]


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
    from evaluation.readers.tables.columns import FIELDS

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


WithoutTools = Annotated[
    bool, typer.Option("--without-tools", help="Leave out what tools were asked and answered, in traces and chats.")
]
Renames = Annotated[
    list[str] | None,
    typer.Option(
        "--rename",
        metavar="OLD=NEW",
        show_default=False,
        help="Another name for an agent, wherever it speaks, hears, votes or wins; words in messages stay, and the old "
        "name stays in the game's metadata under 'renamed'. May be given several times.",
    ),
]


def transcript_edits(without_tools: bool, renames: list[str] | None) -> TranscriptEdits:
    """The edits that these options ask for.

    Raises:
        BadParameter: A pair without ``=`` or without a name, a name that is not UTF-8, or an old name twice.
    """
    from evaluation.errors import InputError
    from evaluation.readers.edits import TranscriptEdits, parse_renames

    try:
        return TranscriptEdits(without_tools, parse_renames(renames or ()))
    except InputError as error:
        raise typer.BadParameter(str(error), param_hint="--rename") from None
