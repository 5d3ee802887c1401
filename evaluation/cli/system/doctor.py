"""``dramaturg doctor``: check that everything that Dramaturg needs is here."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import typer

from evaluation.cli.shared.exit_codes import INFRASTRUCTURE
from evaluation.cli.shared.options import database_path
from evaluation.cli.shared.terminal import note, say, table
from evaluation.errors import DramaturgError

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

    if not os.path.lexists(database):
        return f"{database} does not exist yet; the first import makes it"
    store = Store(database)
    with store.unit():
        transcripts = len(store.transcripts.ids())
        iterations = len(store.iterations.list())
    return f"{database}: {transcripts} transcripts in {iterations} iterations"


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
