"""``dramaturg compare``: two iterations side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.cli.options import ListFormat, Rows, open_store
from evaluation.cli.terminal import safe, say, say_json, shortened, table
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.text.display import counted

if TYPE_CHECKING:
    from evaluation.comparison.iterations import IterationComparison
    from evaluation.statistics.comparison import Difference


_LONGEST_NAME = 40
_LONGEST_REASON = 90
_ID_DIGITS = 8


def compare(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="The iteration to compare with.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="The iteration in question.")],
    output: Rows = ListFormat.TABLE,
) -> None:
    """Compare two iterations: every metric's difference with its interval, what it shows, and what moved it.

    A metric is called better or worse only where Welch's test says so: the target of the change tested alone, the other
    metrics after Holm's adjustment. The decision is the later iteration's against its own reference.
    """
    from evaluation.cli.rendering import stored_mixes, warn_of
    from evaluation.workflows.iterations import stored_comparison

    store = open_store()
    found = stored_comparison(store, before, after)
    warn_of(
        stored_mixes(store, among={game.transcript_id for side in (found.before, found.after) for game in side.games})
    )
    if output is ListFormat.JSON:
        from evaluation.comparison.iterations import comparison_data

        say_json(comparison_data(found))
    else:
        say("\n".join(_lines(found)))


def _lines(found: IterationComparison) -> Iterator[str]:
    before, after = (
        f"{safe(shortened(side.iteration.name, _LONGEST_NAME))} ({counted(len(side.games), 'game')})"
        for side in (found.before, found.after)
    )
    yield f"From {before} to {after}."
    yield ""
    headers = ("Metric", "Before", "After", "Difference", "Interval", "d", "p", "p Holm", "Paired p", "Verdict")
    yield table(headers, [_row(one) for one in found.comparison.differences])
    yield ""
    yield from _decision(found)
    yield ""
    yield "What this shows"
    yield from (f"  {line}" for one in found.comparison.differences for line in _sentences(one))
    yield from (f"  {line}" for line in found.coverage_words)
    if found.control_words:
        yield ""
        yield "Whether the scores can be told from chance"
        yield from (f"  {line}" for line in found.control_words)
    if found.movers:
        yield ""
        yield "What moved the scores most"
        yield ""
        columns = ("Metric", "By", "What", "Lost before", "Lost after", "Change", "Example")
        yield table(columns, list(_movers(found)))


def _decision(found: IterationComparison) -> Iterator[str]:
    decision = found.decision
    if decision is None:
        yield "Keep or revert: there is no reference to compare with"
        return
    reference = safe(shortened(decision.reference, _LONGEST_NAME))
    yield f"Keep or revert, against {reference}: {decision.choice.words}"
    said = (found.other_pair, *found.decision_words, decision.recorded.words if decision.recorded else "")
    yield from (f"  {safe(shortened(sentence, 200))}" for sentence in said if sentence)


def _row(one: Difference) -> tuple[str, ...]:
    from evaluation.statistics.words import difference_cells

    return (
        DEFINITIONS[one.name].label,
        *difference_cells(one),
        one.outcome.words,
    )


def _sentences(one: Difference) -> Iterator[str]:
    from evaluation.statistics.words import difference_sentences

    yield f"{DEFINITIONS[one.name].label}: {' '.join(difference_sentences(one))}"


def _movers(found: IterationComparison) -> Iterator[tuple[str, ...]]:
    for one in found.movers:
        example = one.examples[0] if one.examples else None
        yield (
            DEFINITIONS[one.metric].label,
            one.kind,
            shortened(one.label, _LONGEST_REASON),
            f"{one.before:.1f} points ({one.before_rows})",
            f"{one.after:.1f} points ({one.after_rows})",
            f"{one.change:+.1f}",
            (f"{example.transcript_id[:_ID_DIGITS]} {example.message_id or example.player}") if example else "",
        )
