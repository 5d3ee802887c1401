"""The store: one DuckDB file with everything that Dramaturg keeps."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.files.bundled import checkout_root
from evaluation.store.engine.database_file import DatabaseFile, shared_file
from evaluation.store.engine.file_identity import resolved
from evaluation.store.engine.text_checks import require_storable
from evaluation.store.engine.transactions import Units
from evaluation.store.migrations import migrate

if TYPE_CHECKING:
    from evaluation.store._jobs import Jobs
    from evaluation.store.agents.agents import Agents
    from evaluation.store.agents.corrections import Corrections
    from evaluation.store.agents.evaluations import Evaluations
    from evaluation.store.agents.experiments import Experiments
    from evaluation.store.backup.backup import Backups
    from evaluation.store.games.blind_games import BlindGames
    from evaluation.store.games.deletions_and_undo import Deletions
    from evaluation.store.games.import_queue import Spool
    from evaluation.store.games.import_reports import Imports
    from evaluation.store.games.iterations import Iterations
    from evaluation.store.games.message_search import MessageSearch
    from evaluation.store.games.transcripts import Transcripts
    from evaluation.store.model_calls.generations import Generations
    from evaluation.store.model_calls.judgement_cache import Judgements
    from evaluation.store.model_calls.llm_calls import LLMCalls
    from evaluation.store.ratings.discards import Discards
    from evaluation.store.ratings.drafts import Drafts
    from evaluation.store.ratings.practice import Practice
    from evaluation.store.ratings.rating_queue import RatingQueue
    from evaluation.store.ratings.ratings import Ratings
    from evaluation.store.ratings.style_answers import StyleAnswers
    from evaluation.store.results.controls import Controls
    from evaluation.store.results.judge_decisions import Decisions
    from evaluation.store.results.overrides import Overrides
    from evaluation.store.results.results import Results
    from evaluation.store.settings import Settings

FILE_NAME = "dramaturg.duckdb"
IN_MEMORY = ":memory:"


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

    def __init__(
        self, path: Path | str, *, wait_seconds: float = 10.0, guard: Callable[[], None] | None = None
    ) -> None:
        super().__init__(_file(path), wait_seconds, guard=guard)

    def unguarded(self) -> Store:
        """The same store without the guard: for work that somebody who was allowed to has begun."""
        free = Store.__new__(Store)
        Units.__init__(free, self._file, self._wait_seconds)
        return free

    @cached_property
    def transcripts(self) -> Transcripts:
        from evaluation.store.games.transcripts import Transcripts

        return Transcripts(self)

    @cached_property
    def messages(self) -> MessageSearch:
        from evaluation.store.games.message_search import MessageSearch

        return MessageSearch(self)

    @cached_property
    def ratings(self) -> Ratings:
        from evaluation.store.ratings.ratings import Ratings

        return Ratings(self.unguarded())

    @cached_property
    def rating_queue(self) -> RatingQueue:
        from evaluation.store.ratings.rating_queue import RatingQueue

        return RatingQueue(self.unguarded())

    @cached_property
    def drafts(self) -> Drafts:
        from evaluation.store.ratings.drafts import Drafts

        return Drafts(self.unguarded())

    @cached_property
    def discards(self) -> Discards:
        from evaluation.store.ratings.discards import Discards

        return Discards(self.unguarded())

    @cached_property
    def blind(self) -> BlindGames:
        from evaluation.store.games.blind_games import BlindGames

        return BlindGames(self.unguarded())

    @cached_property
    def practice(self) -> Practice:
        from evaluation.store.ratings.practice import Practice

        return Practice(self.unguarded())

    @cached_property
    def style_answers(self) -> StyleAnswers:
        from evaluation.store.ratings.style_answers import StyleAnswers

        return StyleAnswers(self.unguarded())

    @cached_property
    def overrides(self) -> Overrides:
        from evaluation.store.results.overrides import Overrides

        return Overrides(self)

    @cached_property
    def settings(self) -> Settings:
        from evaluation.store.settings import Settings

        return Settings(self)

    @cached_property
    def decisions(self) -> Decisions:
        from evaluation.store.results.judge_decisions import Decisions

        return Decisions(self)

    @cached_property
    def results(self) -> Results:
        from evaluation.store.results.results import Results

        return Results(self, self.ratings, self.overrides, self.decisions, self.settings)

    @cached_property
    def controls(self) -> Controls:
        from evaluation.store.results.controls import Controls

        return Controls(self)

    @cached_property
    def iterations(self) -> Iterations:
        from evaluation.store.games.iterations import Iterations

        return Iterations(self)

    @cached_property
    def deletions(self) -> Deletions:
        from evaluation.store.games.deletions_and_undo import Deletions

        return Deletions(self)

    @cached_property
    def jobs(self) -> Jobs:
        from evaluation.store._jobs import Jobs

        return Jobs(self)

    @cached_property
    def llm_calls(self) -> LLMCalls:
        from evaluation.store.model_calls.llm_calls import LLMCalls

        return LLMCalls(self)

    @cached_property
    def judgements(self) -> Judgements:
        from evaluation.store.model_calls.judgement_cache import Judgements

        return Judgements(self, self.llm_calls)

    @cached_property
    def generations(self) -> Generations:
        from evaluation.store.model_calls.generations import Generations

        return Generations(self, self.llm_calls)

    @cached_property
    def experiments(self) -> Experiments:
        from evaluation.store.agents.experiments import Experiments

        return Experiments(self)

    @cached_property
    def spool(self) -> Spool:
        from evaluation.store.games.import_queue import Spool

        return Spool(self)

    @cached_property
    def imports(self) -> Imports:
        from evaluation.store.games.import_reports import Imports

        return Imports(self)

    @cached_property
    def backups(self) -> Backups:
        from evaluation.store.backup.backup import Backups

        return Backups(self, self._file, self.jobs, self._wait_seconds)

    @cached_property
    def corrections(self) -> Corrections:
        from evaluation.store.agents.corrections import Corrections

        return Corrections(self)

    @cached_property
    def agents(self) -> Agents:
        from evaluation.store.agents.agents import Agents

        return Agents(self)

    @cached_property
    def evaluations(self) -> Evaluations:
        from evaluation.store.agents.evaluations import Evaluations

        return Evaluations(self)

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
        return DatabaseFile(None, migrate)
    require_storable(path=str(path))
    # Two spellings of one file must not become two: the lock on it belongs to the whole process.
    return shared_file(resolved(Path(path)), migrate)


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
