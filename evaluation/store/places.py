"""Which file lies at a database's place: whether it is still the one that was opened, and what a restore put aside."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from evaluation.errors import StoreMovedError

Identity = tuple[int, int]
"""Device and number of a file: the same under all of its names, another one for a copy."""

_KEPT = "-before-restore-"


def identity_of(path: Path) -> Identity | None:
    """Which file is there now; ``None`` when there is none that could be looked at."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def moved(path: Path) -> StoreMovedError:
    """Says what became of a database that was opened at ``path``, and what to do about it."""
    if identity_of(path) is None:
        return StoreMovedError(
            "The database file was moved or deleted while it was in use; nothing was stored.",
            place=str(path),
            remedy="Put it back, or restore a backup; to begin with an empty database, restart Dramaturg.",
        )
    return StoreMovedError(
        "Another file lies where the database was while it was in use; nothing was stored.",
        place=str(path),
        remedy="Put the database back, or restart Dramaturg to use the file that lies there now.",
    )


def name_for_kept(place: Path) -> Path:
    """A name beside the database that nothing has yet: ``dramaturg-before-restore-20260131-120000.duckdb``."""
    base = f"{place.stem}{_KEPT}{datetime.now(UTC):%Y%m%d-%H%M%S}"
    names = [base, *(f"{base}-{number}" for number in range(2, 1000))]
    return next(kept for name in names if not (kept := place.with_name(name + place.suffix)).exists())


def is_kept_beside(place: Path, identity: Identity) -> bool:
    """Whether a restore at ``place`` has kept that file under another name."""
    try:
        beside = [path for path in place.parent.iterdir() if path.name.startswith(f"{place.stem}{_KEPT}")]
    except OSError:
        return False
    return any(identity_of(path) == identity for path in beside)
