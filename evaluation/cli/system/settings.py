"""``dramaturg settings``: thresholds, the size of a test, limits of imports, and who reads them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.cli.shared.options import ListFormat, Rows, open_store
from evaluation.cli.shared.terminal import say_list

if TYPE_CHECKING:
    from evaluation.store import Store
    from evaluation.store.settings import Settings

_THRESHOLD = "threshold."
_LIMIT = "limit."
_TEST_SIZE = "test_size"
_JUDGE_IMPORTS = "judge.imports"
_READER, _BUILT_IN = "reader", "built in"
_SWITCH = {"on": True, "off": False, "": False}


def settings(
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            show_default=False,
            help="Change a setting, such as threshold.engagement=3.5; NAME= returns to the default. May be given "
            "several times: all of them are changed, or none.",
        ),
    ] = None,
    output: Rows = ListFormat.TABLE,
) -> None:
    """Show thresholds, the size of a test, the limits of imports, judge.imports (on or off: a model reads every game
    that is imported) and reader (one that 'labels train' stored) beside their defaults, or change them."""
    store = open_store()
    if changes:
        _change(store, changes)
    rows = _rows(store)
    records = [{"name": name, "value": value, "default": default} for name, value, default in rows]
    cells = [(name, _figure(value), _figure(default)) for name, value, default in rows]
    say_list(records, ("Setting", "Value", "Default"), cells, "", is_json=output is ListFormat.JSON)


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
        reader = store.readers.chosen_name() or _BUILT_IN
    defaults = asdict(Limits())
    return [
        *((_THRESHOLD + name, value, DEFAULT_THRESHOLDS[name]) for name, value in thresholds.items()),
        (_TEST_SIZE, size, DEFAULT_TEST_SIZE),
        *((_LIMIT + name, value, defaults[name]) for name, value in limits.items()),
        (_JUDGE_IMPORTS, reads, False),
        (_READER, reader, _BUILT_IN),
    ]


def _change(store: Store, changes: list[str]) -> None:
    with store.unit(write=True):
        for change in changes:
            name, separator, value = change.partition("=")
            if not separator:
                raise _refused(f"{change!r} is not of the form NAME=VALUE.")
            if name == _READER:
                store.readers.choose(None if value in ("", _BUILT_IN) else value)
            else:
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
