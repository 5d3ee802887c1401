"""Counts of a simulation (memory, searches, calls) under one key of its transcript's metadata."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluation.errors import InputError
from evaluation.insight.figures.metrics import MEMORY_FIELDS, SimulationMetrics
from evaluation.judging.answer_parsing import describe
from evaluation.transcript import Transcript

COUNTS_KEY = "simulation_counts"
"""The key in a transcript's metadata."""

_Count = Annotated[int, Field(strict=True, ge=0, le=10**12)]
_PerAgent = dict[Annotated[str, Field(min_length=1, max_length=200)], _Count]


class SimulationCounts(BaseModel):
    """Memory and calls of a simulation; the fields are those of ``SimulationMetrics``, ``None`` where not counted."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    observations_per_agent: _PerAgent | None = None
    reflections_per_agent: _PerAgent | None = None
    total_reflections: _Count | None = None
    avg_memory_importance: Annotated[float, Field(strict=True, allow_inf_nan=False)] | None = None
    retrieval_calls: _Count | None = None
    retrievals_per_agent: _PerAgent | None = None
    retrieval_hit_rate: Annotated[float, Field(strict=True, ge=0, le=1)] | None = None
    total_tokens: _Count | None = None
    tokens_per_agent: _PerAgent | None = None
    api_calls: _Count | None = None
    calls_per_agent: _PerAgent | None = None
    estimated_cost_usd: Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)] | None = None
    unpriced_calls: _Count | None = None


CALL_FIELDS = tuple(name for name in SimulationCounts.model_fields if name not in MEMORY_FIELDS)


def with_counts(transcript: Transcript, metrics: SimulationMetrics) -> Transcript:
    """The transcript with what was counted while it was simulated; it gets another id."""
    known = {name: getattr(metrics, name) for name in SimulationCounts.model_fields}
    counts: dict[str, Any] = {name: value for name, value in known.items() if value is not None}
    fields = {name: getattr(transcript, name) for name in Transcript.model_fields}
    return Transcript.model_validate({**fields, "metadata": {**transcript.metadata, COUNTS_KEY: counts}})


def stored_counts(transcript: Transcript) -> SimulationCounts:
    """Counts made while the transcript was simulated; every field is ``None`` where nothing is stored.

    Raises:
        InputError: The metadata hold something else under the key; names the field.
    """
    try:
        return SimulationCounts.model_validate(transcript.metadata.get(COUNTS_KEY, {}))
    except ValidationError as error:
        remedy = "Correct the file and import it again; docs/insights.md describes the key."
        raise InputError(f"{describe(error)}.", place=f"metadata.{COUNTS_KEY}", remedy=remedy) from None
