"""``dramaturg iterations`` and ``compare``: prompt versions, whether to keep a change, and a gate on it."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from evaluation.cli.exit_codes import CommandGroup
from evaluation.cli.options import By, MetricName, OutputFormat, Rows, open_store, person, reading_options
from evaluation.cli.terminal import TerminalProgress, note, say, say_json, table
from evaluation.escaping import code, markdown_table, safe, shortened
from evaluation.rubric.definitions import DEFINITIONS, SHORT_LABELS
from evaluation.text.display import counted

if TYPE_CHECKING:
    from evaluation.comparison.iterations import IterationComparison
    from evaluation.statistics.comparison import Difference
    from evaluation.store import Store


app = typer.Typer(
    cls=CommandGroup,
    rich_markup_mode=None,
    help="Without a command: list iterations with their tests, means and decisions. Or create one, or decide on one.",
)


FateName = Literal["kept", "reverted", "undecided"]
"""The decisions that a person can record on a change."""

Name = Annotated[str, typer.Argument(metavar="NAME", help="The iteration's name.")]
Target = Annotated[MetricName | None, typer.Option(help="The metric that the change is meant to raise.")]
PromptFile = Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="A file with the prompt's text.")]


@app.callback(invoke_without_command=True)
def list_iterations(context: typer.Context, output: Rows = "table") -> None:
    """Without a command: list iterations with their tests, means and decisions. Or create one, or decide on one."""
    if context.invoked_subcommand is not None:
        return
    from evaluation.cli.rendering import board_dict, board_lines, mix_dict, stored_mixes, warn_of
    from evaluation.workflows.iterations import stored_board, stored_losses

    store = open_store()
    board = stored_board(store)
    losses = stored_losses(store, board.current.iteration.name, board) if board.current else {}
    mixes = stored_mixes(store)
    if output == "json":
        say_json(board_dict(board, losses) | {"versions": [mix_dict(mix) for mix in mixes]})
    elif board.iterations:
        say("\n".join(board_lines(board, losses)))
    else:
        note("There is no iteration yet. Create one with: dramaturg iterations create NAME.")
    warn_of(mixes)


@app.command()
def create(
    name: Name,
    parent: Annotated[
        str | None, typer.Option(metavar="NAME", help="The iteration that this one was changed from: its reference.")
    ] = None,
    change: Annotated[str, typer.Option(help="The one change that was made, in words.")] = "",
    target: Target = None,
    prompt: PromptFile = None,
) -> None:
    """Create an iteration, after all others."""
    iteration = open_store().iterations.create(
        name,
        parent=parent,
        prompt_text=_prompt_text(prompt),
        change=change,
        target_metric=target,
    )
    command = f"dramaturg import PATH --iteration {shlex.quote(safe(iteration.name))}"
    say(f"Created {safe(iteration.name)}. Add games with: {command}")


def _prompt_text(path: Path | None) -> str:
    from evaluation.errors import InputError

    try:
        return "" if path is None else path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError("The file is not UTF-8 text.", place=str(path), remedy="Save it as UTF-8.") from None


@app.command()
def decide(
    name: Name,
    fate: Annotated[FateName, typer.Argument(help="The decision on its change; undecided clears an earlier one.")],
    reason: Annotated[str, typer.Option(help="Why, in a few words.")],
    remark: Annotated[
        str, typer.Option("--note", help="Why the decision differs from the rule's; required if it does.")
    ] = "",
    by: By = None,
) -> None:
    """Record that a person keeps or reverts an iteration's change, or takes that back. All of it stays on record."""
    from evaluation.iterations.iteration import Fate
    from evaluation.workflows.iterations import record_decision

    store = open_store()
    if fate == "undecided":
        store.iterations.withdraw_decision(name, who=person(by), reason=reason)
        say(f"The decision on {safe(name)} is taken back.")
        return
    held = record_decision(store, name, Fate(fate), who=person(by), reason=reason, note=remark)
    assert held.recorded is not None
    command = f"dramaturg iterations decide {shlex.quote(safe(name))} undecided --reason WHY"
    say(f"{safe(name)}: {safe(held.recorded.words)}. To take it back: {command}")


