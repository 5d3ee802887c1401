"""Report on a comparison of two iterations: decision, differences, their causes, and the prompts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from evaluation.comparison.iterations import NO_COMPARISON, IterationComparison
from evaluation.comparison.movers import Mover
from evaluation.comparison.prompt_diff import is_cut, prompt_diff
from evaluation.iterations.keep_or_revert import IterationSide
from evaluation.report.svg import Strip, strip_svg
from evaluation.report.words import METRICS, badge, chart_words, report_page, status_words
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.wording import score_words
from evaluation.score import MetricDefinition
from evaluation.statistics.comparison import Difference, Outcome, Summary
from evaluation.statistics.words import (
    detectable_words,
    difference_cells,
    difference_sentences,
    interval_words,
)
from evaluation.text.display import counted

if TYPE_CHECKING:
    from markupsafe import Markup

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
DIFFERENCE_HEADERS = (
    *("Measure", "Verdict", "Before", "After", "Difference", "95 % interval", "Effect size d"),
    *("p", "p after Holm", "Paired p", "Would show from", "Games needed"),
)


def comparison_page(found: IterationComparison, thresholds: Mapping[str, float], made_at: datetime) -> str:
    """The report as one HTML document.

    Args:
        found: The comparison, as the Compare page and ``dramaturg compare`` show it.
        thresholds: Today's, by metric.
        made_at: When the report is written (UTC).
    """
    before, after = found.before.iteration, found.after.iteration
    decision, texts = found.decision, (before.prompt_text, after.prompt_text)
    return report_page(
        "comparison.html.j2",
        f"{before.name} compared with {after.name}",
        made_at,
        _NOTES,
        found=found,
        said=_said(found),
        choice=badge(decision.choice) if decision else None,
        decision_words=[*filter(None, (found.other_pair, *found.decision_words))],
        shown_words=[*_outcomes(found), *found.coverage_words],
        difference_headers=DIFFERENCE_HEADERS,
        difference_rows=difference_rows(found.comparison.differences, _LABELS),
        controls=[
            (_LABELS[name], *(side.words or NO_COMPARISON for side in sides))
            for name, sides in found.controls.items()
            if any(side.words for side in sides)
        ],
        charts=list(_charts(found, thresholds)),
        movers=[*map(_mover, found.movers)],
        prompts_are_stored=all(texts),
        changed_prompt=prompt_diff(*texts) if all(texts) else "",
        prompt_is_cut=is_cut(*texts),
    )


def _said(found: IterationComparison) -> list[str]:
    said = [f"Before: {_side_words(found.before)}", f"After: {_side_words(found.after)}"]
    said += [f"What was changed: {found.after.iteration.change}"] if found.after.iteration.change else []
    return said + (
        [f"{counted(len(found.pairs), 'pair')} of games with the same scenario or seed."] if found.pairs else []
    )


def _side_words(side: IterationSide) -> str:
    return f"{side.iteration.name} ({counted(len(side.games), 'game')})"


def _outcomes(found: IterationComparison) -> Iterator[str]:
    for outcome in Outcome:
        labels = [_LABELS[one.name] for one in found.comparison.differences if one.outcome is outcome]
        if labels:
            yield f"{status_words(outcome)}: {', '.join(labels)}"


def difference_rows(differences: Sequence[Difference], labels: Mapping[str, str]) -> list[tuple[str, ...]]:
    """One row per measure: both means with their games, the difference with its interval, tests and what would show.

    Args:
        differences: Of one comparison.
        labels: What each is called.
    """
    return [_row(one, labels[one.name]) for one in differences]


def _row(one: Difference, label: str) -> tuple[str, ...]:
    return (
        label,
        status_words(one.outcome),
        *difference_cells(one),
        detectable_words(one),
        "" if one.games_needed is None else str(one.games_needed),
    )


def _charts(found: IterationComparison, thresholds: Mapping[str, float]) -> Iterator[tuple[Markup, Sequence[str]]]:
    names = found.before.iteration.name, found.after.iteration.name
    for definition in METRICS:
        one = found.comparison[definition.name]
        strips = [_strip(name, side, definition) for name, side in zip(names, (one.before, one.after), strict=True)]
        words = chart_words(definition, strips, thresholds[definition.name])
        drawing = strip_svg(strips, definition.scale, thresholds[definition.name], definition.label, words)
        yield drawing, difference_sentences(one)


def _strip(label: str, side: Summary, definition: MetricDefinition) -> Strip:
    words = ""
    if side.n:
        mean = score_words(definition, side.mean)
        words = f"mean {mean} of {counted(side.n, 'game')}, 95 % interval {interval_words(side.interval)}"
    return Strip(label, side.values, side.mean if side.n else None, side.interval, (), words)


def _mover(one: Mover) -> tuple[object, ...]:
    label = one.label if one.kind == "reason" else f"Player {one.label}"
    side = "before" if one.change > 0 else "after"
    lost = f"{one.before:.1f} points lost before, {one.after:.1f} after. Examples from {side}:"
    heading = f"{_LABELS[one.metric]}: {'✓' if one.change > 0 else '✗'} {one.change:+.1f} points"
    return heading, label, lost, one.examples
