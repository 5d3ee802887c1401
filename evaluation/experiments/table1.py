"""TinyTroupe's Table 1: the published values, and the same computed from the raw scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from evaluation.errors import BrokenTranscriptError, UnreadableFileError
from evaluation.files.bundled import parse_yaml
from evaluation.judging.answers import describe
from evaluation.judging.propositions import Dimension
from evaluation.persona.dimensions import LABELS
from evaluation.statistics.comparison import Difference, Measure, Outcome, compare
from evaluation.statistics.words import p_words
from evaluation.text.display import json_data


class PublishedRow(BaseModel):
    """One printed row; means and deviations are rounded to two digits.

    Attributes:
        dimension: As the paper names it.
        key: The name of its scores in the raw file.
        treatment: Mean and standard deviation.
        control: The same.
        p: As printed, "0.050" or "<0.001".
    """

    dimension: str
    key: str
    treatment: tuple[float, float]
    control: tuple[float, float]
    difference: float
    p: str

    def as_dict(self) -> dict[str, Any]:
        """The printed numbers as the JSON output shows them."""
        return {
            "treatment_mean": self.treatment[0],
            "treatment_sd": self.treatment[1],
            "control_mean": self.control[0],
            "control_sd": self.control[1],
            "difference": self.difference,
            "p_value": self.p,
        }


class PublishedExperiment(BaseModel):
    """One experiment of the table.

    Attributes:
        name: Its number in the paper: "1", "2.1", "2.2" or "3".
        file: The name of the raw file.
    """

    name: str
    setting: str
    treatment: str
    file: str
    rows: tuple[PublishedRow, ...]


@cache
def published_experiments() -> tuple[PublishedExperiment, ...]:
    """The four experiments with their 19 rows, in the paper's order."""
    content = parse_yaml(files("evaluation.experiments").joinpath("table1_published.yaml").read_text("utf-8"))
    return tuple(map(PublishedExperiment.model_validate, content["experiments"]))


PUBLISHED_NAMES = {
    Dimension.ADHERENCE: "Persona Adherence",
    Dimension.CONSISTENCY: "Self-consistency",
    Dimension.FLUENCY: "Fluency",
    Dimension.CONVERGENCE: "Voice distinctness",
    Dimension.IDEAS_QUANTITY: "Ideas Qty.",
}

NO_VALUE = "–"


def mean_cell(mean: float | None, sd: float | None) -> str:
    """ "5.81 (1.66)"; a dash where there is nothing."""
    return NO_VALUE if mean is None else f"{mean:.2f} ({NO_VALUE if sd is None else f'{sd:.2f}'})"


def change_cell(value: float | None) -> str:
    """A difference with its sign."""
    return NO_VALUE if value is None else f"{value:+z.2f}"


def interval_cell(low: float | None, high: float | None, note: str = "") -> str:
    """ "+0.40 to +2.00", or why there is no interval."""
    return note or NO_VALUE if low is None or high is None else f"{low:+z.2f} to {high:+z.2f}"


def table1_cells(raw: Sequence[Table1Row] = ()) -> list[dict[str, str]]:
    """The paper's 19 rows by column; beside them the raw scores recomputed, where given."""
    labels = {theirs: LABELS[ours] for ours, theirs in PUBLISHED_NAMES.items()}
    recomputed = {(row.experiment.name, row.published.dimension): row.cells for row in raw}
    return [
        {
            "Experiment": experiment.name,
            "Dimension": labels[row.dimension],
            "Paper: treatment": mean_cell(*row.treatment),
            "Paper: control": mean_cell(*row.control),
            "Paper: difference": change_cell(row.difference),
            "Paper: p": row.p,
            **recomputed.get((experiment.name, row.dimension), {}),
        }
        for experiment in published_experiments()
        for row in experiment.rows
    ]


CONTROL, TREATMENT = "Control", "Treatment"

_EXPORT_AGAIN = "Take the file as the experiment wrote it."


class _Side(BaseModel):
    results: dict[str, list[Annotated[float, Field(strict=True)] | None]]


class _RawFile(BaseModel):
    experiments: dict[Literal["Control", "Treatment"], _Side]


def read_scores(path: Path) -> dict[str, dict[str, list[float]]]:
    """The scores in a raw file: by side (``Control``, ``Treatment``), by dimension, NaN for null.

    Raises:
        UnreadableFileError: It is missing or cannot be read.
        BrokenTranscriptError: It is not JSON, or not what the experiment runner writes; with the place in it.
    """
    try:
        content = _RawFile.model_validate_json(path.read_bytes())
    except OSError as error:
        remedy = "Name the folder that holds all four raw files."
        raise UnreadableFileError(
            f"The file cannot be read: {error.strerror}.", place=str(path), remedy=remedy
        ) from None
    except ValidationError as error:
        raise BrokenTranscriptError(f"{describe(error)}.", place=str(path), remedy=_EXPORT_AGAIN) from None
    return {
        side: {key: [math.nan if score is None else score for score in scores] for key, scores in each.results.items()}
        for side, each in content.experiments.items()
    }


