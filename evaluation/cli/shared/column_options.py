"""The option for reading tables: columns by name (``--map``)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from evaluation.readers import ChooseColumns, ColumnMapping

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
