"""TinyTroupe's Table 1: the published values, and whether a difference has their direction."""

from __future__ import annotations

import math
from enum import StrEnum
from functools import cache
from importlib.resources import files

from pydantic import BaseModel

from evaluation.experiments.plan import ExperimentPlan
from evaluation.experiments.results import StatisticalComparison
from evaluation.files.bundled import parse_yaml
from evaluation.judging.propositions import Dimension


class PublishedRow(BaseModel):
    """One printed row; means and deviations are rounded to two digits.

    Attributes:
        dimension: Which of ours it is.
        key: The name of its scores in the raw file.
        p_value: As printed, "0.050" or "<0.001".
    """

    dimension: Dimension
    key: str
    treatment_mean: float
    treatment_sd: float
    control_mean: float
    control_sd: float
    difference: float
    p_value: str


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


def published_rows(plan: ExperimentPlan) -> dict[str, PublishedRow]:
    """The paper's rows of an experiment by dimension; none for a script, which says nothing about agents."""
    name = None if plan.is_scripted else plan.scenario.published
    return {row.dimension: row for one in published_experiments() if one.name == name for row in one.rows}


class DirectionAgreement(StrEnum):
    """Whether the direction of a difference agrees with the published one, whatever its size.

    ``undecided``: the difference of this run may be chance, so its direction says nothing.
    """

    SAME = "same direction"
    OPPOSITE = "opposite direction"
    UNDECIDED = "undecided"
    UNPUBLISHED = "not in the paper"
    UNKNOWN = "cannot be compared"


def direction(found: StatisticalComparison, published: PublishedRow | None) -> DirectionAgreement:
    """The verdict on a difference: on its direction only."""
    if published is None:
        return DirectionAgreement.UNPUBLISHED
    if math.isnan(found.difference):
        return DirectionAgreement.UNKNOWN
    if not found.significant:
        return DirectionAgreement.UNDECIDED
    is_same = (found.difference > 0) == (published.difference > 0)
    return DirectionAgreement.SAME if is_same else DirectionAgreement.OPPOSITE
