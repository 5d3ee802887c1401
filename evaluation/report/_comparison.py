"""Report on two iterations compared: decision, differences, what moved most, and the prompts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from evaluation.comparison.iterations import NO_COMPARISON, IterationComparison, is_cut, prompt_diff
from evaluation.iterations.keep_or_revert import IterationSide
from evaluation.report._iteration import READING, lost_points
from evaluation.report.page import (
    Block,
    Bullets,
    Section,
    StyledText,
    Table,
    badge,
    html_page,
    status_words,
)
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.statistics.comparison import Difference, Outcome
from evaluation.statistics.words import detectable_words, difference_cells, difference_sentences
from evaluation.text.display import counted

_NOTES = (
    "Better and worse are said only where Welch's test says so at 5 %: the target of the change alone, the other "
    "metrics (all of them where no target was named) after Holm's adjustment.",
    "Paired p is the sign-flip test's, over games with the same scenario or seed: exact up to 16 pairs, else marked as "
    "drawn. It decides nothing.",
    "What would show, and the games needed, are for 8 of 10 comparisons: at 5 % for the target, at the strictest level "
    "that Holm asks for for the others.",
    "The rubric's keep or revert looks at means alone; it stands beside the words and may disagree with them.",
)
_LABELS = {name: definition.label for name, definition in DEFINITIONS.items()}
_HEADERS = (
    *("Measure", "Verdict", "Before", "After", "Difference", "Interval", "Effect size d"),
    *("p", "p after Holm", "Paired p", "Would show from", "Games needed"),
)


def comparison_page(found: IterationComparison, made_at: datetime) -> str:
    """The report on two iterations as one HTML document.

    Args:
        found: The comparison, as the Compare page and ``dramaturg compare`` show it.
        made_at: When the report is written (UTC).
    """
    before, after = found.before.iteration, found.after.iteration
    controls = [
        (_LABELS[name], *(side.words or NO_COMPARISON for side in sides))
        for name, sides in found.controls.items()
        if any(side.words for side in sides)
    ]
    beside_chance = Table(
        ("Metric", "Before", "After"), controls, "Games compared with copies in which what counts is destroyed"
    )
    sections = [
        Section("", [*_said(found)]),
        Section("Keep the change?", [*_decision(found)]),
        Section("Every metric", [_differences(found.comparison.differences)]),
        Section("The differences in words", [*_in_words(found.comparison.differences)]),
        Section("Whether the scores can be told from chance", [beside_chance]),
        Section("What moved the scores most", [*_movers(found)]),
        Section("The prompt, line by line", [*_prompts(before.prompt_text, after.prompt_text)]),
    ]
    return html_page(f"{before.name} compared with {after.name}", sections, made_at, (*READING, *_NOTES))


def _said(found: IterationComparison) -> Iterator[str]:
    yield f"Before: {_side_words(found.before)}"
    yield f"After: {_side_words(found.after)}"
    if found.after.iteration.change:
        yield f"What was changed: {found.after.iteration.change}"
    if found.pairs:
        yield f"{counted(len(found.pairs), 'pair')} of games with the same scenario or seed."


def _side_words(side: IterationSide) -> str:
    return f"{side.iteration.name} ({counted(len(side.games), 'game')})"


def _decision(found: IterationComparison) -> Iterator[Block]:
    if decision := found.decision:
        yield "By the rubric's rule: ", badge(decision.choice.words), f" against {decision.reference}"
        yield Bullets([*filter(None, (found.other_pair, *found.decision_words))])
        if decision.recorded:
            yield decision.recorded.words
    else:
        yield "There is nothing before the later one to compare it with."
    yield "What the games can show:"
    outcomes = {
        outcome: [_LABELS[one.name] for one in found.comparison.differences if one.outcome is outcome]
        for outcome in Outcome
    }
    words = [f"{status_words(outcome.words)}: {', '.join(labels)}" for outcome, labels in outcomes.items() if labels]
    yield Bullets([*words, *found.coverage_words])


def _differences(found: Sequence[Difference]) -> Table:
    rows = [
        (
            _LABELS[one.name],
            status_words(one.outcome.words),
            *difference_cells(one),
            detectable_words(one),
            "" if one.games_needed is None else str(one.games_needed),
        )
        for one in found
    ]
    return Table(_HEADERS, rows, "After minus before")


def _in_words(found: Sequence[Difference]) -> Iterator[Block]:
    for one in found:
        yield StyledText(_LABELS[one.name], "h3")
        yield Bullets(difference_sentences(one))


def _movers(found: IterationComparison) -> Iterator[Block]:
    if found.movers:
        yield StyledText(
            "Points that a metric lost for a reason, or by a player's messages, over all messages taken together. "
            "Names, numbers and quotations are left out of reasons, so that equal ones count as one.",
            "quiet",
        )
    else:
        yield "No reason and no player cost more points on one side than on the other."
    for one in found.movers:
        yield StyledText(f"{_LABELS[one.metric]}: {'✓' if one.change > 0 else '✗'} {one.change:+.1f} points", "h3")
        yield one.label if one.kind == "reason" else f"Player {one.label}"
        side = "before" if one.change > 0 else "after"
        yield f"{one.before:.1f} points lost before, {one.after:.1f} after. Examples from {side}:"
        yield from lost_points(one.examples)


def _prompts(before: str | None, after: str | None) -> Iterator[Block]:
    if not before or not after:
        yield "A prompt text is stored for one of the two at most."
        return
    if is_cut(before, after):
        yield "Only the first 1,000 lines are compared."
    changed = prompt_diff(before, after)
    yield StyledText(changed, "pre") if changed else "Both prompts are the same, word for word."
