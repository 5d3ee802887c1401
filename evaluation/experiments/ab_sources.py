"""Runs that exist already: numbers in the file, and games that are stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evaluation.errors import InputError
from evaluation.experiments.ab_runner import Outcome, Run, flat_metrics
from evaluation.insight.addressing import transcript_metrics
from evaluation.transcript import Transcript


async def given_metrics(config: dict[str, Any], seed: int) -> Outcome:  # noqa: ARG001 - numbers need no seed
    """The numbers of one run, as the file has them.

    Raises:
        InputError: It is no mapping of names to numbers.
    """
    given = config.get("run")
    if not isinstance(given, Mapping):
        raise InputError(f"{given!r} is no run.", remedy="Write each run as a mapping of measures to numbers.")
    for name, value in given.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not is_number:
            raise InputError(f"{name}: {value!r} is no number.", remedy="Write a number, or null for an unknown one.")
    return Outcome({str(name): None if value is None else float(value) for name, value in given.items()})


Load = Callable[[str], tuple[Transcript, Mapping[str, float | None], Mapping[str, str]]]
"""Gives a stored transcript by id, with its scores by metric and its players' personas."""


def stored_games(load: Load) -> Run:
    """Runs that read stored games: their figures and their scores on the rubric's metrics."""

    async def run(config: dict[str, Any], seed: int) -> Outcome:  # noqa: ARG001 - a stored game needs no seed
        transcript, scores, personas = load(str(config["run"]))
        metrics = flat_metrics(transcript_metrics(transcript)) | dict(scores)
        return Outcome(metrics, transcript, personas, transcript.id)

    return run