CAVEAT = (
    "n counts scores, not people: every persona was scored in several sessions, and the same personas meet in several "
    "environments. Scores of one persona are alike, so Welch's test takes them for more evidence than they are, and "
    "the published p-values are too small. A cluster-robust p needs to know whose each score is; the raw files do not "
    "say."
)

_PRINTED = 0.005 + 1e-9
"""Half of the last printed digit."""


@dataclass(frozen=True, slots=True)
class Table1Row:
    """One row, recomputed; treatment minus control throughout.

    Attributes:
        found: Means, deviations, interval, Welch's test and d; Holm's adjustment runs over all rows of the table.
    """

    experiment: PublishedExperiment
    published: PublishedRow
    found: Difference

    @property
    def has_published_values(self) -> bool:
        """Whether means and deviations are within 0.005 of the printed ones, and p has the printed digits."""
        after, before = self.found.after, self.found.before
        recomputed = (after.mean, after.sd, before.mean, before.sd)
        printed = (*self.published.treatment, *self.published.control)
        is_near = all(abs(one - other) <= _PRINTED for one, other in zip(recomputed, printed, strict=True))
        return is_near and p_words(self.found.welch.p) == self.published.p

    @property
    def has_published_direction(self) -> bool:
        """Whether treatment differs from control in the printed direction."""
        return math.copysign(1.0, self.found.difference) == math.copysign(1.0, self.published.difference)

    @property
    def cells(self) -> dict[str, str]:
        """The recomputed values by column."""
        interval = self.found.interval
        return {
            "Raw: n": f"{self.found.after.n} / {self.found.before.n}",
            "Raw: difference": change_cell(self.found.difference),
            "Raw: 95 % interval": interval_cell(interval.low, interval.high),
            "Raw: d": change_cell(self.found.effect.value),
            "Raw: p (Holm)": p_words(self.found.p_holm),
            "As published": "✓ yes" if self.has_published_values else "✗ no",
        }

    def as_dict(self) -> dict[str, Any]:
        """The row as JSON-compatible data."""
        return {
            "experiment": self.experiment.name,
            "setting": self.experiment.setting,
            "treatment": self.experiment.treatment,
            "dimension": self.published.dimension,
            **difference_fields(self.found),
            "p_printed": p_words(self.found.welch.p),
            "p_cluster_robust": None,
            "caveat": CAVEAT,
            "published": self.published.as_dict(),
            "matches_published": self.has_published_values,
            "same_direction": self.has_published_direction,
        }


def difference_fields(found: Difference) -> dict[str, Any]:
    """A row's means, deviations, test and effect for JSON, treatment minus control.

    More is not better in every row of the paper, so the outcome is "higher", "lower", "no evidence either way", ...
    """
    after, before, test = found.after, found.before, found.welch
    outcome = {Outcome.BETTER: "higher", Outcome.WORSE: "lower"}.get(found.outcome, str(found.outcome))
    values = {
        "treatment_mean": after.mean,
        "treatment_sd": after.sd,
        "control_mean": before.mean,
        "control_sd": before.sd,
        "n_treatment": after.n,
        "n_control": before.n,
        "difference": found.difference,
        "difference_low": found.interval.low,
        "difference_high": found.interval.high,
        "interval_note": found.interval.note,
        "p_value": test.p,
        "p_holm": found.p_holm,
        "t_statistic": test.statistic,
        "degrees_of_freedom": test.freedom,
        "cohens_d": found.effect.value,
        "outcome": outcome,
        "no_test_because": test.reason,
    }
    fields: dict[str, Any] = json_data(values)
    return fields


def table1_from_raw(folder: Path) -> list[Table1Row]:
    """The 19 published rows, recomputed from the four raw files in ``folder``, in the paper's order.

    Means, deviations (ddof = 1), Welch's t-test (two-sided), Cohen's d, 95 % intervals, and Holm's adjustment over all
    rows together.

    Raises:
        UnreadableFileError: One of the four files is missing or cannot be read.
        BrokenTranscriptError: One is not what the experiment wrote, or lacks the scores of a row.
    """
    measures: dict[str, Measure] = {}
    sources: dict[str, tuple[PublishedExperiment, PublishedRow]] = {}
    for experiment in published_experiments():
        path = folder / experiment.file
        scores = read_scores(path)
        for row in experiment.rows:
            name = f"{experiment.name} {row.dimension}"
            sources[name] = experiment, row
            before, after = (_chosen(scores, row.key, side, path) for side in (CONTROL, TREATMENT))
            measures[name] = Measure(before, after)
    return [Table1Row(*sources[name], one) for name, one in compare(measures).items()]


def _chosen(scores: dict[str, dict[str, list[float]]], key: str, side: str, path: Path) -> list[float]:
    if key not in scores.get(side, {}):
        raise BrokenTranscriptError(
            f"There are no scores called {key!r}.",
            place=f"{path}: $.experiments.{side}.results",
            remedy=_EXPORT_AGAIN,
        )
    return scores[side][key]
