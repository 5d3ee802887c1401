"""The validated settings of the evaluation of a discussion.

Source: ADR-010, ``EvaluationConfig`` and ``ValidationConfig``. Where the two differ (sampling rate, separate model) the
values of ``EvaluationConfig`` count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from evaluation.judging.judge_config import DEFAULT_MODEL

Share = Annotated[float, Field(strict=True, ge=0.0, le=1.0, allow_inf_nan=False)]
Count = Annotated[int, Field(strict=True, ge=0, le=1_000_000)]
LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class ValidationConfig:
    """The part of the settings that a ``Validator`` needs.

    Attributes:
        persona_adherence_threshold: What a score must reach, 0 to 1.
        consistency_threshold: The same for consistency.
        coherence_threshold: The same for coherence.
        max_validations_per_run: Checks that may be asked until ``reset_budget``; the rest is skipped.
        sampling_rate: The share of messages that is checked, 0 to 1.
        seed: Chooses them.
        use_separate_model: Whether ``evaluation_model`` judges, and not the model that wrote the messages.
        evaluation_model: The model that judges.
    """

    persona_adherence_threshold: float = 0.7
    consistency_threshold: float = 0.6
    coherence_threshold: float = 0.5
    max_validations_per_run: int = 100
    sampling_rate: float = 0.3
    seed: int = 0
    use_separate_model: bool = True
    evaluation_model: str = DEFAULT_MODEL


class EvaluationConfig(BaseModel):
    """Configuration of checks, extraction and A/B tests.

    Attributes:
        use_separate_evaluation_model: Whether ``evaluation_model`` judges; otherwise the model in force does.
        evaluation_model: As litellm names it.
        max_validation_calls: Checks in a run, at most.
        max_extraction_calls: Questions for opinions, themes and quotes in a run, at most.
        validation_sampling_rate: The share of messages that is checked, 0 to 1.
        persona_adherence_threshold: What a score must reach to pass, 0 to 1.
        consistency_threshold: The same for consistency.
        coherence_threshold: The same for coherence.
        default_runs_per_variant: Runs of every variant of an A/B test that names no number.
        significance_threshold: The relative difference from which on it is called practical, 0 to 1. It says nothing
            about significance, whatever its name in the ADR.
        seed: Chooses the messages that are checked.
        max_usd: What judging may cost, in US dollars; no limit when left out.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    use_separate_evaluation_model: StrictBool = True
    evaluation_model: str = Field(default=DEFAULT_MODEL, min_length=1, max_length=200)
    max_validation_calls: Count = 100
    max_extraction_calls: Count = 50
    validation_sampling_rate: Share = 0.3
    persona_adherence_threshold: Share = 0.7
    consistency_threshold: Share = 0.6
    coherence_threshold: Share = 0.5
    default_runs_per_variant: Annotated[int, Field(strict=True, ge=1, le=10_000)] = 3
    significance_threshold: Share = 0.1
    seed: Annotated[int, Field(strict=True, ge=0, le=LARGEST_SEED)] = 0
    max_usd: Annotated[float, Field(strict=True, ge=0.0, allow_inf_nan=False)] | None = None

    def validation(self) -> ValidationConfig:
        """The part that a ``Validator`` needs."""
        return ValidationConfig(
            persona_adherence_threshold=self.persona_adherence_threshold,
            consistency_threshold=self.consistency_threshold,
            coherence_threshold=self.coherence_threshold,
            max_validations_per_run=self.max_validation_calls,
            sampling_rate=self.validation_sampling_rate,
            seed=self.seed,
            use_separate_model=self.use_separate_evaluation_model,
            evaluation_model=self.evaluation_model,
        )

    @property
    def judge_model(self) -> str | None:
        """The model that has to judge; ``None`` for the one in force, also where a file names no model at all."""
        is_named = bool({"evaluation_model", "use_separate_evaluation_model"} & self.model_fields_set)
        return self.evaluation_model if self.use_separate_evaluation_model and is_named else None
