"""Runs of an A/B test and what they add up to for each variant."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Better = Literal["higher", "lower", "neither"]
"""Which direction of a measure is better; ``neither`` is compared but decides nothing."""


RunStatus = Literal["done", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class RunResult:
    """One run.

    Attributes:
        variant: Of which variant.
        run_index: From 0.
        seed: The seed that it got.
        status: Only ``done`` has metrics. ``failed``: it could not be run. ``skipped``: a limit was reached.
        metrics: By name; ``None`` where a figure is not known.
        validations: Checks of its messages, as ``ValidationResult.as_dict`` gives them.
        detail: Why it failed or was skipped.
        reference: The stored transcript that it is; empty for none.
        is_resumed: Whether it was run by an earlier call.
    """

    variant: str
    run_index: int
    seed: int
    status: RunStatus
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    validations: tuple[Mapping[str, Any], ...] = ()
    detail: str = ""
    reference: str = ""
    is_resumed: bool = False

    def value(self, measure: str) -> float:
        """The run's value, NaN where it has none."""
        found = self.metrics.get(measure)
        return math.nan if found is None else float(found)


@dataclass(frozen=True, slots=True)
class VariantResults:
    """All runs of a variant.

    Attributes:
        avg_metrics: Mean over the runs that have a value; ``None`` where none has.
        validation_pass_rate: Passed over scored checks of all its runs together; ``None`` when none was scored.
    """

    variant_name: str
    runs: tuple[RunResult, ...]
    avg_metrics: Mapping[str, float | None]
    validation_pass_rate: float | None

    @property
    def verdicts(self) -> list[bool]:
        """Whether each scored check of all its runs passed."""
        return [bool(one["passed"]) for run in self.runs for one in run.validations if one["passed"] is not None]
