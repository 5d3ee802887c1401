"""``dramaturg evaluate`` and ``dramaturg import``: transcripts in, scores out, and the quality gate for CI."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.cli.shared.exit_codes import finish_scoring
from evaluation.cli.shared.options import (
    TRANSCRIPTS_HELP,
    CorpusOutput,
    Engine,
    IterationName,
    Jobs,
    OutputFormat,
    Scheduler,
    open_store,
    require_output,
)
from evaluation.cli.shared.reading_options import ReadingChoices, reading_options
from evaluation.cli.shared.terminal import TerminalProgress, note, safe, say, shortened, table
from evaluation.engines.task_engines import EngineName
from evaluation.progress import ProgressCallback
from evaluation.text.display import counted
from evaluation.workflows.importing import ScoredFile, Tally, evaluate_paths

if TYPE_CHECKING:
    from evaluation.engines.scoring import Evaluation
    from evaluation.rubric.verdict import Verdict
    from evaluation.store import Store


class Gate(StrEnum):
    """Conditions that every transcript must meet to pass.

    ``full``: its verdict is passed, engagement included. ``automatic``: it may still pass once people have rated it (at
    least 4 of the 6 metrics without engagement pass, 5 of the 7 can apply, the cost is not known to be over the limit).
    """

    FULL = "full"
    AUTOMATIC = "automatic"


class GateCounter:
    """Watches evaluations go by and remembers whether all of them passed.

    Args:
        gate: What is asked; ``None`` lets everything through.
    """

    def __init__(self, gate: Gate | None) -> None:
        self._gate = gate
        self.failed = 0

    def watch(self, evaluations: Iterable[Evaluation]) -> Iterator[Evaluation]:
        """The same evaluations; each that fails the gate is named on standard error, with the reasons."""
        for evaluation in evaluations:
            if self._gate is not None:
                self._check(evaluation, _verdict(evaluation, self._gate))
            yield evaluation

    def _check(self, evaluation: Evaluation, verdict: Verdict) -> None:
        from evaluation.rubric.verdict import VerdictStatus

        if verdict.status is not VerdictStatus.PASSED:
            self.failed += 1
            transcript = evaluation.transcript
            reasons = " ".join(verdict.reasons)
            note(f"gate: {transcript.id[:8]} ({transcript.game_id}) {verdict.status}: {reasons}")


def _verdict(evaluation: Evaluation, gate: Gate) -> Verdict:
    from evaluation.rubric.verdict import judge_automatic, known_usd

    if gate is Gate.FULL:
        return evaluation.verdict
    return judge_automatic(evaluation.metrics, known_usd(evaluation.transcript.cost))


@reading_options
def evaluate(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH",
            show_default=False,
            help=f"{TRANSCRIPTS_HELP}; also as s3://, file:// URLs.",
        ),
    ],
    output: Annotated[
        OutputFormat, typer.Option("--format", help="A table, JSON with every ledger row, or Markdown.")
    ] = OutputFormat.TABLE,
    store: Annotated[
        bool,
        typer.Option("--store/--no-store", help="Keep transcripts and results in the database, or only print them."),
    ] = True,
    iteration: IterationName = None,
    gate: Annotated[
        Gate | None,
        typer.Option(
            show_default=False,
            help="Exit with 1 unless every transcript passes (full), or may still pass once rated (automatic, for CI: "
            "engagement is left out, so at least 4 of the other 6 metrics must pass). With --no-store, ratings in the "
            "database are not looked at: engagement stays pending, and full cannot pass.",
        ),
    ] = None,
    controls: Annotated[
        bool,
        typer.Option(
            "--controls/--no-controls", help="Compare each score with chance (a fraction of a second a game)."
        ),
    ] = True,
    jobs: Jobs = 1,
    corpus: CorpusOutput = None,
    engine: Engine = EngineName.LOCAL,
    scheduler: Scheduler = None,
) -> None:
    """Score transcripts on the seven metrics and print the results.

    Results go to standard output, progress and everything else to standard error. Neither a file that cannot be read
    nor a metric that cannot be computed stops the others. The exit code is then 3 if a metric could not be computed,
    else 2 if a file could not be read, else 1 if the gate failed.
    """
    if iteration is not None and not store and corpus is None:
        raise typer.BadParameter(
            "An iteration is kept in the database: leave out --no-store.", param_hint="--iteration"
        )
    if corpus is not None:
        if gate is not None:
            raise typer.BadParameter("What is written to --output is not held against a gate.", param_hint="--gate")
        _score_to(corpus, paths, iteration, engine, jobs, scheduler, reading_options.value())
        return
    require_output(corpus, engine, scheduler)
    from evaluation.cli.shared.rendering import print_evaluations

    tally, gate_counter = Tally(note=note), GateCounter(gate)
    held = open_store() if store else None
    choices = reading_options.value()
    found = evaluate_paths(
        paths,
        tally,
        store=held,
        iteration=iteration,
        jobs=jobs,
        choose_columns=choices.columns,
        answers=choices.answers,
    )
    evaluations = (each.evaluation for each in _with_progress(found, tally))
    print_evaluations(gate_counter.watch(_controlled(evaluations, held) if controls else evaluations), output)
    finish_scoring(incomplete=tally.incomplete, refused=tally.refused, gate_failed=gate_counter.failed)


def _score_to(
    corpus: str,
    paths: list[str],
    iteration: str | None,
    engine: EngineName,
    jobs: int,
    scheduler: str | None,
    choices: ReadingChoices,
) -> None:
    from evaluation.workflows.corpora import CorpusTally, score_to_corpus

    tally = CorpusTally(Tally(note=note))
    progress = TerminalProgress("partition")
    partitions = score_to_corpus(
        paths,
        corpus,
        tally,
        iteration=iteration,
        engine=engine,
        jobs=jobs,
        scheduler=scheduler,
        choose_columns=choices.columns,
        answers=choices.answers,
    )
    for games in partitions:
        progress.advance(counted(games, "game"))
    progress.finish()
    had = f"; {tally.had} were there already" if tally.had else ""
    say(f"{counted(tally.scored, 'game')} scored and written{had}.")
    finish_scoring(incomplete=tally.files.incomplete + tally.lost, refused=tally.files.refused)


@reading_options
def import_(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", show_default=False, help=f"{TRANSCRIPTS_HELP}."),
    ] = None,
    samples: Annotated[
        bool, typer.Option("--samples", help="Import the games that come with Dramaturg, with their ratings.")
    ] = False,
    iteration: IterationName = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
            help="Write what became of each file to a new .json, .csv or .md. The database keeps the report anyway.",
        ),
    ] = None,
    jobs: Jobs = 1,
) -> None:
    """Store and score transcripts, and list what became of each.

    What is stored already is recognised by its content and not stored twice. With the setting judge.imports a model
    reads the new games. The exit code is 3 if a metric could not be computed, else 2 if a file could not be read.
    """
    from evaluation.workflows.judging import read_imported

    if not paths and not samples:
        raise typer.BadParameter("Name at least one path, or ask for --samples.", param_hint="PATH")
    choices = reading_options.value()
    _check_report(report)
    store = open_store()
    tally = Tally(note=note)
    if samples:
        from evaluation.workflows.samples import load_samples

        loaded = load_samples(store, _sample_reporter())
        tally.incomplete += loaded.incomplete
        say(f"{loaded.new_games} of {loaded.games} sample games are new, with {loaded.new_ratings} ratings.")
    if paths:
        with _reported(store, tally, iteration, report):
            found = evaluate_paths(
                paths,
                tally,
                store=store,
                iteration=iteration,
                jobs=jobs,
                choose_columns=choices.columns,
                answers=choices.answers,
            )
            rows, new = [], []
            for each in _with_progress(found, tally):
                rows.append(_import_row(each))
                new += [each.evaluation.transcript.id] if each.is_new else []
        if rows:
            say(table(("Id", "File", "Iteration", "Stored", "Passed", "Verdict"), rows))
        if new and (words := read_imported(store, new)):
            note(safe(words))
    finish_scoring(incomplete=tally.incomplete, refused=tally.refused)


def _check_report(path: Path | None) -> None:
    """Refuses a report that could not be written, before anything is imported."""
    from evaluation.errors import ConflictError, InputError
    from evaluation.readers.import_report import ImportReport
    from evaluation.writers import report_as

    if path is not None:
        report_as(ImportReport(()), path.suffix)
        if path.exists():
            raise ConflictError("The file exists.", place=str(path), remedy="Choose another name for the report.")
        if not path.parent.is_dir():
            raise InputError("There is no such folder.", place=str(path.parent), remedy="Create it first.")


@contextmanager
def _reported(store: Store, tally: Tally, iteration: str | None, path: Path | None) -> Iterator[None]:
    """Keeps the report on what is imported inside, also when that is interrupted."""
    from evaluation.readers.import_report import ImportReport
    from evaluation.writers import report_as, write_new_bytes

    begun, started_at = time.monotonic(), datetime.now(UTC)
    try:
        yield
    finally:
        seconds = round(time.monotonic() - begun, 3)
        done = ImportReport(tuple(tally.lines), "command line", iteration, started_at, seconds)
        store.imports.save(done)
        if path is not None:
            text = report_as(done, path.suffix)
            write_new_bytes(path, text.encode())
            note(f"The report is in {path}.")


def _import_row(found: ScoredFile) -> tuple[str, ...]:
    verdict = found.evaluation.verdict
    return (
        found.evaluation.transcript.id[:8],
        shortened(found.source_name, 50),
        found.iteration or "",
        "new" if found.is_new else "back" if found.is_restored else "known",
        f"{verdict.passed_count}/7",
        str(verdict.status),
    )


def _sample_reporter() -> ProgressCallback:
    progress = TerminalProgress("sample game")

    def report(done: int, total: int) -> None:
        if done:
            progress.advance(f"{total - done} to go")
        if done == total:
            progress.finish()

    return report


def _with_progress(found: Iterable[ScoredFile], tally: Tally) -> Iterator[ScoredFile]:
    progress = TerminalProgress("game")
    for each in found:
        tally.incomplete += bool(each.evaluation.failures)
        for failure in each.evaluation.failures:
            note(f"{each.source_name}: {failure.what} {failure.why}")
        progress.advance(each.source_name)
        yield each
    progress.finish()


def _controlled(evaluations: Iterable[Evaluation], store: Store | None) -> Iterator[Evaluation]:
    from evaluation.workflows.controls import completed

    return (completed(store, evaluation) for evaluation in evaluations)
