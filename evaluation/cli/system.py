"""``dramaturg backup``, ``restore`` and ``settings``: the database."""

from __future__ import annotations

from dataclasses import asdict
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evaluation.cli.options import Rows, open_store
from evaluation.cli.terminal import Columns, say, say_list
from evaluation.escaping import safe

if TYPE_CHECKING:
    from evaluation.store import Store
    from evaluation.store.settings import Settings


def backup(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; it must not exist yet.")],
) -> None:
    """Copy the whole database to a file, in one consistent state; the dashboard may keep running."""
    info = open_store().backups.write(path.expanduser())
    say(f"{path} holds {info.words}.")


def restore(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A backup.")],
    check_only: Annotated[
        bool, typer.Option("--check", help="Only say what the backup holds, and whether it can be used.")
    ] = False,
) -> None:
    """Replace the database with a backup; the replaced file is kept beside it under another name."""
    from evaluation.store.backup import check_backup

    info = check_backup(path.expanduser())
    if check_only:
        say(f"{path} can be restored: {info.words}, schema {info.schema}.")
        _say_left_out(info.left_out_lines)
        return
    store = open_store()
    kept = store.backups.restore(path.expanduser())
    say(f"{store.place} now holds {info.words}.")
    if kept is not None:
        say(f"The database of before is {kept}.")
    _say_left_out(info.left_out_lines)


def _say_left_out(lines: list[str]) -> None:
    if lines:
        say("Not restored:")
    for line in lines:
        say(f"  {safe(line)}")


_THRESHOLD = "threshold."
_LIMIT = "limit."
_TEST_SIZE = "test_size"
_JUDGE_IMPORTS = "judge.imports"
_SWITCH = {"on": True, "off": False, "": False}


def settings(
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Change a setting, such as threshold.engagement=3.5; NAME= returns to the default. May be given "
            "several times: all of them are changed, or none.",
        ),
    ] = None,
    output: Rows = "table",
) -> None:
    """Show thresholds, the size of a test, the limits of imports and judge.imports (on or off: a model reads every game
    that is imported) beside their defaults, or change them."""
    store = open_store()
    if changes:
        _change(store, changes)
    rows = _rows(store)
    columns: Columns[dict[str, Any]] = {
        "Setting": itemgetter("name"),
        "Value": lambda row: _figure(row["value"]),
        "Default": lambda row: _figure(row["default"]),
    }
    records = [dict(zip(("name", "value", "default"), row, strict=True)) for row in rows]
    say_list(records, columns, is_json=output == "json")


def _figure(value: float | str) -> str:
    """The value as text, whole numbers without exponent: 20,971,520 bytes rather than 2.09715e+07."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:,.0f}" if value == int(value) else f"{value:,g}"


def _rows(store: Store) -> list[tuple[str, float | str, float | str]]:
    from evaluation.readers import Limits
    from evaluation.rubric.definitions import DEFAULT_THRESHOLDS
    from evaluation.store.settings import DEFAULT_TEST_SIZE

    with store.unit():
        thresholds, limits = store.settings.thresholds(), asdict(store.settings.limits())
        size, reads = store.settings.test_size(), store.settings.judges_imports()
    defaults = asdict(Limits())
    return [
        *((_THRESHOLD + name, value, DEFAULT_THRESHOLDS[name]) for name, value in thresholds.items()),
        (_TEST_SIZE, size, DEFAULT_TEST_SIZE),
        *((_LIMIT + name, value, defaults[name]) for name, value in limits.items()),
        (_JUDGE_IMPORTS, reads, False),
    ]


def _change(store: Store, changes: list[str]) -> None:
    with store.unit(write=True):
        for change in changes:
            name, is_pair, value = change.partition("=")
            if not is_pair:
                raise _refused(f"{change!r} is not of the form NAME=VALUE.")
            _set(store.settings, name, value)


def _set(held: Settings, name: str, value: str) -> None:
    from evaluation.store.settings import DEFAULT_TEST_SIZE

    if name.startswith(_THRESHOLD):
        held.set_threshold(name.removeprefix(_THRESHOLD), _number(name, value) if value else None)
    elif name.startswith(_LIMIT):
        held.set_limits({name.removeprefix(_LIMIT): _whole(name, value) if value else None})
    elif name == _TEST_SIZE:
        held.set_test_size(_whole(name, value) if value else DEFAULT_TEST_SIZE)
    elif name == _JUDGE_IMPORTS:
        if value not in _SWITCH:
            raise _refused(f"{value!r} is neither on nor off.")
        held.set_judges_imports(_SWITCH[value])
    else:
        raise _refused(f"{name!r} is not a setting; dramaturg settings lists them.")


def _number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise _refused(f"{value!r} is not a number for {name}.") from None


def _whole(name: str, value: str) -> int:
    number = _number(name, value)
    if not number.is_integer():
        raise _refused(f"{value!r} is not a whole number for {name}.")
    return int(number)


def _refused(message: str) -> typer.BadParameter:
    return typer.BadParameter(message, param_hint="--set")
