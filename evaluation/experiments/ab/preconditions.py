"""Refuse an A/B test that cannot give a result, before anything is run or paid for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evaluation.corrections.config import read_config
from evaluation.errors import InputError
from evaluation.experiments.ab.config import PASS_RATE, ABConfig, variant_config
from evaluation.experiments.ab.runner import FIGURES, PlannedRun, plan
from evaluation.experiments.ab.simulation import read_run
from evaluation.experiments.ab.sources import check_numbers
from evaluation.files.yaml_models import did_you_mean
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.text.display import listed

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
