"""Configuration of an A/B test: variants, runs, seeds, measures and limits."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evaluation.errors import InputError
from evaluation.insight.config import LARGEST_SEED, EvaluationConfig

PASS_RATE = "validation_pass_rate"
COST = "estimated_cost_usd"

Better = Literal["higher", "lower", "neither"]
"""Which direction of a measure is better; ``neither`` is compared but decides nothing."""

Source = Literal["metrics", "transcripts", "simulation"]
Name = Annotated[str, Field(min_length=1, max_length=200)]

ADR_MEASURES: dict[str, Better] = {
    PASS_RATE: "higher",
    "total_messages": "neither",
    "avg_response_length": "neither",
    "total_reflections": "neither",
    COST: "lower",
}
"""What is compared unless the file says otherwise (ADR-010)."""


class ABConfig(BaseModel):
    """An A/B test.

    Attributes:
        name: What it is called.
        source: Where runs come from. ``metrics``: numbers in this file. ``transcripts``: stored games of an iteration.
            ``simulation``: each run is simulated.
        base: The configuration that all variants share.
        variants: What each variant changes in it, by keys with dots: ``agents.temperature: 0.2``.
        runs_per_variant: How many runs; those of ``evaluation`` when left out, or all stored ones.
        seed: Of the first run of every variant; the next runs count on. Runs with the same seed are pairs.
        measures: What is compared, and which direction is better.
        primary: The measure that decides.
        checks: Whether a judge checks a sample of every run's messages, which gives ``validation_pass_rate``.
        max_usd: What all runs together may cost, in US dollars.
        max_runs: How many runs one call may make; the others wait for the next.
        evaluation: Thresholds, sample and the relative difference that is called practical.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name
    source: Source
    base: dict[str, Any] = Field(default_factory=dict)
    variants: dict[Name, dict[str, Any]] = Field(min_length=2, max_length=20)
    runs_per_variant: Annotated[int, Field(strict=True, ge=1, le=10_000)] | None = None
    seed: Annotated[int, Field(strict=True, ge=0, le=LARGEST_SEED)] = 0
    measures: dict[Name, Better] = Field(default_factory=lambda: dict(ADR_MEASURES), min_length=1, max_length=50)
    primary: Name = PASS_RATE
    checks: bool = True
    max_usd: Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)] | None = None
    max_runs: Annotated[int, Field(strict=True, ge=1)] | None = None
    evaluation: EvaluationConfig = Field(default_factory=EvaluationConfig)

    @model_validator(mode="after")
    def _primary_decides(self) -> Self:
        if self.measures.get(self.primary, "neither") == "neither":
            raise ValueError(f"{self.primary!r}, the primary measure, must be among measures, as higher or lower")
        return self


def variant_config(config: ABConfig, variant: str) -> dict[str, Any]:
    """The configuration of a variant: a deep copy, so that no variant can change another's.

    Raises:
        InputError: A change names a setting that the base does not have.
    """
    own = deepcopy(config.base)
    for key, value in config.variants[variant].items():
        _override(own, key, deepcopy(value), f"variants.{variant}", is_free=not config.base)
    return own


def _override(config: dict[str, Any], key: str, value: Any, place: str, *, is_free: bool) -> None:
    """Sets one value by its key with dots. A base without any settings takes every key."""
    target: Any = config
    *path, last = key.split(".")
    for part in path:
        if is_free and isinstance(target, dict):
            target.setdefault(part, {})
        target = target.get(part) if isinstance(target, Mapping) else None
    if not isinstance(target, dict) or not (is_free or last in target):
        remedy = "Correct the key, or put its usual value into base."
        raise InputError(f"The base has no setting {key!r}.", place=place, remedy=remedy)
    target[last] = value
