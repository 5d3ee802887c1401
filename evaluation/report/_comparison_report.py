"""Report on a comparison of two iterations: decision, differences, their causes, and the prompts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from evaluation.comparison.iterations import NO_COMPARISON, IterationComparison
from evaluation.comparison.movers import Mover
from evaluation.comparison.prompt_diff import is_cut, prompt_diff
from evaluation.iterations.keep_or_revert import IterationSide
from evaluation.report._html import Html, bullets, escaped, page, section, table, tag
from evaluation.report.svg import Strip, figure, strip_svg
from evaluation.report.words import METRICS, badge, chart_words, how_to_read, lines, status_words
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

_NOTES = (
    "Better and worse are said only where Welch's test says so at 5 %: the target of the change alone, the other "
    "metrics (all of them where no target was named) after Holm's adjustment.",
    "Paired p is the sign-flip test's, over games with the same scenario or seed: exact up to 16 pairs, else marked as "
    "drawn. It decides nothing.",
    "What would show, and the games needed, are for 8 of 10 comparisons: at 5 % for the target, at the strictest level "
    "that Holm asks for for the others.",
    "The rubric's keep or revert looks at means alone; it stands beside the words and may disagree with them.",
)


_HEADERS = (
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
    names = found.before.iteration.name, found.after.iteration.name
    return page(
        f"{names[0]} compared with {names[1]}",
        _head(found),
        _decision(found),
        section("Every metric", difference_table(found.comparison.differences, _labels())),
        _controls(found),
        section("Game by game", *_charts(found, thresholds)),
        _movers(found),
        _prompts(found),
        how_to_read(made_at, _NOTES),
    )


def _labels() -> dict[str, str]:
    return {name: definition.label for name, definition in DEFINITIONS.items()}


def _head(found: IterationComparison) -> Html:
    said = [f"Before: {_side_words(found.before)}", f"After: {_side_words(found.after)}"]
    said += [f"What was changed: {found.after.iteration.change}"] if found.after.iteration.change else []
    said += [f"{counted(len(found.pairs), 'pair')} of games with the same scenario or seed."] if found.pairs else []
    return tag("div", *lines(said))


def _side_words(side: IterationSide) -> str:
    return f"{side.iteration.name} ({counted(len(side.games), 'game')})"


def _decision(found: IterationComparison) -> Html:
    grouped = []
    for outcome in Outcome:
        labels = [DEFINITIONS[one.name].label for one in found.comparison.differences if one.outcome is outcome]
        if labels:
            grouped.append(f"{status_words(outcome)}: {', '.join(labels)}")
    decision = found.decision
    if decision is None:
        rule = [tag("p", "There is nothing before the later one to compare it with.")]
    else:
        said = tuple(filter(None, (found.other_pair, *found.decision_words)))
        against = f" against {decision.reference}"
        rule = [tag("p", "By the rubric's rule: ", badge(decision.choice), against), bullets(said)]
        rule += [tag("p", decision.recorded.words)] if decision.recorded else []
    return section(
        "Keep the change?",
        *rule,
        tag("p", "What the games can show:"),
        bullets((*grouped, *found.coverage_words)),
    )


def difference_table(differences: tuple[Difference, ...], labels: Mapping[str, str]) -> Html:
    """One row per measure: both means with their games, the difference with its interval, tests and what would show.

    Args:
        differences: Of one comparison.
        labels: What each is called.
    """
    return table(_HEADERS, [_row(one, labels[one.name]) for one in differences], "After minus before")


def _row(one: Difference, label: str) -> tuple[str, ...]:
    return (
        label,
        status_words(one.outcome),
        *difference_cells(one),
        detectable_words(one),
        "" if one.games_needed is None else str(one.games_needed),
    )


def _controls(found: IterationComparison) -> Html:
    rows = [
        (DEFINITIONS[name].label, *(side.words or NO_COMPARISON for side in sides))
        for name, sides in found.controls.items()
        if any(side.words for side in sides)
    ]
    return section(
        "Whether the scores can be told from chance",
        table(("Metric", "Before", "After"), rows, "Games compared with copies in which what counts is destroyed"),
    )


def _charts(found: IterationComparison, thresholds: Mapping[str, float]) -> Iterator[Html]:
    names = found.before.iteration.name, found.after.iteration.name
    for definition in METRICS:
        one = found.comparison[definition.name]
        strips = [_strip(name, side, definition) for name, side in zip(names, (one.before, one.after), strict=True)]
        words = chart_words(definition, strips, thresholds[definition.name])
        drawing = strip_svg(strips, definition.scale, thresholds[definition.name], definition.label, words)
        yield figure(drawing, "")
        yield bullets(difference_sentences(one))


def _strip(label: str, side: Summary, definition: MetricDefinition) -> Strip:
    words = ""
    if side.n:
        mean = score_words(definition, side.mean)
        words = f"mean {mean} of {counted(side.n, 'game')}, 95 % interval {interval_words(side.interval)}"
    return Strip(label, side.values, side.mean if side.n else None, side.interval, (), words)


def _movers(found: IterationComparison) -> Html:
    if not found.movers:
        said = "No reason and no player cost more points on one side than on the other."
        return section("What moved the scores most", tag("p", said))
    note = (
        "Points that a metric lost for a reason, or by a player's messages, over all messages taken together. Names, "
        "numbers and quotations are left out of reasons, so that equal ones count as one."
    )
    return section("What moved the scores most", tag("p", note, class_="quiet"), *map(_mover, found.movers))


def _mover(one: Mover) -> Html:
    label = one.label if one.kind == "reason" else f"Player {one.label}"
    side = "before" if one.change > 0 else "after"
    lost = f"{one.before:.1f} points lost before, {one.after:.1f} after. Examples from {side}:"
    head = f"{DEFINITIONS[one.metric].label}: {'✓' if one.change > 0 else '✗'} {one.change:+.1f} points"
    quotes = [
        tag(
            "blockquote",
            tag("p", f"{example.game_id}, {example.message_id or example.player}", class_="quiet"),
            *lines([f"{example.player}: {example.text}"] if example.text else []),
            tag("p", example.reason),
        )
        for example in one.examples
    ]
    return tag("div", tag("h3", head), *lines([label]), tag("p", lost), *quotes)


def _prompts(found: IterationComparison) -> Html:
    before, after = found.before.iteration.prompt_text, found.after.iteration.prompt_text
    if not before or not after:
        return section("The prompt", tag("p", "A prompt text is stored for one of the two at most."))
    changed = prompt_diff(before, after)
    if not changed:
        return section("The prompt", tag("p", "Both prompts are the same, word for word."))
    cut = tag("p", "Only the first 1,000 lines are compared.") if is_cut(before, after) else None
    return section("The prompt, line by line", cut, tag("pre", escaped(changed)))
