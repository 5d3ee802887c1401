"""``dramaturg reevaluate``: stored games scored again, after a metric's definition changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.cli.shared.exit_codes import finish_scoring
from evaluation.cli.shared.options import Jobs, OfIteration, open_store
from evaluation.cli.shared.terminal import TerminalProgress, note, say
from evaluation.text.display import counted

if TYPE_CHECKING:
    from evaluation.store import Store


def reevaluate(
    transcripts: Annotated[
        list[str] | None,
        typer.Argument(metavar="TRANSCRIPT...", show_default=False, help="Only these, whether outdated or not."),
    ] = None,
    iteration: OfIteration = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also games whose results are of today's versions, as after a repair.")
    ] = False,
    controls: Annotated[
        bool,
        typer.Option("--controls", help="Only compare scores with those of shuffled copies, where that is missing."),
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
        _compare_with_chance(store, transcripts or [], iteration)
        return
    chosen = _chosen(store, transcripts or [], iteration, everything)
    if not chosen:
        note("Every game was scored by today's definitions.")
        return
    progress = TerminalProgress("game")
    done = evaluate_again(store, chosen, lambda count, total: progress.advance(f"{total - count} to go"), jobs=jobs)
    progress.finish()
    say(done.words)
    finish_scoring(incomplete=done.incomplete)


def _compare_with_chance(store: Store, references: list[str], iteration: str | None) -> None:
    from evaluation.workflows.controls import compute_missing

    with store.unit():
        if iteration is not None:
            store.iterations.get(iteration)
        named = [store.transcripts.resolve(each) for each in references]
        chosen = list(dict.fromkeys(named)) or store.controls.missing(iteration)
    if not chosen:
        note("Every score was compared with chance.")
        return
    progress = TerminalProgress("game")
    done = compute_missing(store, chosen, lambda count, total: progress.advance(f"{total - count} to go"))
    progress.finish()
    say(f"Compared the scores of {counted(done, 'game')} with chance.")


def _chosen(store: Store, references: list[str], iteration: str | None, everything: bool) -> list[str]:
    from evaluation.workflows.reevaluation import outdated

    with store.unit():
        if references:
            return list(dict.fromkeys(store.transcripts.resolve(each) for each in references))
        return store.transcripts.ids(iteration) if everything else outdated(store, iteration)
