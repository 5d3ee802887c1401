"""Settings of run-time corrections for each agent; all are off by default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluation.errors import InputError, own_words
from evaluation.files.strict_json import shorten

DIMENSIONS = ("adherence", "consistency", "fluency", "suitability")
"""What the gate can judge a message by, in the order of the specification."""

Mark = Annotated[float, Field(ge=0, le=9, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class CorrectionConfig(BaseModel):
    """One agent's row of ``agent_evaluation_config``, with the defaults of the specification's table.

    Thresholds are on the scale from 0 to 9: a dimension passes at its threshold or above. ``max_action_similarity``,
    ``convergence_threshold`` and ``repetition_threshold`` are shares from 0 to 1. ``max_correction_attempts`` counts
    the retries after the first attempt. ``minimum_required_qty_of_actions`` is how often an agent acts before the gate
    wakes up; ``variety_message_threshold`` how often before it may be told to vary.

    Source: persona evaluation specification, ``agent_evaluation_config``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    gate_adherence_enabled: bool = False
    gate_consistency_enabled: bool = False
    gate_fluency_enabled: bool = False
    gate_suitability_enabled: bool = False
    gate_adherence_threshold: Mark = 7.0
    gate_consistency_threshold: Mark = 7.0
    gate_fluency_threshold: Mark = 7.0
    gate_suitability_threshold: Mark = 7.0
    gate_similarity_enabled: bool = False
    max_action_similarity: Share = 0.6
    max_correction_attempts: Annotated[int, Field(ge=0, le=20)] = 2
    continue_on_failure: bool = True
    minimum_required_qty_of_actions: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    anti_convergence_enabled: bool = False
    convergence_threshold: Share = 0.6
    variety_intervention_enabled: bool = False
    variety_message_threshold: Annotated[int, Field(ge=0, le=1_000_000)] = 7
    repetition_suppression_enabled: bool = False
    repetition_threshold: Share = 0.3

    @property
    def thresholds(self) -> dict[str, float]:
        """Threshold of every dimension that is turned on, in the order of ``DIMENSIONS``."""
        return {
            name: getattr(self, f"gate_{name}_threshold")
            for name in DIMENSIONS
            if getattr(self, f"gate_{name}_enabled")
        }

    @property
    def is_gate_on(self) -> bool:
        """Whether a message is checked by anything at all."""
        return bool(self.thresholds) or self.gate_similarity_enabled


def read_config(values: Mapping[str, Any]) -> CorrectionConfig:
    """The configuration with those values, and defaults for the rest.

    Raises:
        InputError: An unknown name, or values outside their range: every one is named.
    """
    try:
        return CorrectionConfig(**dict(values))
    except ValidationError as error:
        faults = [
            f"{shorten('.'.join(map(str, one['loc'])))}: {own_words(one['msg'])} (was {shorten(one['input'])})"
            for one in error.errors()
        ]
        raise InputError(
            "; ".join(faults),
            place="correction settings",
            remedy=f"Known settings: {', '.join(CorrectionConfig.model_fields)}.",
        ) from None
