"""The store: one DuckDB file, usable by the dashboard and the command line at the same time.

The names below are imported on first use, so that code which only looks up judgements does not load the rest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluation.store._deletions_and_undo import Deletion, DeletionKind
    from evaluation.store._jobs import Job, JobState
    from evaluation.store.database import Store, default_path
    from evaluation.store.transcripts import Added

_HOMES = {
    "Added": "evaluation.store.transcripts",
    "Deletion": "evaluation.store._deletions_and_undo",
    "DeletionKind": "evaluation.store._deletions_and_undo",
    "Job": "evaluation.store._jobs",
    "JobState": "evaluation.store._jobs",
    "Store": "evaluation.store.database",
    "default_path": "evaluation.store.database",
}

__all__ = ["Added", "Deletion", "DeletionKind", "Job", "JobState", "Store", "default_path"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
