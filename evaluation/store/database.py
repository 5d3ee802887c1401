"""The store: one DuckDB file with everything that Dramaturg keeps."""

from __future__ import annotations

import os
from pathlib import Path

from evaluation.resources import checkout_root
from evaluation.store.agents import Agents
from evaluation.store.backup import Backups
from evaluation.store.checks import require_storable
from evaluation.store.corrections import Corrections
from evaluation.store.decisions import Decisions
from evaluation.store.deletions import Deletions
from evaluation.store.drafts import Drafts
from evaluation.store.evaluations import Evaluations
from evaluation.store.file import DatabaseFile, shared_file
from evaluation.store.imports import Imports
from evaluation.store.iterations import Iterations
from evaluation.store.jobs import Jobs
from evaluation.store.judgements import Judgements
from evaluation.store.llm_calls import LLMCalls
from evaluation.store.messages import Messages
from evaluation.store.migrations import migrate
from evaluation.store.overrides import Overrides
from evaluation.store.ratings import Ratings
from evaluation.store.results import Results
from evaluation.store.settings import Settings
from evaluation.store.spool import Spool
from evaluation.store.transcripts import Transcripts
from evaluation.store.units import Units

FILE_NAME = "dramaturg.duckdb"
IN_MEMORY = ":memory:"


class Store(Units):
    """Everything that is stored, by what it is about.

    Any number of threads may use one store, and any number of processes the same file: it is open only while units of
    work run and for a moment after. The file and its folder are made, and its tables brought up to date, by the first
    unit of work.

    Args:
        path: The file; ``":memory:"`` keeps everything in memory, until ``close``.
        wait_seconds: How long a unit of work waits while another process holds the file.

    Raises:
        InputError: The path is not valid UTF-8.
    """

    def __init__(self, path: Path | str, *, wait_seconds: float = 10.0) -> None:
        super().__init__(_file(path), wait_seconds)
        self.transcripts = Transcripts(self)
        self.messages = Messages(self)
        self.ratings = Ratings(self)
        self.drafts = Drafts(self)
        self.overrides = Overrides(self)
        self.settings = Settings(self)
        self.decisions = Decisions(self)
        self.results = Results(self, self.ratings, self.overrides, self.decisions, self.settings)
        self.iterations = Iterations(self)
        self.deletions = Deletions(self)
        self.jobs = Jobs(self)
        self.llm_calls = LLMCalls(self)
        self.judgements = Judgements(self, self.llm_calls)
        self.spool = Spool(self)
        self.imports = Imports(self)
        self.backups = Backups(self, self._file, self.jobs, wait_seconds)
        self.corrections = Corrections(self)
        self.agents = Agents(self)
        self.evaluations = Evaluations(self)

    @property
    def place(self) -> str:
        """The path as shown to people."""
        return self._file.place

    def close(self) -> None:
        """Lets go of the file now instead of a moment later; the next unit of work opens it again."""
        self._file.close()


def _file(path: Path | str) -> DatabaseFile:
    if str(path) == IN_MEMORY:
        return DatabaseFile(None, migrate)
    require_storable(path=str(path))
    # Two spellings of one file must not become two: the lock on it belongs to the whole process.
    return shared_file(Path(path).expanduser().resolve(), migrate)


def default_path() -> Path:
    """Where the database lies unless the person says otherwise.

    ``DRAMATURG_DB`` where set, else ``data/dramaturg.duckdb`` in a checkout, else the user's data folder.
    """
    if chosen := os.environ.get("DRAMATURG_DB"):
        return Path(chosen).expanduser()
    if root := checkout_root():
        return root / "data" / FILE_NAME
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "dramaturg" / FILE_NAME
