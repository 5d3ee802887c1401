"""``dramaturg compare``: two iterations side by side, and what their games can show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.cli.shared.options import OutputFormat, TextFormat, open_store
from evaluation.cli.shared.terminal import TextStyle, say, say_json, shortened, text_style
from evaluation.cli.shared.version_warnings import stored_mixes, warn_of
from evaluation.rubric.definitions import DEFINITIONS

if TYPE_CHECKING:
    from evaluation.comparison.iterations import IterationComparison
    from evaluation.statistics import Difference

_LONGEST_NAME = 40
_LONGEST_REASON = 90
_ID_DIGITS = 8

Words = Callable[[object], str]


def compare(
    before: Annotated[str, typer.Argument(metavar="BEFORE", show_default=False, help="The iteration to compare with.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", show_default=False, help="The iteration in question.")],
    output: TextFormat = OutputFormat.TABLE,
    seed: Annotated[int, typer.Option(min=0, help="Of what is drawn for the intervals.")] = 0,
) -> None:
    """Compare two iterations: every metric's difference with its interval, what it shows, and what moved it.

    The words say better or worse only where Welch's test does so: the target of the change alone, the other metrics
    after Holm's adjustment. The decision is the later iteration's against its own reference.
    """
    from evaluation.workflows.comparisons import stored_comparison

    store = open_store()
    found = stored_comparison(store, before, after, seed=seed)
    warn_of(
        stored_mixes(store, among={game.transcript_id for side in (found.before, found.after) for game in side.games})
    )
    if output is OutputFormat.JSON:
        from evaluation.comparison.iterations import comparison_data

        say_json(comparison_data(found))
    else:
        say("\n".join(_lines(found, text_style(is_markdown=output is OutputFormat.MARKDOWN))))


def _lines(found: IterationComparison, style: TextStyle) -> Iterator[str]:
    words, draw, mark, bullet = style
    names = [words(shortened(side.iteration.name, _LONGEST_NAME)) for side in (found.before, found.after)]
    yield f"From {names[0]} ({len(found.before.games)} games) to {names[1]} ({len(found.after.games)} games)."
    yield ""
    headers = ("Metric", "Before", "After", "Difference", "Interval", "d", "p", "p Holm", "Paired p", "Verdict")
    yield draw(headers, [_row(one) for one in found.comparison.differences])
    yield ""
    yield from _decision(found, style)
    yield ""
    yield f"{mark}What this shows"
    yield from (f"{bullet}{line}" for one in found.comparison.differences for line in _sentences(one))
    yield from (f"{bullet}{line}" for line in found.coverage_words)
    if found.control_words:
        yield ""
        yield f"{mark}Whether the scores can be told from chance"
        yield from (f"{bullet}{line}" for line in found.control_words)
    if found.movers:
        yield ""
        yield f"{mark}What moved the scores most"
        yield ""
        columns = ("Metric", "By", "What", "Lost before", "Lost after", "Change", "Example")
        yield draw(columns, list(_movers(found, words)))


def _decision(found: IterationComparison, style: TextStyle) -> Iterator[str]:
    words, _, mark, bullet = style
    decision = found.decision
    if decision is None:
        yield f"{mark}Keep or revert: there is no reference to compare with"
        return
    reference = words(shortened(decision.reference, _LONGEST_NAME))
    yield f"{mark}Keep or revert, against {reference}: {decision.choice.words}"
    said = (found.other_pair, *found.decision_words, decision.recorded.words if decision.recorded else "")
    yield from (f"{bullet}{words(shortened(sentence, 200))}" for sentence in said if sentence)


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


def _movers(found: IterationComparison, words: Words) -> Iterator[tuple[str, ...]]:
    for one in found.movers:
        example = one.examples[0] if one.examples else None
        yield (
            DEFINITIONS[one.metric].label,
            one.kind,
            words(shortened(one.label, _LONGEST_REASON)),
            f"{one.before:.1f} points ({one.before_rows})",
            f"{one.after:.1f} points ({one.after_rows})",
            f"{one.change:+.1f}",
            words(f"{example.transcript_id[:_ID_DIGITS]} {example.message_id or example.player}") if example else "",
        )
