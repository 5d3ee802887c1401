"""Make a backup of the database every so often, and keep the latest.

``backups.py FOLDER HOURS KEPT``; ``backups.py FOLDER 0 KEPT`` makes one and ends.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

RETRY_HOURS = 0.25
PATTERN = "dramaturg-*.duckdb"
SMALLEST = 3 * 4096
"""The bytes of DuckDB's header."""


def back_up(folder: Path, kept: int) -> bool:
    """Makes a backup and removes all but the latest ``kept``; ``False`` when there is none, and then removes none."""
    target = folder / f"dramaturg-{datetime.now(UTC):%Y%m%dT%H%M%S.%f}.duckdb"
    program = Path(sys.executable).with_name("dramaturg")
    if subprocess.run([program, "backup", str(target)], check=False).returncode:
        return False
    prune(folder, target, kept)
    return target.is_file()


def prune(folder: Path, made: Path, kept: int) -> None:
    """Removes the oldest backups but ``kept``; never ``made``, and none whose time lies after that of ``made``.

    Links, files that are no databases and further names of one file count for nothing, and stay.
    A file's age is its own, whatever its name says: a name may come from a clock that was wrong.
    """
    own = {made.stat().st_ino: made}
    for path in folder.glob(PATTERN):
        if _is_database(path):
            own.setdefault(path.stat().st_ino, path)
    ages = {path: path.stat().st_mtime for path in own.values() if path != made}
    now = made.stat().st_mtime
    for path in sorted(path for path in ages if ages[path] > now):
        sys.stderr.write(f"kept, as its time lies in the future: {path}\n")
    earlier = sorted((path for path in ages if ages[path] <= now), key=lambda path: ages[path], reverse=True)
    for old in earlier[kept - 1 :]:
        old.unlink()


def _is_database(path: Path) -> bool:
    if path.is_symlink() or not path.is_file() or path.stat().st_size < SMALLEST:
        return False
    with path.open("rb") as stream:
        return stream.read(12)[8:] == b"DUCK"


def main(arguments: Sequence[str]) -> int:
    """Backs up until interrupted; a backup that failed is tried again after a quarter of an hour."""
    folder, hours, kept = Path(arguments[0]), float(arguments[1]), max(1, int(arguments[2]))
    pause = threading.Event()
    while True:
        done = back_up(folder, kept)
        if not hours:
            return 0 if done else 3
        pause.wait(3600 * (hours if done else min(hours, RETRY_HOURS)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
