"""``dramaturg backup``, ``restore``, ``settings`` and ``doctor``: the database and the installation."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.cli.exit_codes import INFRASTRUCTURE
from evaluation.cli.options import ListFormat, Rows, database_path, open_store
from evaluation.cli.terminal import note, safe, say, say_list, table
from evaluation.errors import DramaturgError

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
    with_addresses: Annotated[
        bool,
        typer.Option(
            "--with-addresses",
            help="Also restore addresses of servers and files; your keys will be sent there, so run --check first.",
        ),
    ] = False,
) -> None:
    """Replace the database with a backup; the replaced file is kept beside it under another name."""
    from evaluation.store.backup import check_backup

    info = check_backup(path.expanduser())
    if check_only:
        say(f"{path} can be restored: {info.words}, schema {info.schema}.")
        _say_lines("It names addresses in settings, which are restored only with --with-addresses:", info.address_lines)
        _say_lines(_NOT_RESTORED, info.unreadable_lines)
        return
    store = open_store()
    kept = store.backups.restore(path.expanduser(), with_addresses=with_addresses)
    say(f"{store.place} now holds {info.words}.")
    if kept is not None:
        say(f"The database of before is {kept}.")
    if with_addresses:
        _say_lines("Addresses in settings are restored, too:", info.address_lines)
    else:
        _say_lines(
            "Settings that name these addresses are not restored; --with-addresses would do that:", info.address_lines
        )
    _say_lines(_NOT_RESTORED, info.unreadable_lines)


_NOT_RESTORED = "Not restored, as it cannot be used:"


def _say_lines(heading: str, lines: list[str]) -> None:
    if lines:
        say(heading)
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
    output: Rows = ListFormat.TABLE,
) -> None:
    """Show thresholds, the size of a test, the limits of imports and judge.imports (on or off: a model reads every game
    that is imported) beside their defaults, or change them."""
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
            name, separator, value = change.partition("=")
            if not separator:
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


_OLDEST_PYTHON = (3, 11)
# The shell draws the same without what a person's window has, for two thirds of the processor's time.
_BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_REQUIREMENT_NAME_ENDS = "<>=!~;[ ("


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """One thing that was looked at. ``is_needed`` is false for what only tests use."""

    what: str
    is_fine: bool
    words: str
    is_needed: bool = True


def doctor() -> None:
    """Check the installation, the database and the samples; exit with 3 when something needed is broken."""
    findings = list(examine(database_path()))
    say(table(("Check", "State", "Found"), [(each.what, _state(each), each.words) for each in findings]))
    if any(each.is_needed and not each.is_fine for each in findings):
        note("Something that Dramaturg needs is broken; see above.")
        raise typer.Exit(INFRASTRUCTURE)


def _state(finding: DoctorCheck) -> str:
    if finding.is_fine:
        return "ok"
    return "broken" if finding.is_needed else "not found"


def examine(database: Path) -> Iterator[DoctorCheck]:
    """Run all checks, one after the other."""
    yield _python()
    yield _packages()
    yield _folder(database)
    yield _checked("Database", lambda: _database(database))
    yield _checked("Samples", _samples)
    yield _browser()


def _python() -> DoctorCheck:
    version = ".".join(map(str, sys.version_info[:3]))
    return DoctorCheck("Python", sys.version_info >= _OLDEST_PYTHON, f"{version} at {sys.executable}")


def _packages() -> DoctorCheck:
    from importlib import metadata

    try:
        requirements = metadata.requires("dramaturg") or []
    except metadata.PackageNotFoundError:
        return DoctorCheck("Packages", False, "Dramaturg itself is not installed here: pip install .")
    needed = sorted({_name(line) for line in requirements if "extra ==" not in line})
    missing = [name for name in needed if not _version(name)]
    if missing:
        return DoctorCheck("Packages", False, f"missing: {', '.join(missing)}. Install Dramaturg again.")
    return DoctorCheck("Packages", True, f"{len(needed)} present, Dramaturg {metadata.version('dramaturg')}")


def _name(requirement: str) -> str:
    ends = [place for sign in _REQUIREMENT_NAME_ENDS if (place := requirement.find(sign)) >= 0]
    return requirement[: min(ends, default=len(requirement))]


def _version(package: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _folder(database: Path) -> DoctorCheck:
    # The folder is made when the first thing is stored, so the nearest one that exists decides.
    folder = next(parent for parent in database.absolute().parents if parent.exists())
    usable = folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
    return DoctorCheck("Database folder", usable, str(database.parent) if usable else f"{folder} cannot be written to")


def _checked(what: str, check: Callable[[], str]) -> DoctorCheck:
    try:
        return DoctorCheck(what, True, check())
    except DramaturgError as error:
        return DoctorCheck(what, False, str(error))


def _database(database: Path) -> str:
    from evaluation.store import Store
    from evaluation.store.transcripts import simulated
    from evaluation.text.display import counted

    if not os.path.lexists(database):
        return f"{database} does not exist yet; the first import makes it"
    store = Store(database)
    with store.unit():
        summaries = store.transcripts.summaries()
        iterations = len(store.iterations.list())
    apart = int(simulated(summaries).sum())
    beside = f", and {counted(apart, 'simulated conversation')} apart" if apart else ""
    return f"{database}: {len(summaries) - apart} transcripts in {iterations} iterations{beside}"


def _samples() -> str:
    from evaluation.workflows.samples import load_manifest

    manifest = load_manifest()
    games = len(manifest.games) + sum(len(one.games) for one in manifest.iterations)
    return f"{games} games, {len(manifest.iterations)} iterations"


def chromium() -> str | None:
    """The path of the Chromium that tests and benchmarks of the dashboard drive; CHROMIUM in the environment names it.

    None when there is none on this machine.
    """
    return os.environ.get("CHROMIUM") or next((path for name in _BROWSERS if (path := shutil.which(name))), None)


def _browser() -> DoctorCheck:
    found = chromium()
    return DoctorCheck("Chromium", found is not None, found or "needed only for the browser tests", is_needed=False)
