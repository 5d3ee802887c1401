"""The store: one DuckDB file with everything that Dramaturg keeps."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.errors import NewerSchemaError, StoreError
from evaluation.files.bundled import checkout_root
from evaluation.store._bulk_rows import require_storable
from evaluation.store._database_file import DatabaseFile, shared_file
from evaluation.store._files import resolved
from evaluation.store.transactions import Units

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from evaluation.store._agents import Agents
    from evaluation.store._corrections import Corrections
    from evaluation.store._decisions import Decisions, Overrides
    from evaluation.store._deletions_and_undo import Deletions
    from evaluation.store._evaluations import Evaluations, Insights
    from evaluation.store._experiments import Experiments
    from evaluation.store._imports import ImportQueue, Imports
    from evaluation.store._iterations import Iterations
    from evaluation.store._jobs import Jobs
    from evaluation.store._ratings import Drafts, EngagementDecisions, Ratings
    from evaluation.store._results import Controls, LedgerReading, Results
    from evaluation.store.backup import Backups
    from evaluation.store.llm_calls import Generations, Judgements, LLMCalls
    from evaluation.store.rating_desk import BlindGames, Discards, RatingAssignments, RatingQueue, StyleAnswers
    from evaluation.store.settings import Settings
    from evaluation.store.transcripts import MessageSearch, Transcripts


SCHEMA = 43
"""The number of the schema. Those before it were never released, so nothing of theirs is read."""

_FILE = Path(__file__).with_name("schema.sql")
_NAMES = """
SELECT table_name FROM duckdb_tables() WHERE NOT internal
UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal
"""
_EXPORTS = (
    "Export its games and ratings with the version that wrote it and import both here, with "
    "dramaturg export transcripts --format canonical -o games.zip and dramaturg export ratings -o ratings.csv."
)


def make_tables(connection: DuckDBPyConnection) -> None:
    """Makes the tables of an empty database; one that has them is left alone.

    Raises:
        NewerSchemaError: It has a newer schema than this version of Dramaturg knows.
        StoreError: It has an older one, or is somebody else's.
    """
    if found := applied(connection):
        require_known(found)
        return
    connection.begin()
    with ExitStack() as failed:
        failed.callback(connection.rollback)
        connection.execute(_FILE.read_text("utf-8"))
        connection.execute("INSERT INTO schema_migrations (number, name) VALUES (?, 'schema.sql')", [SCHEMA])
        failed.pop_all()
    connection.commit()


def applied(connection: DuckDBPyConnection) -> int:
    """The number of the database's schema; 0 for an empty one.

    Raises:
        StoreError: It is somebody else's: nothing of ours is in it, but other tables or views are. DuckDB shows CSV and
            JSON files as views of a database in memory, in which everything stored would be lost.
    """
    names = {name for (name,) in connection.execute(_NAMES).fetchall()}
    if names and "schema_migrations" not in names:
        raise StoreError(
            "The file is not a database of Dramaturg; nothing was written to it.",
            remedy="Use --db to choose another file; transcripts go in with: dramaturg import.",
        )
    if not names:
        return 0
    # All rows: while a result is open, so is its transaction, and DuckDB works no log of a delete into the file.
    [(number,)] = connection.execute("SELECT coalesce(max(number), 0) FROM schema_migrations").fetchall()
    return int(number)


def require_known(number: int) -> None:
    """Refuses the number of a schema that this version cannot read.

    Raises:
        NewerSchemaError: It is newer.
        StoreError: It is older.
    """
    if number > SCHEMA:
        raise NewerSchemaError(
            f"The database has schema {number}; this version of Dramaturg knows {SCHEMA}.",
            remedy="Update Dramaturg, or choose another database with --db.",
        )
    if number < SCHEMA:
        raise StoreError(
            f"The database has schema {number}, of a version before the first release, which is not read.",
            remedy=_EXPORTS,
        )


FILE_NAME = "dramaturg.duckdb"
IN_MEMORY = ":memory:"


class _Part:
    """A part of a store, of the class that its annotation names, imported and made on first use.

    Args:
        module: Where the class is.
        is_for_everybody: Whether the part passes the guard by.
    """

    def __init__(self, module: str, is_for_everybody: bool) -> None:
        self._module = module
        self._is_for_everybody = is_for_everybody

    def __set_name__(self, owner: type[Store], name: str) -> None:
        self._name = name
        self._class = owner.__annotations__[name]

    def __get__(self, store: Store | None, owner: type[Store]) -> Any:
        if store is None:
            return self
        units = store.unguarded() if self._is_for_everybody else store
        part = getattr(import_module(self._module), self._class)(units)
        # Found before this descriptor from now on, by all threads the same.
        return store.__dict__.setdefault(self._name, part)


def _part(module: str, *, is_for_everybody: bool = False) -> Any:
    return _Part(module, is_for_everybody)


class Store(Units):
    """The database by topic; each part is imported on first use, as no command needs all.

    Any number of threads may use one store, and any number of processes the same file: it is open only while units of
    work run and for a moment after. The file and its folder are made, and its tables brought up to date, by the first
    unit of work.

    Args:
        path: The file; ``":memory:"`` keeps everything in memory, until ``close``.
        wait_seconds: How long a unit of work waits while another process holds the file.
        guard: Called before a thread begins to write; what it raises stops the writing. Ratings, drafts and the like
            pass it by, as everybody who is let in may write them.

    Raises:
        InputError: The path is not valid UTF-8.
    """

    transcripts: Transcripts = _part("evaluation.store.transcripts")
    messages: MessageSearch = _part("evaluation.store.transcripts")
    ratings: Ratings = _part("evaluation.store._ratings", is_for_everybody=True)
    rating_queue: RatingQueue = _part("evaluation.store.rating_desk", is_for_everybody=True)
    drafts: Drafts = _part("evaluation.store._ratings", is_for_everybody=True)
    discards: Discards = _part("evaluation.store.rating_desk", is_for_everybody=True)
    blind: BlindGames = _part("evaluation.store.rating_desk", is_for_everybody=True)
    style_answers: StyleAnswers = _part("evaluation.store.rating_desk", is_for_everybody=True)
    rating_assignments: RatingAssignments = _part("evaluation.store.rating_desk")
    engagement_decisions: EngagementDecisions = _part("evaluation.store._ratings")
    overrides: Overrides = _part("evaluation.store._decisions")
    settings: Settings = _part("evaluation.store.settings")
    decisions: Decisions = _part("evaluation.store._decisions")
    results: Results = _part("evaluation.store._results")
    ledger: LedgerReading = _part("evaluation.store._results")
    controls: Controls = _part("evaluation.store._results")
    insights: Insights = _part("evaluation.store._evaluations")
    iterations: Iterations = _part("evaluation.store._iterations")
    deletions: Deletions = _part("evaluation.store._deletions_and_undo")
    jobs: Jobs = _part("evaluation.store._jobs")
    llm_calls: LLMCalls = _part("evaluation.store.llm_calls")
    experiments: Experiments = _part("evaluation.store._experiments")
    import_queue: ImportQueue = _part("evaluation.store._imports")
    imports: Imports = _part("evaluation.store._imports")
    corrections: Corrections = _part("evaluation.store._corrections")
    agents: Agents = _part("evaluation.store._agents")
    evaluations: Evaluations = _part("evaluation.store._evaluations")
    judgements: Judgements = _part("evaluation.store.llm_calls")
    generations: Generations = _part("evaluation.store.llm_calls")
    backups: Backups = _part("evaluation.store.backup")

    def __init__(
        self,
        path: Path | str,
        *,
        wait_seconds: float = 10.0,
        guard: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(_file(path), wait_seconds, guard=guard)

    def unguarded(self) -> Store:
        """The same store without the guard: for work that somebody who was allowed to has begun."""
        free = Store.__new__(Store)
        Units.__init__(free, self._file, self._wait_seconds)
        return free

    @property
    def place(self) -> str:
        """The path as shown to people."""
        return self._file.place

    @property
    def path(self) -> Path | None:
        """The file, resolved; ``None`` for a database in memory."""
        return self._file.path

    def close(self) -> None:
        """Lets go of the file now instead of a moment later; the next unit of work opens it again."""
        self._file.close()


def _file(path: Path | str) -> DatabaseFile:
    if str(path) == IN_MEMORY:
        return DatabaseFile(None, make_tables)
    require_storable(path=str(path))
    # Two spellings of one file must not become two: the lock on it belongs to the whole process.
    return shared_file(resolved(Path(path)), make_tables)


def default_path() -> Path:
    """The path of the database unless the person chooses another.

    ``DRAMATURG_DB`` where set, else ``data/dramaturg.duckdb`` in a checkout, else the user's data folder.
    """
    if chosen := os.environ.get("DRAMATURG_DB"):
        return Path(chosen).expanduser()
    if root := checkout_root():
        return root / "data" / FILE_NAME
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "dramaturg" / FILE_NAME
