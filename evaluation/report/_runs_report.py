"""Report on a comparison of two evaluation runs: every dimension, and the propositions that moved most."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from evaluation.comparison.runs import Run, RunComparison, RunMover
from evaluation.judging.propositions.proposition import Dimension
from evaluation.persona.results import DIMENSIONS, LABELS
from evaluation.report._comparison_report import difference_table
from evaluation.report._html import Html, bullets, page, section, table, tag
from evaluation.report.svg import Strip, figure, strip_svg
from evaluation.report.words import how_to_read, lines
from evaluation.score import Scale
from evaluation.statistics.comparison import Difference
from evaluation.statistics.words import difference_sentences, interval_words
from evaluation.text.display import counted

_NOTES = (
    "Dimensions run from 0 to 9, the higher the better; ideas are counted.",
    "Each game has one value: the weighted mean over propositions of the means over messages. What is judged over all "
    "that an agent said has no value for a game, and so no test.",
    "Better and worse are said only where Welch's test says so at 5 % after Holm's adjustment over all dimensions.",
)
_NINE = 9.0


def run_page(found: RunComparison, made_at: datetime) -> str:
    """The report as one HTML document.

    Args:
        found: The comparison, as the Compare page shows it.
        made_at: When the report is written (UTC).
    """
    labels = {str(dimension): label for dimension, label in LABELS.items()}
    return page(
        f"Evaluation runs of {found.before.agent} and {found.after.agent} compared"
        if found.before.agent != found.after.agent
        else f"Two evaluation runs of {found.after.agent} compared",
        tag("div", *lines([_run_words("Before", found.before), _run_words("After", found.after)])),
        tag("p", "Two judges: a difference may be theirs and not the agent's.")
        if found.before.judge != found.after.judge
        else None,
        section("Scores of the runs", _scores(found)),
        section("Every dimension, over games", difference_table(found.comparison.differences, labels)),
        section("Game by game", *_charts(found, labels)),
        _movers(found),
        how_to_read(made_at, _NOTES),
    )


def _run_words(word: str, run: Run) -> str:
    sample = counted(run.sample_size, "message")
    judge = run.judge or "no judge"
    return f"{word}: {run.agent}, {run.created_at:%Y-%m-%d %H:%M} UTC, {sample} judged one by one, {judge}"


def _scores(found: RunComparison) -> Html:
    rows = [
        (LABELS[dimension], *(_score(run.scores.get(dimension), dimension) for run in (found.before, found.after)))
        for dimension in DIMENSIONS
    ]
    return table(("Dimension", "Before", "After"), rows, "Over all messages together")


def _score(score: float | None, dimension: Dimension) -> str:
    if score is None:
        return "no score"
    return f"{score:.0f} ideas" if dimension is Dimension.IDEAS_QUANTITY else f"{score:.1f} of 9"


def _charts(found: RunComparison, labels: dict[str, str]) -> Iterator[Html]:
    for one in found.comparison.differences:
        if one.before.n and one.after.n:
            yield figure(_chart(one, labels[one.name]), "")
            yield bullets(difference_sentences(one))


def _chart(one: Difference, label: str) -> Html:
    most = max(_NINE, *one.before.values, *one.after.values)
    strips = []
    for word, side in (("before", one.before), ("after", one.after)):
        said = f"mean {side.mean:.1f} of {counted(side.n, 'game')}, 95 % interval {interval_words(side.interval)}"
        strips.append(Strip(word, side.values, side.mean, side.interval, (), said))
    words = f"{label}. " + "; ".join(f"{strip.label}: {strip.words}" for strip in strips)
    return strip_svg(strips, Scale("nine", 0.0, most), None, label, words)


def _movers(found: RunComparison) -> Html:
    if not found.movers:
        return section("What moved most", tag("p", "No proposition that both runs asked moved."))
    return section("What moved most", *map(_mover, found.movers))


def _mover(one: RunMover) -> Html:
    mark = "✓" if one.change > 0 else "✗"
    quotes = [
        tag(
            "blockquote",
            tag("p", f"{example.message_id}: {example.before:.0f} before, {example.after:.0f} after", class_="quiet"),
            *lines([example.reason]),
        )
        for example in one.examples
    ]
    head = f"{LABELS[one.dimension]}: {mark} {one.change:+.1f} ({one.before:.1f} before, {one.after:.1f} after)"
    return tag("div", tag("h3", head), *lines([one.claim]), *quotes)