_LONGEST_NAME = 40
_LONGEST_REASON = 46
_ID_DIGITS = 8


@reading_options
def compare(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="The iteration to compare with, or its games.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="The iteration in question, or its games.")],
    gate: Annotated[
        bool,
        typer.Option(
            "--gate",
            help="Exit with 1 where the named target or a metric that passed fell beyond luck, or a game of AFTER "
            "failed critically. What could be luck passes.",
        ),
    ] = False,
    output: Annotated[
        OutputFormat, typer.Option("--format", help="A table, JSON, or Markdown for a pull request.")
    ] = "table",
) -> None:
    """Compare two iterations: every metric's difference with its interval, what it shows, and what moved it.

    A metric is called better or worse only where Welch's test says so: the target of the change tested alone, the other
    metrics after Holm's adjustment. The decision is the later iteration's against its own reference. Two paths of games
    in place of iterations are compared without a database. Games that were not compared with scrambled copies yet are
    so first, and the result is kept.
    """
    from evaluation.cli.rendering import stored_mixes, warn_of
    from evaluation.workflows.iterations import stored_comparison
    from evaluation.workflows.reevaluation import compute_missing

    with ExitStack() as stack:
        store = _scored(before, after, stack) if _are_paths(before, after) else open_store()
        found = stored_comparison(store, before, after)
        # What is better than before may still be no better than scrambled copies.
        compared = {before, after} | ({found.decision.reference} if found.decision else set())
        if waiting := [game for name in sorted(compared) for game in store.controls.missing(name)]:
            note("Games are compared with scrambled copies first.")
            compute_missing(store, waiting, TerminalProgress("game").report)
            found = stored_comparison(store, before, after)
        among = {game.transcript_id for side in (found.before, found.after) for game in side.games}
        warn_of(stored_mixes(store, among=among))
    if output == "json":
        from evaluation.comparison.iterations import comparison_data

        say_json(comparison_data(found))
    else:
        say("\n".join(_lines(found, is_markdown=output == "markdown")))
    if gate and found.at_chance_words:
        note(f"gate: {found.at_chance_words}")
    if gate and found.regressions:
        for reason in found.regressions:
            note(f"gate: {reason}")
        raise typer.Exit(1)
    if gate:
        from evaluation.statistics.comparison import Outcome

        told = (Outcome.BETTER, Outcome.WORSE, Outcome.NO_EVIDENCE)
        tested = any(one.outcome in told for one in found.comparison.values())
        fell = "nothing fell beyond luck" if tested else "nothing can be decided yet, as no metric can be tested"
        note(f"gate: passed; {fell}, and no game failed critically.")


def _are_paths(before: str, after: str) -> bool:
    """Whether both are paths of games, not iterations.

    Raises:
        InputError: One is a path, and not both are iterations.
    """
    from evaluation.errors import InputError

    exist = [Path(one).exists() for one in (before, after)]
    if any(exist) and not all(exist) and not {before, after} <= {one.name for one in open_store().iterations.list()}:
        raise InputError(
            "An iteration and a path of games cannot be compared with each other.",
            place=f"{before}, {after}",
            remedy="Name two iterations, or two paths.",
        )
    return all(exist)


def _scored(before: str, after: str, stack: ExitStack) -> Store:
    """A database of its own, for as long as ``stack`` is open, with the games at two paths as iterations.

    Raises:
        typer.Exit: A file could not be read, or asks who could hear what.
    """
    from evaluation.cli.exit_codes import finish_scoring
    from evaluation.store import Store
    from evaluation.workflows.scoring import Tally, evaluate_paths

    store = Store(Path(stack.enter_context(TemporaryDirectory())) / "compared.duckdb")
    stack.callback(store.close)
    tally, failed, choices = Tally(note=note), 0, reading_options.value()
    for path, parent in ((before, None), (after, before)):
        store.iterations.create(path, parent=parent)
        games = evaluate_paths([path], tally, store=store, iteration=path, **choices)
        failed += sum(bool(one.failures) for one in games)
    finish_scoring(incomplete=failed, refused=tally.refused + tally.unheard)
    return store


