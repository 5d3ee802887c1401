"""The report on an experiment in the layout of Table 1, beside published values if there are any."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from evaluation.experiments.plan import AgentScore, Side
from evaluation.experiments.table1 import PublishedRow, difference_fields, published_experiments
from evaluation.judging.propositions import ENVIRONMENT_DIMENSIONS, Dimension
from evaluation.persona.dimensions import DIMENSIONS, LABELS
from evaluation.statistics.comparison import Difference, Measure, compare
from evaluation.statistics.tests import SignificanceTest, clustered_difference
from evaluation.text.display import counted, listed, number_or_none

SCRIPTED_NOTE = (
    "Scripted: no language model spoke or judged. A script took its place, with effects that are planted or left out. "
    "It shows that the pipeline finds what is there; it says nothing about any agent."
)
CAVEAT = (
    "Scores of agents in one conversation, and of one persona in several, are alike, so Welch's test takes them for "
    "more evidence than they are; the cluster-robust p counts each persona (each pair of conversations) once. Only the "
    "direction is compared with the paper: another model, other agents, other judges."
)

_PUBLISHED_NAMES = {
    Dimension.ADHERENCE: "Persona Adherence",
    Dimension.CONSISTENCY: "Self-consistency",
    Dimension.FLUENCY: "Fluency",
    Dimension.CONVERGENCE: "Voice distinctness",
    Dimension.IDEAS_QUANTITY: "Ideas Qty.",
}
_SCALE = (0.0, 9.0)

LEVEL = 0.05
"""With a larger p, after Holm's adjustment, the direction of a difference is undecided."""


class DirectionAgreement(StrEnum):
    """Whether the direction of a difference agrees with the published one, whatever its size.

    ``undecided``: the difference of this run may be chance, so its direction says nothing.
    """

    SAME = "same direction"
    OPPOSITE = "opposite direction"
    UNDECIDED = "undecided"
    UNPUBLISHED = "not in the paper"
    UNKNOWN = "cannot be compared"


def direction_of(difference: float | None, published: float | None, p_holm: float | None) -> DirectionAgreement:
    """The verdict on one row, for every output.

    Args:
        difference: Treatment minus control here; ``None`` without one.
        published: The paper's; ``None`` where it has none.
        p_holm: Of the difference here, after Holm's adjustment; ``None`` where it could not be tested.
    """
    if published is None:
        return DirectionAgreement.UNPUBLISHED
    if difference is None:
        return DirectionAgreement.UNKNOWN
    if p_holm is None or p_holm > LEVEL:
        return DirectionAgreement.UNDECIDED
    return DirectionAgreement.SAME if (difference > 0) == (published > 0) else DirectionAgreement.OPPOSITE


def finding_words(rows: Sequence[Mapping[str, Any]]) -> str:
    """The report in a sentence: "With the treatment: Ideas clearly higher; no clear difference in the other 4." """
    clear = [f"{row['label']} clearly {row['outcome']}" for row in rows if row["outcome"] in ("higher", "lower")]
    others = len(rows) - len(clear)
    if not clear:
        return f"No clear difference between treatment and control in any of {counted(others, 'dimension')}."
    rest = f"; no clear difference in the other {others}" if others else ""
    return f"With the treatment: {listed(clear)}{rest}."


def verdict_words(rows: Sequence[Mapping[str, Any]]) -> str:
    """The verdicts of a report in a sentence; empty where the paper has no row of it."""
    compared = [row for row in rows if row["published"]]
    counts = Counter(row["direction"] for row in compared)
    if not compared:
        return ""
    told = ", ".join(f"{counts[each]} {each}" for each in DirectionAgreement if counts[each])
    return f"Of {len(compared)} rows that the paper has: {told}. Sizes are not compared."


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One dimension, treatment minus control.

    Attributes:
        found: Means, deviations, interval, Welch's test, Holm over the rows, d.
        clustered: The same difference with each persona, or pair of conversations, counted once.
        published: The paper's row; ``None`` where it has none.
        unscored: How many scores are missing, on either side.
    """

    dimension: Dimension
    found: Difference
    clustered: SignificanceTest
    published: PublishedRow | None
    unscored: int

    @property
    def direction(self) -> DirectionAgreement:
        """The verdict: on the direction only."""
        theirs = None if self.published is None else self.published.difference
        return direction_of(number_or_none(self.found.difference), theirs, number_or_none(self.found.p_holm))

    def as_dict(self) -> dict[str, Any]:
        """The row as JSON-compatible data."""
        return {
            "dimension": str(self.dimension),
            "label": LABELS[self.dimension],
            "paper_label": _PUBLISHED_NAMES[self.dimension],
            **difference_fields(self.found),
            "p_cluster_robust": number_or_none(self.clustered.p),
            "unscored": self.unscored,
            "direction": str(self.direction),
            "published": None if self.published is None else self.published.as_dict(),
        }


def report_rows(scores: Sequence[AgentScore], published: str | None = None) -> list[ReportRow]:
    """One row per dimension, in the specification's order.

    Args:
        scores: Of both sides.
        published: The experiment of Table 1 to compare with ("2.1").
    """
    measures = {str(each): _measure(scores, each) for each in DIMENSIONS}
    theirs = _published_rows(published)
    return [
        ReportRow(
            Dimension(one.name),
            one,
            _clustered(scores, Dimension(one.name)),
            theirs.get(_PUBLISHED_NAMES[Dimension(one.name)]),
            sum(score.dimension == one.name and score.score is None for score in scores),
        )
        for one in compare(measures).differences
    ]


def _of(scores: Sequence[AgentScore], dimension: Dimension, side: Side) -> list[AgentScore]:
    return [each for each in scores if each.dimension == dimension and each.side is side and each.score is not None]


def _measure(scores: Sequence[AgentScore], dimension: Dimension) -> Measure:
    sides = {
        side: {(each.environment, each.agent): each.score or 0.0 for each in _of(scores, dimension, side)}
        for side in Side
    }
    control, treatment = sides[Side.CONTROL], sides[Side.TREATMENT]
    pairs = [(control[key], treatment[key]) for key in control if key in treatment]
    limits = None if dimension is Dimension.IDEAS_QUANTITY else _SCALE
    return Measure(list(control.values()), list(treatment.values()), pairs, limits)


def _clustered(scores: Sequence[AgentScore], dimension: Dimension) -> SignificanceTest:
    is_shared = dimension in ENVIRONMENT_DIMENSIONS
    treatment, control = (_of(scores, dimension, side) for side in (Side.TREATMENT, Side.CONTROL))
    values = [[each.score or 0.0 for each in side] for side in (treatment, control)]
    owners = [[each.environment if is_shared else each.agent for each in side] for side in (treatment, control)]
    return clustered_difference(*values, *owners)


def _published_rows(experiment: str | None) -> Mapping[str, PublishedRow]:
    found = next((each for each in published_experiments() if each.name == experiment), None)
    return {} if found is None else {row.dimension: row for row in found.rows}
