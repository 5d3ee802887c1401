"""Existing runs for an A/B test: numbers in its file, and stored games."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evaluation.errors import InputError
from evaluation.experiments.ab.config import ABConfig
from evaluation.experiments.ab.runner import Run, RunOutcome, flat_metrics, plan
from evaluation.insight.figures.addressing import transcript_metrics
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
