"""Table 1 of TinyTroupe (arXiv:2507.09788) as its authors printed it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from evaluation.files.bundled import parse_yaml


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One printed row; means and deviations are rounded to two digits.

    Attributes:
        dimension: As the paper names it.
        key: The name of its scores in the raw file.
        p: As printed, "0.050" or "<0.001".
    """

    dimension: str
    key: str
    treatment_mean: float
    treatment_sd: float
    control_mean: float
    control_sd: float
    difference: float
    p: str

    def as_dict(self) -> dict[str, Any]:
        """The printed numbers as the JSON output shows them."""
        return {
            "treatment_mean": self.treatment_mean,
            "treatment_sd": self.treatment_sd,
            "control_mean": self.control_mean,
            "control_sd": self.control_sd,
            "difference": self.difference,
            "p_value": self.p,
        }


@dataclass(frozen=True, slots=True)
class PublishedExperiment:
    """One experiment of the table.

    Attributes:
        name: Its number in the paper: "1", "2.1", "2.2" or "3".
        file: The name of the raw file.
        personas: How many personas each side had.
        sessions: In how many sessions each of them was scored.
    """

    name: str
    setting: str
    treatment: str
    file: str
    personas: int
    sessions: int
    rows: tuple[PublishedRow, ...]


@cache
def published_experiments() -> tuple[PublishedExperiment, ...]:
    """The four experiments with their 19 rows, in the paper's order."""
    content = parse_yaml(files("evaluation.experiments").joinpath("table1_published.yaml").read_text("utf-8"))
    return tuple(
        PublishedExperiment(
            each["experiment"],
            each["setting"],
            each["treatment"],
            each["file"],
            each["personas"],
            each["sessions"],
            tuple(_rows(each["rows"])),
        )
        for each in content["experiments"]
    )


def _rows(rows: list[dict[str, object]]) -> Iterator[PublishedRow]:
    for row in rows:
        (treatment, treatment_sd), (control, control_sd) = _pair(row["treatment"]), _pair(row["control"])
        difference = float(str(row["difference"]))
        names = str(row["dimension"]), str(row["key"])
        yield PublishedRow(*names, treatment, treatment_sd, control, control_sd, difference, str(row["p"]))


def _pair(values: object) -> tuple[float, float]:
    assert isinstance(values, list)
    return float(values[0]), float(values[1])
