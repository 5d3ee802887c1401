"""Table 1 of TinyTroupe (arXiv:2507.09788) recomputed from the paper's raw scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.errors import BrokenTranscriptError, InputError, UnreadableFileError
from evaluation.experiments.table1_published import PublishedExperiment, PublishedRow, published_experiments
from evaluation.files.strict_json import parse_json, shorten, step
from evaluation.readers.document import Limits
from evaluation.statistics.comparison import Difference, Measure, Outcome, compare
from evaluation.statistics.words import p_words
from evaluation.text.display import number_or_none

CONTROL, TREATMENT = "Control", "Treatment"

_EXPORT_AGAIN = "Take the file as the experiment wrote it."


def read_scores(path: Path) -> dict[str, dict[str, list[float]]]:
    """The scores in a raw file: by side (``Control``, ``Treatment``), by dimension, NaN for null.

    Raises:
        UnreadableFileError: It is missing or no UTF-8.
        LimitError: It is too large or nested too deep.
        BrokenTranscriptError: It is not JSON, or not what the experiment runner writes; with the JSON path.
    """
    limits = Limits()
    try:
        limits.check_size(path.stat().st_size)
        text = path.read_text("utf-8")
    except FileNotFoundError:
        raise UnreadableFileError(
            "There is no such file.", place=str(path), remedy="Name the folder that holds all four raw files."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFileError(f"The file cannot be read: {error}.", place=str(path)) from None
    try:
        content = parse_json(text, limits, nan_is_null=True)
    except InputError as error:
        raise type(error)(error.message, place=f"{path}: {error.place}", remedy=error.remedy) from None
    return {side: _side(content, side, path) for side in (CONTROL, TREATMENT)}


def _side(content: Any, side: str, path: Path) -> dict[str, list[float]]:
    place, value = "$", content
    for key in ("experiments", side, "results"):
        place = step(place, key)
        value = value.get(key) if isinstance(value, dict) else None
    if not isinstance(value, dict):
        raise BrokenTranscriptError("There are no results.", place=f"{path}: {place}", remedy=_EXPORT_AGAIN)
    return {key: _scores(given, step(place, key), path) for key, given in value.items()}


def _scores(given: Any, place: str, path: Path) -> list[float]:
    if not isinstance(given, list):
        raise BrokenTranscriptError(
            f"{shorten(given)!r} is not a list of scores.", place=f"{path}: {place}", remedy=_EXPORT_AGAIN
        )
    return [_score(value, step(place, index), path) for index, value in enumerate(given)]


def _score(value: Any, place: str, path: Path) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BrokenTranscriptError(
            f"{shorten(value)!r} is not a score.", place=f"{path}: {place}", remedy=_EXPORT_AGAIN
        )
    return float(value)


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
        p_worst: Welch's p if all scores of a persona were the same, so that n were its personas: the upper end of what
            a cluster-robust p could be. NaN for scores of environments.
    """

    experiment: PublishedExperiment
    published: PublishedRow
    found: Difference
    p_worst: float

    @property
    def has_published_values(self) -> bool:
        """Whether means and deviations are within 0.005 of the printed ones, and p has the printed digits."""
        pairs = (
            (self.found.after.mean, self.published.treatment_mean),
            (self.found.after.sd, self.published.treatment_sd),
            (self.found.before.mean, self.published.control_mean),
            (self.found.before.sd, self.published.control_sd),
        )
        is_near = all(abs(found - printed) <= _PRINTED for found, printed in pairs)
        return is_near and p_words(self.found.welch.p) == self.published.p

    @property
    def has_published_direction(self) -> bool:
        """Whether treatment differs from control in the printed direction."""
        return math.copysign(1.0, self.found.difference) == math.copysign(1.0, self.published.difference)

    def as_dict(self) -> dict[str, Any]:
        """The row as JSON-compatible data."""
        after, before, test = self.found.after, self.found.before, self.found.welch
        return {
            "experiment": self.experiment.name,
            "setting": self.experiment.setting,
            "treatment": self.experiment.treatment,
            "dimension": self.published.dimension,
            "treatment_mean": number_or_none(after.mean),
            "treatment_sd": number_or_none(after.sd),
            "control_mean": number_or_none(before.mean),
            "control_sd": number_or_none(before.sd),
            "difference": number_or_none(self.found.difference),
            "difference_low": self.found.interval.low,
            "difference_high": self.found.interval.high,
            "p_value": number_or_none(test.p),
            "p_printed": p_words(test.p),
            "p_holm": number_or_none(self.found.p_holm),
            "t_statistic": number_or_none(test.statistic),
            "degrees_of_freedom": test.freedom,
            "cohens_d": number_or_none(self.found.effect.value),
            "n_treatment": after.n,
            "n_control": before.n,
            "outcome": _outcome_words(self.found.outcome),
            "p_cluster_robust": None,
            "p_if_n_were_personas": number_or_none(self.p_worst),
            "caveat": CAVEAT,
            "published": self.published.as_dict(),
            "matches_published": self.has_published_values,
            "same_direction": self.has_published_direction,
        }


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
            before, after = (_chosen(scores[side], row.key, side, path) for side in (CONTROL, TREATMENT))
            measures[name] = Measure(before, after)
    return [
        Table1Row(*sources[one.name], one, _worst_p(one, sources[one.name][0])) for one in compare(measures).differences
    ]


def _chosen(scores: dict[str, list[float]], key: str, side: str, path: Path) -> list[float]:
    if key not in scores:
        raise BrokenTranscriptError(
            f"There are no scores called {key!r}.",
            place=f"{path}: $.experiments.{side}.results",
            remedy="Take the file as the experiment wrote it.",
        )
    return scores[key]


def _worst_p(one: Difference, experiment: PublishedExperiment) -> float:
    personas = experiment.personas
    if {one.after.n, one.before.n} != {personas * experiment.sessions}:
        return math.nan
    from scipy.stats import ttest_ind_from_stats  # slow to import

    stats = (one.after.mean, one.after.sd, personas, one.before.mean, one.before.sd, personas)
    return float(ttest_ind_from_stats(*stats, equal_var=False).pvalue)


def _outcome_words(outcome: Outcome) -> str:
    # The paper's dimensions are not all the better the higher, so the words speak of height.
    return {Outcome.BETTER: "higher", Outcome.WORSE: "lower"}.get(outcome, str(outcome))
