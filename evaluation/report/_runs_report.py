"""Report on a comparison of two evaluation runs: every dimension, and the propositions that moved most."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from evaluation.comparison.runs import Run, RunComparison
from evaluation.judging.propositions.proposition import Dimension
from evaluation.persona.results import DIMENSIONS, LABELS
from evaluation.report._comparison_report import DIFFERENCE_HEADERS, difference_rows
from evaluation.report.svg import Strip, strip_svg
from evaluation.report.words import report_page
from evaluation.score import Scale
from evaluation.statistics.comparison import Difference
from evaluation.statistics.words import difference_sentences, interval_words
from evaluation.text.display import counted

if TYPE_CHECKING:
    from markupsafe import Markup

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
    agents = dict.fromkeys((found.before.agent, found.after.agent))
    return report_page(
        "runs.html.j2",
        f"{'Evaluation' if len(agents) > 1 else 'Two evaluation'} runs of {' and '.join(agents)} compared",
        made_at,
        _NOTES,
        found=found,
        labels=labels,
        said=[_run_words("Before", found.before), _run_words("After", found.after)],
        scores=[
            (LABELS[dimension], *(_score(run.scores.get(dimension), dimension) for run in (found.before, found.after)))
            for dimension in DIMENSIONS
        ],
        difference_headers=DIFFERENCE_HEADERS,
        difference_rows=difference_rows(found.comparison.differences, labels),
        charts=[
            (_chart(one, labels[one.name]), difference_sentences(one))
            for one in found.comparison.differences
            if one.before.n and one.after.n
        ],
    )


def _run_words(word: str, run: Run) -> str:
    sample = counted(run.sample_size, "message")
    judge = run.judge or "no judge"
    return f"{word}: {run.agent}, {run.created_at:%Y-%m-%d %H:%M} UTC, {sample} judged one by one, {judge}"


def _score(score: float | None, dimension: Dimension) -> str:
    if score is None:
        return "no score"
    return f"{score:.0f} ideas" if dimension is Dimension.IDEAS_QUANTITY else f"{score:.1f} of 9"


def _chart(one: Difference, label: str) -> Markup:
    most = max(_NINE, *one.before.values, *one.after.values)
    strips = []
    for word, side in (("before", one.before), ("after", one.after)):
        said = f"mean {side.mean:.1f} of {counted(side.n, 'game')}, 95 % interval {interval_words(side.interval)}"
        strips.append(Strip(word, side.values, side.mean, side.interval, (), said))
    words = f"{label}. " + "; ".join(f"{strip.label}: {strip.words}" for strip in strips)
    return strip_svg(strips, Scale("nine", 0.0, most), None, label, words)
