"""Sources of an A/B test's runs, and the refusal of a test that cannot give a result before anything is paid for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from evaluation.corrections.config import read_config
from evaluation.errors import InputError
from evaluation.experiments.ab.config import PASS_RATE, ABConfig, variant_config
from evaluation.experiments.ab.runner import FIGURES, PlannedRun, Run, RunOutcome, flat_metrics, plan
from evaluation.experiments.ab.simulation import read_run
from evaluation.files.yaml_files import did_you_mean
from evaluation.insight.addressing import transcript_metrics
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.text.display import listed
from evaluation.transcript import Transcript

_LARGEST = 1e100


async def given_metrics(config: dict[str, Any], seed: int) -> RunOutcome:  # noqa: ARG001 - numbers need no seed
    """The numbers of one run, as the file has them.

    Raises:
        InputError: It is not a mapping of names to numbers.
    """
    return RunOutcome(_numbers(config.get("run")))


def check_numbers(config: ABConfig) -> None:
    """Looks at all runs before the first one is kept.

    Raises:
        InputError: A run is not a mapping of names to numbers; names the variant and the run.
    """
    for planned in plan(config):
        try:
            _numbers(planned.config.get("run"))
        except InputError as error:
            place = f"variants.{planned.variant}.runs, number {planned.run_index + 1}"
            raise InputError(error.message, place=place, remedy=error.remedy) from None


def _numbers(given: Any) -> dict[str, float | None]:
    if not isinstance(given, Mapping):
        raise InputError(f"{given!r:.40} is not a run.", remedy="Write each run as a mapping of measures to numbers.")
    return {str(name): _number(str(name), value) for name, value in given.items()}


def _number(name: str, value: Any) -> float | None:
    """The number; NaN is none, and of infinite or enormous ones there is no mean."""
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not abs(value) <= _LARGEST:
        remedy = f"Write a number up to {_LARGEST:g}, or null for an unknown one."
        raise InputError(f"{name}: {value!r:.40} is not a number that can be compared.", remedy=remedy)
    return float(value)


Load = Callable[[str], tuple[Transcript, Mapping[str, float | None], Mapping[str, str]]]
"""Gives a stored transcript by id, with its scores by metric and its players' personas."""


def stored_games(load: Load) -> Run:
    """Runs that read stored games: their figures and their scores on the rubric's metrics."""

    async def run(config: dict[str, Any], seed: int) -> RunOutcome:  # noqa: ARG001 - a stored game needs no seed
        transcript, scores, personas = load(str(config["run"]))
        metrics = flat_metrics(transcript_metrics(transcript)) | dict(scores)
        return RunOutcome(metrics, transcript, personas, transcript.id)

    return run


_KEYS = {"metrics": ("runs",), "transcripts": ("iteration", "transcripts")}


def check_test(config: ABConfig) -> None:
    """Checks the keys, runs and measures of a test.

    Raises:
        InputError: A key is misspelt, a variant has no runs or an empty one, a setting is wrong, or no run can have a
            measure; names the place in the file.
    """
    if config.source == "transcripts":
        _check_keys(config)
        _check_measures(config, {*FIGURES, *DEFINITIONS}, "Stored games")
        return
    if config.source == "simulation":
        for name in config.variants:
            _check_settings(config, name)
        _check_measures(config, FIGURES, "Simulated runs")
        return
    _check_keys(config)
    check_numbers(config)
    planned = plan(config)
    check_runs(config, planned)
    _check_measures(config, {name for one in planned for name in one.config["run"]}, "The runs in the file")


def check_runs(config: ABConfig, planned: Sequence[PlannedRun]) -> None:
    """Checks that every variant has runs, and every run something in it.

    Raises:
        InputError: One has none; names the variant.
    """
    for name in config.variants:
        runs = [one for one in planned if one.variant == name]
        if not runs:
            raise InputError("It has no runs.", place=f"variants.{name}", remedy="Give it one, or remove the variant.")
        for one in runs:
            if not one.config.get("run", True):
                place = f"variants.{name}.runs, number {one.run_index + 1}"
                raise InputError("This run is empty.", place=place, remedy="Give it its numbers, or remove it.")


def _check_keys(config: ABConfig) -> None:
    known = _KEYS[config.source]
    for place, body in (("base", config.base), *((f"variants.{name}", one) for name, one in config.variants.items())):
        for key in body:
            if key not in known:
                remedy = f"Known are {listed(known)}.{did_you_mean(key, known)}"
                raise InputError("This key is not known.", place=f"{place}.{key}", remedy=remedy)


def _check_settings(config: ABConfig, variant: str) -> None:
    try:
        read_config(read_run(variant_config(config, variant)).corrections)
    except InputError as error:
        place = f"variants.{variant}" + ("" if error.place.startswith("variants.") else f" with {error.place}")
        raise InputError(error.message, place=place, remedy=error.remedy) from None


def _check_measures(config: ABConfig, possible: Iterable[str], runs: str) -> None:
    """Measures that the file does not choose are the usual ones, of which runs may lack some; the primary decides."""
    can_be_checked = config.checks and config.source != "metrics"
    known = {*possible, *([PASS_RATE] if can_be_checked else [])}
    wanted = list(config.measures) if "measures" in config.model_fields_set else [config.primary]
    for name in wanted:
        if name in known:
            continue
        is_unchecked = name == PASS_RATE and config.source != "metrics"
        remedy = (
            "Set checks: true." if is_unchecked else f"They have {listed(sorted(known))}.{did_you_mean(name, known)}"
        )
        place = f"measures.{name}" if name in config.measures and "measures" in config.model_fields_set else "primary"
        raise InputError(f"{runs} cannot have the measure {name!r}.", place=place, remedy=remedy)