def _lines(found: IterationComparison, *, is_markdown: bool) -> Iterator[str]:
    from evaluation.statistics.words import difference_sentences

    # Names, reasons and examples are untrusted text.
    words, draw = (code, markdown_table) if is_markdown else (safe, table)
    head, gap = ("### ", [""]) if is_markdown else ("", [])
    item = "- " if is_markdown else "  "
    before, after = (
        f"{words(shortened(side.iteration.name, _LONGEST_NAME))} ({counted(len(side.games), 'game')})"
        for side in (found.before, found.after)
    )
    yield f"{head}From {before} to {after}."
    yield from (*gap, words(found.evidence))
    fallen = [f"{one}." for one in found.fallen_companions.values()]
    for beside in filter(None, (*fallen, found.cost_words and f"{found.cost_words}.", found.reserve)):
        yield from (*gap, words(beside))
    yield from gap
    yield from _decision(found, words, item)
    yield ""
    names = [words(name) for name in found.names]
    heads = ("Metric", *names, "Change", "Interval", "Verdict")
    yield draw(heads, [_cells(one) for one in found.comparison.values()])
    yield ""
    if found.games_needed:
        yield "Games that would show what could be luck, if the change is as large as seen:"
        yield from gap
        yield from (f"{item}{one}." for one in found.games_needed)
        yield ""
    yield f"{head}What this shows"
    yield from gap
    yield from (
        f"{item}{DEFINITIONS[one.name].label}: {' '.join(difference_sentences(one))}"
        for one in found.comparison.values()
    )
    if trusted := found.trust_rows:
        yield ""
        yield f"{head}What the scores rest on, and whether they can be told from chance"
        yield from gap
        sides = ((row, side, name) for row in trusted for side, name in zip(("Before", "After"), names, strict=True))
        yield from (
            f"{item}{row['Metric']} ({row['Trust']}), {name}: {row[side]}." for row, side, name in sides if row[side]
        )
    if found.movers:
        yield ""
        yield f"{head}What moved the scores most"
        yield ""
        yield draw(("Metric", "What", "Change", "Example"), list(_movers(found, code if is_markdown else str)))
        if found.decision and (example := next((one for one in found.movers if one.examples), None)):
            command = f"dramaturg show {example.examples[0].transcript_id[:_ID_DIGITS]} --metric {example.metric}"
            yield f"Read the first example: {f'`{command}`' if is_markdown else command}"


def _cells(one: Difference) -> tuple[str, ...]:
    """A metric's difference as cells, which fit into 100 columns; the sentences hold the tests."""
    from evaluation.statistics.words import change_of, interval_words, value_words

    return (
        SHORT_LABELS[one.name],
        *(f"{value_words(side.mean, one.unit)} ({side.n})" for side in (one.before, one.after)),
        "none" if math.isnan(one.difference) else change_of(one, ""),
        interval_words(one.deciding_interval, signed=True) if one.deciding_interval.is_known else "none",
        one.words,
    )


def _decision(found: IterationComparison, words: Callable[[object], str], item: str) -> Iterator[str]:
    decision = found.decision
    if decision is None:
        yield "Keep or revert: there is no reference to compare with"
        return
    reference = words(shortened(decision.reference, _LONGEST_NAME))
    recorded = decision.recorded
    fate = f"{recorded.fate}; by the rule: " if recorded else ""
    yield f"Keep or revert, against {reference}: {fate}{decision.words}"
    said = (recorded.words if recorded else "", found.other_pair, *found.decision_words)
    lines = [f"{item}{words(shortened(sentence, 200))}" for sentence in said if sentence]
    yield from ["", *lines] if item == "- " and lines else lines


def _movers(found: IterationComparison, words: Callable[[object], str]) -> Iterator[tuple[str, ...]]:
    from evaluation.statistics.words import change_words

    for one in found.movers:
        example = one.examples[0] if one.examples else None
        yield (
            SHORT_LABELS[one.metric],
            words(shortened(one.label, _LONGEST_REASON)),
            change_words(one.after, one.before, ""),
            words(f"{example.transcript_id[:_ID_DIGITS]} {example.message_id or example.player}") if example else "",
        )
