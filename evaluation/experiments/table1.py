"""TinyTroupe's Table 1: the published values, and cells and fields of a row in its layout."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import BaseModel

from evaluation.files.bundled import parse_yaml
from evaluation.judging.propositions import Dimension
from evaluation.persona.dimensions import LABELS
from evaluation.statistics.comparison import Difference, Outcome
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


def table1_cells() -> list[dict[str, str]]:
    """The paper's 19 rows by column."""
    labels = {theirs: LABELS[ours] for ours, theirs in PUBLISHED_NAMES.items()}
    return [
        {
            "Experiment": experiment.name,
            "Dimension": labels[row.dimension],
            "Paper: treatment": mean_cell(*row.treatment),
            "Paper: control": mean_cell(*row.control),
            "Paper: difference": change_cell(row.difference),
            "Paper: p": row.p,
        }
        for experiment in published_experiments()
        for row in experiment.rows
    ]


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
