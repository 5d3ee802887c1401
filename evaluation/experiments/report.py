"""The report on an experiment in the layout of Table 1, beside published values if there are any."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from evaluation.experiments.plan import AgentScore, ExperimentRecord, Side
from evaluation.experiments.table1 import (
    NO_VALUE,
    PUBLISHED_NAMES,
    PublishedRow,
    change_cell,
    difference_fields,
    interval_cell,
    mean_cell,
    published_experiments,
)
from evaluation.judging.propositions import ENVIRONMENT_DIMENSIONS, Dimension
from evaluation.persona.dimensions import DIMENSIONS, LABELS
from evaluation.statistics.comparison import Difference, Measure, Outcome, compare
from evaluation.statistics.tests import SignificanceTest, clustered_difference
from evaluation.statistics.words import p_words
from evaluation.text.display import counted, listed, number_or_none

SCRIPTED_NOTE = (
    "A rehearsal, not a result: a script spoke and judged in place of a language model. It tests the pipeline and says "
    "nothing about any agent."
)
CAVEAT = (
    "Scores of agents in one conversation, and of one persona in several, are alike, so Welch's test takes them for "
    "more evidence than they are; the cluster-robust p counts each persona (each pair of conversations) once. Only the "
    "direction is compared with the paper: another model, other agents, other judges."
)

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


def finding_words(rows: Sequence[Mapping[str, Any]]) -> str:
    """The report in a sentence: "With the treatment: Ideas higher beyond luck; 4 other differences could be luck." """
    proven = [f"{row['label']} {row_words(row)}" for row in rows if row["outcome"] in ("higher", "lower")]
    counts = Counter(row_words(row) for row in rows if row["outcome"] not in ("higher", "lower"))
    kind = "other difference" if proven else "difference"
    others = listed([f"{counted(number, kind)} {words}" for words, number in counts.items()])
    if not proven:
        return f"No effect of the treatment beyond luck: {'all ' if len(counts) == 1 < len(rows) else ''}{others}."
    return f"With the treatment: {'; '.join(filter(None, (listed(proven), others)))}."


def row_words(row: Mapping[str, Any]) -> str:
    """The verdict on the difference of a row: "higher beyond luck", "could be luck", "cannot be tested"."""
    if row["outcome"] in ("higher", "lower"):
        return f"{row['outcome']} beyond luck"
    return Outcome(row["outcome"]).words


_DIRECTION_WORDS = {
    DirectionAgreement.SAME: "the same way here",
    DirectionAgreement.OPPOSITE: "the other way here",
    DirectionAgreement.UNDECIDED: "could be luck here",
    DirectionAgreement.UNKNOWN: "cannot be compared",
}


def verdict_words(rows: Sequence[Mapping[str, Any]]) -> str:
    """The verdicts of a report in a sentence; empty where the paper has no row of it."""
    compared = [row for row in rows if row["published"]]
    counts = Counter(row["direction"] for row in compared)
    if not compared:
        return ""
    told = ", ".join(f"{counts[each]} {words}" for each, words in _DIRECTION_WORDS.items() if counts[each])
    return f"Of {counted(len(compared), 'difference')} in the paper: {told}. Only directions are compared, not sizes."


def activity_words(record: ExperimentRecord) -> str:
    """Tell in a sentence how often the treatment of an experiment took effect; empty before its end."""
    own = record.activity.get(str(Side.TREATMENT), {})
    parts = [f"{part} {counted(number, 'time')}" for part, number in own.get("fired", {}).items() if number]
    if not own:
        return ""
    if not parts:
        return "It never took effect, so the two sides differ by chance alone. More steps may help."
    return f"In {counted(own['messages'], 'message')} it took effect: {listed(parts)}."


def report_cells(row: Mapping[str, Any]) -> dict[str, str]:
    """A row of a report by column, in the layout of Table 1; the paper's values beside ours, where it has any."""
    cells = {
        "Dimension": row["label"],
        "Treatment": mean_cell(row["treatment_mean"], row["treatment_sd"]),
        "Control": mean_cell(row["control_mean"], row["control_sd"]),
        "Difference": change_cell(row["difference"]),
        "95 % interval": interval_cell(row["difference_low"], row["difference_high"], row["interval_note"]),
        "Effect of the treatment": row_words(row),
        "n": f"{row['n_treatment']} / {row['n_control']}",
        "p": _p_cell(row["p_value"]),
        "p (Holm)": _p_cell(row["p_holm"]),
        "p (clusters)": _p_cell(row["p_cluster_robust"]),
        "d": change_cell(row["cohens_d"]),
    }
    if theirs := row["published"]:
        cells |= {
            "Direction": direction_cell(row["direction"]),
            "Paper: difference": change_cell(theirs["difference"]),
            "Paper: treatment": mean_cell(theirs["treatment_mean"], theirs["treatment_sd"]),
            "Paper: control": mean_cell(theirs["control_mean"], theirs["control_sd"]),
            "Paper: p": theirs["p_value"],
        }
    return cells


def direction_cell(direction: str) -> str:
    """The verdict on a direction, with the symbol that colours it."""
    words = {"same direction": "✓ same", "opposite direction": "✗ opposite", "undecided": "– could be luck"}
    return words.get(direction, direction)


def _p_cell(value: float | None) -> str:
    return NO_VALUE if value is None else p_words(value)


def missing_words(rows: Sequence[Mapping[str, Any]]) -> str:
    """The dimensions of which scores are missing, in a sentence; empty where none is."""
    lost = [f"{row['label']}: {row['unscored']}" for row in rows if row["unscored"]]
    return f"Scores that are missing: {', '.join(lost)}." if lost else ""


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
        if self.published is None:
            return DirectionAgreement.UNPUBLISHED
        if math.isnan(self.found.difference):
            return DirectionAgreement.UNKNOWN
        if not self.found.p_holm <= LEVEL:
            return DirectionAgreement.UNDECIDED
        is_same = (self.found.difference > 0) == (self.published.difference > 0)
        return DirectionAgreement.SAME if is_same else DirectionAgreement.OPPOSITE

    def as_dict(self) -> dict[str, Any]:
        """The row as JSON-compatible data."""
        return {
            "dimension": str(self.dimension),
            "label": LABELS[self.dimension],
            "paper_label": PUBLISHED_NAMES[self.dimension],
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
            theirs.get(PUBLISHED_NAMES[Dimension(one.name)]),
            sum(score.dimension == one.name and score.score is None for score in scores),
        )
        for one in compare(measures).values()
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
