"""The store: one DuckDB file, usable by the dashboard and the command line at the same time."""

from evaluation.store._deletions_and_undo import Deletion, DeletionKind
from evaluation.store._jobs import Job, JobState
from evaluation.store.database import Store, default_path
from evaluation.store.transcripts import Added

__all__ = ["Added", "Deletion", "DeletionKind", "Job", "JobState", "Store", "default_path"]
