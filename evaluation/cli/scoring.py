"""Commands that read and score transcripts: import, evaluate, collect and reevaluate."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from evaluation.cli.exit_codes import finish_scoring
from evaluation.cli.options import (
    TRANSCRIPTS_HELP,
    CorpusOutput,
    IterationName,
    Jobs,
    OfIteration,
    OutputFormat,
    ReadingChoices,
    Scheduler,
    open_store,
    reading_options,
)
from evaluation.cli.terminal import TerminalProgress, note, say, table
from evaluation.escaping import safe, shortened
from evaluation.text.display import counted
from evaluation.workflows.scoring import ScoredFile, Tally, evaluate_paths

if TYPE_CHECKING:
    from evaluation.engines.scoring import Evaluation
    from evaluation.store import Store


Gate = Literal["full", "automatic"]
"""Conditions that every transcript must meet to pass.

``full``: its verdict is passed, engagement included. ``automatic``: it may still pass once people have rated it (at
least 4 of the 6 metrics without engagement pass, 5 of the 7 can apply, the cost is not known to be over the limit).
"""


def _passes(evaluation: Evaluation, gate: Gate | None) -> bool:
    """Whether a game passes what is asked; one that does not is named on standard error, with the reasons."""
    from evaluation.rubric.verdict import VerdictStatus, judge_automatic, known_usd

    transcript, verdict = evaluation.transcript, evaluation.verdict
    if gate == "automatic":
        verdict = judge_automatic(evaluation.metrics, known_usd(transcript.cost))
    if gate is None or verdict.status is VerdictStatus.PASSED:
        return True
    note(f"gate: {transcript.id[:8]} ({transcript.game_id}) {verdict.status}: {' '.join(verdict.reasons)}")
    return False


@reading_options
def evaluate(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH", help=f"{TRANSCRIPTS_HELP}; also as s3://, file:// URLs.")
    ],
    output: Annotated[
        OutputFormat, typer.Option("--format", help="A table, JSON with every ledger row, or Markdown.")
    ] = "table",
    store: Annotated[
        bool,
        typer.Option("--store/--no-store", help="Keep transcripts and results in the database, or only print them."),
    ] = True,
    iteration: IterationName = None,
    gate: Annotated[
        Gate | None,
        typer.Option(
            help="Exit with 1 unless every transcript passes (full), or may still pass once rated (automatic, for CI: "
            "engagement is left out, so at least 4 of the other 6 metrics must pass). With --no-store, ratings in the "
            "database are not looked at: engagement stays pending, and full cannot pass."
        ),
    ] = None,
    controls: Annotated[
        bool,
        typer.Option(
            "--controls/--no-controls", help="Compare each score with chance; takes a fraction of a second per game."
        ),
    ] = True,
    jobs: Jobs = 1,
    corpus: CorpusOutput = None,
    scheduler: Scheduler = None,
) -> None:
    """Score transcripts on the seven metrics and print the results.

    Results go to standard output, progress and everything else to standard error. Neither a file that cannot be read
    nor a metric that cannot be computed stops the others. The exit code is then 3 if a metric could not be computed,
    else 2 if a file could not be read, else 1 if the gate failed. With a gate, a game with an open question about who
    could hear a message counts as a file that could not be read.
    """
    if iteration is not None and not store and corpus is None:
        raise typer.BadParameter(
            "An iteration is kept in the database: leave out --no-store.", param_hint="--iteration"
        )
    if corpus is not None:
        if gate is not None:
            raise typer.BadParameter("What is written to --output is not checked by a gate.", param_hint="--gate")
        _score_to(corpus, paths, iteration, jobs, scheduler, reading_options.value())
        return
    if scheduler is not None:
        raise typer.BadParameter("Workers write Parquet: say where with --output URL.", param_hint="--scheduler")
    from evaluation.cli.rendering import print_evaluations
    from evaluation.workflows.reevaluation import completed

    tally, failed = Tally(note=note), 0
    held = open_store() if store else None
    choices = reading_options.value()
    found = evaluate_paths(paths, tally, store=held, iteration=iteration, jobs=jobs, **choices)
    scored = (each.evaluation() for each in _with_progress(found, tally))

    def evaluations() -> Iterator[Evaluation]:
        nonlocal failed
        for evaluation in completed(held, scored, jobs=jobs) if controls else scored:
            failed += not _passes(evaluation, gate)
            yield evaluation

    print_evaluations(evaluations(), output)
    refused = tally.refused + (tally.unheard if gate is not None else 0)
    finish_scoring(incomplete=tally.incomplete, refused=refused, gate_failed=failed)


def _score_to(
    corpus: str, paths: list[str], iteration: str | None, jobs: int, scheduler: str | None, choices: ReadingChoices
) -> None:
    from evaluation.workflows.corpora import CorpusTally, score_to_corpus

    tally = CorpusTally(Tally(note=note))
    progress = TerminalProgress("partition")
    read = [str(path) for path in paths]
    partitions = score_to_corpus(read, corpus, tally, iteration=iteration, jobs=jobs, scheduler=scheduler, **choices)
    for games in partitions:
        progress.advance(counted(games, "game"))
    progress.finish()
    had = f"; {tally.had} were there already" if tally.had else ""
    say(f"{counted(tally.scored, 'game')} scored and written{had}.")
    finish_scoring(incomplete=tally.files.incomplete + tally.lost, refused=tally.files.refused)


@reading_options
def import_(
    paths: Annotated[list[Path] | None, typer.Argument(metavar="PATH", help=f"{TRANSCRIPTS_HELP}.")] = None,
    samples: Annotated[
        bool, typer.Option("--samples", help="Import the games that come with Dramaturg, with their ratings.")
    ] = False,
    iteration: IterationName = None,
    jobs: Jobs = 1,
) -> None:
    """Store and score transcripts, and list what became of each.

    A game that is stored already is recognised by its content and not stored twice. With the setting judge.imports
    a model reads the new games. The exit code is 3 if a metric could not be computed, else 2 if a file could not be
    read.
    """
    if not paths and not samples:
        raise typer.BadParameter("Name at least one path, or ask for --samples.", param_hint="PATH")
    from evaluation.cli.rendering import warn_of_controls
    from evaluation.readers import understood

    choices = reading_options.value()
    store = open_store()
    tally = Tally(note=note)
    if samples:
        from evaluation.workflows.samples import load_samples, read_example

        loaded = load_samples(store, TerminalProgress("sample game").report)
        read_example(store)
        tally.incomplete += loaded.incomplete
        say(f"{loaded.new_games} of {loaded.games} sample games are new, with {loaded.new_ratings} ratings.")
    if paths:
        with _reported(store, tally, iteration):
            found = evaluate_paths(paths, tally, store=store, iteration=iteration, jobs=jobs, **choices)
            rows, new, told = [], [], []
            for each in _with_progress(found, tally):
                rows.append(_import_row(each))
                told.append(safe(f"{each.source_name}: {understood(each.transcript)}"))
                new += [each.transcript.id] if each.is_new else []
        if rows:
            say(table(("Id", "File", "Iteration", "Stored", "Passed", "Verdict"), rows))
            say("\n".join(told))
        _have_read(store, new)
        warn_of_controls(store, new)
    finish_scoring(incomplete=tally.incomplete, refused=tally.refused)


@contextmanager
def _reported(store: Store, tally: Tally, iteration: str | None) -> Iterator[None]:
    """Keeps the report on what is imported inside, also when that is interrupted."""
    from evaluation.readers.import_report import ImportReport

    begun, started_at = time.monotonic(), datetime.now(UTC)
    try:
        yield
    finally:
        seconds = round(time.monotonic() - begun, 3)
        store.imports.save(ImportReport(tuple(tally.lines), "command line", iteration, started_at, seconds))


def _import_row(found: ScoredFile) -> tuple[str, ...]:
    verdict = found.verdict
    return (
        found.transcript.id[:8],
        shortened(found.source_name, 50),
        found.iteration or "",
        "new" if found.is_new else "back" if found.is_restored else "known",
        verdict.passes,
        str(verdict.status),
    )


def _with_progress(found: Iterable[ScoredFile], tally: Tally) -> Iterator[ScoredFile]:
    progress = TerminalProgress("game")
    for each in found:
        tally.incomplete += bool(each.failures)
        for failure in each.failures:
            note(f"{each.source_name}: {failure.what} {failure.why}")
        progress.advance(each.source_name)
        yield each
    progress.finish()


def _have_read(store: Store, new: list[str]) -> None:
    """Has a model read new games where that is switched on."""
    if new and store.settings.judges_imports():
        from evaluation.workflows.judging import read_imported

        if words := read_imported(store, new):
            note(safe(words))


def collect(
    corpus: Annotated[str, typer.Argument(metavar="OUTPUT", help="The folder or URL that evaluate wrote to.")],
) -> None:
    """Import into a database what 'evaluate --output' wrote: games with their scores and ledgers.

    Run it again to add what is new, also after it was stopped halfway.
    """
    from evaluation.workflows.corpora import import_corpus

    found, store, progress = Counter[str](), open_store(), TerminalProgress("file")
    for games in import_corpus(corpus, store):
        found += games
        progress.advance(counted(games["new"] + games["known"], "game"))
    progress.finish()
    store.close()
    known = f"; {found['known']} were known" if found["known"] else ""
    deleted = f"; {found['deleted']} had been deleted and stay so" if found["deleted"] else ""
    say(f"{counted(found['new'], 'game')} imported{known}{deleted}.")


def reevaluate(
    transcripts: Annotated[
        list[str] | None, typer.Argument(metavar="TRANSCRIPT...", help="Only these, whether outdated or not.")
    ] = None,
    iteration: OfIteration = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Score all games again, also those that are up to date.")
    ] = False,
    controls: Annotated[
        bool,
        typer.Option("--controls", help="Only compare scores with those of scrambled copies, where that is missing."),
    ] = False,
    jobs: Jobs = 1,
) -> None:
    """Score stored games again by today's definitions of the metrics: those that are outdated, or those named.

    A game is outdated when a result is of another version than today's, or missing. Older results stay on record;
    ratings and overrides stand. The exit code is 3 if a metric could not be computed.
    """
    if transcripts and (iteration is not None or everything):
        raise typer.BadParameter("Name transcripts, or choose by --iteration or --all.", param_hint="TRANSCRIPT")
    from evaluation.workflows.reevaluation import reevaluate as evaluate_again

    store = open_store()
    if controls:
        _compare_with_chance(store, transcripts or [], iteration, jobs)
        return
    chosen = _chosen(store, transcripts or [], iteration, everything)
    if not chosen:
        note("Every game was scored by today's definitions.")
        return
    done = evaluate_again(store, chosen, TerminalProgress("game").report, jobs=jobs)
    say(done.words)
    finish_scoring(incomplete=done.incomplete)


def _compare_with_chance(store: Store, references: list[str], iteration: str | None, jobs: int) -> None:
    from evaluation.workflows.reevaluation import compute_missing

    with store.unit():
        if iteration is not None:
            store.iterations.get(iteration)
        named = [store.transcripts.resolve(each) for each in references]
        chosen = list(dict.fromkeys(named)) or store.controls.missing(iteration)
    if not chosen:
        note("Every score was compared with chance.")
        return
    done = compute_missing(store, chosen, TerminalProgress("game").report, jobs=jobs)
    say(f"Compared the scores of {counted(done, 'game')} with chance.")


def _chosen(store: Store, references: list[str], iteration: str | None, everything: bool) -> list[str]:
    from evaluation.workflows.reevaluation import outdated

    with store.unit():
        if references:
            return list(dict.fromkeys(store.transcripts.resolve(each) for each in references))
        return store.transcripts.ids(iteration) if everything else outdated(store, iteration)
