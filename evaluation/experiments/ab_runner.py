"""A/B tests: variants of one configuration, their runs, and the comparison of these."""

from __future__ import annotations

import hashlib
import json
import math
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evaluation.errors import DramaturgError, InputError
from evaluation.experiments.plan import AB_TEST
from evaluation.experiments.results import (
    Better,
    RunResult,
    StudyResult,
    comparisons,
    passed_share,
    reasons,
    recommendation,
    variant_results,
    winner,
)
from evaluation.insight.config import LARGEST_SEED, EvaluationConfig
from evaluation.insight.metrics import SimulationMetrics
from evaluation.insight.validator import BUDGET, ValidationResult, Validator
from evaluation.judged_by import Judges
from evaluation.judging.model_client.budget import BudgetSpentError, tallied_calls
from evaluation.judging.protocol import Judge, JudgementStatus
from evaluation.progress import ProgressCallback, no_progress
from evaluation.transcript import Transcript

PASS_RATE = "validation_pass_rate"
COST = "estimated_cost_usd"


Source = Literal["transcripts", "simulation"]
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
        source: Where runs come from. ``transcripts``: stored games. ``simulation``: each run is simulated.
        base: The configuration that all variants share.
        variants: What each variant changes in it, by keys with dots: ``agents.temperature: 0.2``.
        runs_per_variant: How many runs; those of ``evaluation`` when left out, or all stored ones.
        seed: Of the first run of every variant; the next runs count on. Runs with the same seed are pairs.
        measures: What is compared, and which direction is better.
        primary: The measure that decides.
        checks: Whether a judge checks a sample of every run's messages, which gives ``validation_pass_rate``. When left
            out: of what is run, not of what is stored.
        max_usd: What the runs of one call may cost together, in US dollars; the others wait for the next.
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
    checks: bool | None = None
    max_usd: Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)] | None = None
    evaluation: EvaluationConfig = Field(default_factory=EvaluationConfig)

    @property
    def is_checked(self) -> bool:
        """Whether a judge checks messages of this test's runs."""
        return self.source == "simulation" if self.checks is None else self.checks

    @property
    def kind(self) -> str:
        """``AB_TEST``."""
        return AB_TEST

    @property
    def id(self) -> str:
        """A UUID made of what the file says, as which measures it chose decides what is checked."""
        written = self.model_dump(mode="json", exclude_unset=True)
        return str(uuid.uuid5(_NAMESPACE, json.dumps(written, sort_keys=True)))

    @model_validator(mode="after")
    def _primary_decides(self) -> Self:
        if self.measures.get(self.primary, "neither") == "neither":
            raise ValueError(f"{self.primary!r}, the primary measure, must be among measures, as higher or lower")
        return self


_NAMESPACE = uuid.UUID("0f4c8b52-33f5-4c0f-8a43-0a1d7d6a9c11")


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


_LONGEST_REASON = 200


def unscored_checks(runs: Sequence[RunResult]) -> list[str]:
    """The number of checks without a score, with the commonest reason; empty when all have one."""
    checks = [one for run in runs for one in run.validations]
    unscored = Counter(one.explanation[:_LONGEST_REASON] for one in checks if one.score is None)
    if not unscored:
        return []
    reason, count = unscored.most_common(1)[0]
    return [f"{unscored.total()} of {len(checks)} checks have no score; {count} of them: {reason.rstrip('.')}."]


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The outcome of one run.

    Attributes:
        metrics: Figures by name; ``None`` where one is not known.
        transcript: What was said, where there is anything to check.
        personas: Persona texts by player.
        judges: Who judged the figures that a judge decided.
        leads: As in ``RunResult``.
    """

    metrics: Mapping[str, float | None]
    transcript: Transcript | None = None
    personas: Mapping[str, str] | None = None
    judges: Mapping[str, Judges] = field(default_factory=dict)
    leads: Mapping[str, float] = field(default_factory=dict)


Run = Callable[[dict[str, Any], int], Awaitable[RunOutcome]]
"""Runs a configuration with a seed. What it changes in the configuration, nobody else sees."""

KeepRun = Callable[[RunResult], None]
"""Keeps a run that is done."""


PlannedRun = tuple[RunResult, dict[str, Any]]
"""A run to be made, with a configuration of its own."""


def plan(config: ABConfig) -> list[PlannedRun]:
    """All runs, variant by variant in turn, so that what a limit leaves is balanced.

    A variant of stored games is as long as its list ``runs`` (at most ``runs_per_variant``), and each run gets its own
    entry.

    Raises:
        InputError: A variant changes a setting that the base does not have.
    """
    variants = [_runs_of(config, name) for name in config.variants]
    return [run for row in zip_longest(*variants) for run in row if run is not None]


def _runs_of(config: ABConfig, variant: str) -> list[PlannedRun]:
    own, count = variant_config(config, variant), config.runs_per_variant
    if config.source == "simulation":
        configs = [own] * (count or config.evaluation.default_runs_per_variant)
    else:
        configs = [{"run": one} for one in own.get("runs", [])][:count]
    return [(RunResult(variant, index, seed=config.seed + index), one) for index, one in enumerate(configs)]


class ExperimentRunner:
    """Makes the runs of one A/B test and compares them.

    Args:
        config: The test.
        run: Makes one run.
        judge: Checks messages; ``None`` checks nothing.
        known: The runs that earlier calls made, by key.
        keep: Told of every further one that is final.
        asked: Who judges and who speaks; runs that others answered are made again.
    """

    def __init__(
        self,
        config: ABConfig,
        run: Run,
        *,
        judge: Judge | None = None,
        known: Mapping[str, RunResult] = MappingProxyType({}),
        keep: KeepRun | None = None,
        asked: str = "",
    ) -> None:
        self._config = config
        self._asked = asked
        self._run = run
        self._validator = Validator(judge, config.evaluation.validation()) if judge and config.is_checked else None
        self._known = known
        self._keep = keep

    async def run_ab_test(self, report: ProgressCallback = no_progress) -> StudyResult:
        """The result over all runs, those of earlier calls included.

        A run that fails is listed with its reason, and the others go on.

        Raises:
            InputError: A variant is wrong, or the runs cannot be kept.
        """
        runs: list[RunResult] = []
        everything = plan(self._config)
        for run, config in everything:
            runs.append(await self._one(run, config))
            report(len(runs), len(everything))
        return self._result(runs)

    async def _one(self, run: RunResult, config: dict[str, Any]) -> RunResult:
        try:
            with tallied_calls(run.activity):
                # What is stored is read again every time: that costs nothing, and its scores may have changed.
                stored = await self._run(deepcopy(config), run.seed) if self._config.source == "transcripts" else None
                checks = self._config.evaluation.model_dump_json() if self._validator else ""
                decisive = [self._config.source, checks, self._asked, _content(stored), run.variant, run.seed, config]
                key = hashlib.sha256(json.dumps(decisive, sort_keys=True, default=str).encode("utf-8")).hexdigest()
                if known := self._known.get(key):
                    known = replace(known, run_index=run.run_index, is_resumed=True)
                    return known if stored is None else _done(known, stored)
                outcome = stored or await self._run(deepcopy(config), run.seed)
                checked = await self._validated(outcome)
        except BudgetSpentError as error:
            return replace(run, status="skipped", detail=error.reason)
        except Exception as error:  # noqa: BLE001 - a run is somebody's function, and the others must go on
            return replace(run, status="failed", detail=_reason(error))
        made = _done(replace(run, validations=checked, key=key), outcome)
        if self._keep and self._is_final(made):
            self._keep(made)
        return made

    def _is_final(self, made: RunResult) -> bool:
        """Whether another call could learn no more: some check that was asked for has a score, or none was asked for.

        A simulated run costs money, so only one that nobody could judge is made again; a game is there already.
        """
        useless = {JudgementStatus.NOT_SCORED}
        if self._config.source == "transcripts":
            useless.add(JudgementStatus.ERROR)
        asked = [one for one in made.validations if one.is_asked]
        return not asked or any(one.status not in useless for one in asked)

    async def _validated(self, outcome: RunOutcome) -> tuple[ValidationResult, ...]:
        if self._validator is None or outcome.transcript is None:
            return ()
        self._validator.reset_budget()
        checked = (await self._validator.validate_transcript(outcome.transcript, outcome.personas)).results
        # Where the judge's money ran out in the middle, the run is made again when there is more. What the validator's
        # own limit left out was never asked, and is not a reason to make it again.
        if any(one.is_asked and one.status is JudgementStatus.SKIPPED for one in checked):
            raise BudgetSpentError(BUDGET)
        return checked

    def _result(self, runs: Sequence[RunResult]) -> StudyResult:
        config = self._config
        by_variant = {name: [run for run in runs if run.variant == name] for name in config.variants}
        found = comparisons(
            by_variant,
            config.measures,
            primary=config.primary,
            threshold=config.evaluation.significance_threshold,
            is_paired=config.source == "simulation",
        )
        best = winner(found, list(config.variants), config.primary)
        costs = [run.activity.known_usd for run in runs]
        return StudyResult(
            {name: variant_results(name, own, config.measures) for name, own in by_variant.items()},
            tuple(found),
            config.primary,
            best,
            recommendation(found, best, config.primary),
            (*reasons(found, best, config.primary), *unscored_checks(runs)),
            None if None in costs else math.fsum(cost or 0.0 for cost in costs),
        )


def _done(run: RunResult, outcome: RunOutcome) -> RunResult:
    """The run with what came of it, and the share of its checks that passed."""
    share = passed_share([run])
    return replace(
        run,
        metrics={**outcome.metrics} if share is None else {**outcome.metrics, PASS_RATE: share},
        judges=dict(outcome.judges),
        leads=dict(outcome.leads),
        transcript_id=outcome.transcript.id if outcome.transcript else "",
    )


def _reason(error: Exception) -> str:
    """Why a run failed; what we did not raise is named by its type too."""
    return str(error) if isinstance(error, DramaturgError) else f"{type(error).__name__}: {error}".rstrip(": ")


def _content(stored: RunOutcome | None) -> str:
    """The identity of a stored game's messages and speakers; a mended game, or another persona, is checked again."""
    if stored is None or stored.transcript is None:
        return ""
    return json.dumps([stored.transcript.id, stored.personas and dict(stored.personas)], sort_keys=True)


def flat_metrics(metrics: SimulationMetrics) -> dict[str, float | None]:
    """The figures of a game that are one number each, by their names in the ADR."""
    network = metrics.network
    own = {name: getattr(metrics, name) for name in _FIGURES}
    return own | {name: getattr(network, name, None) for name in _NETWORK_FIGURES}


_FIGURES = (
    "total_messages",
    "avg_response_length",
    "total_reflections",
    "avg_memory_importance",
    "retrieval_calls",
    "retrieval_hit_rate",
    "total_tokens",
    "api_calls",
    COST,
)
_NETWORK_FIGURES = ("density", "reciprocity", "clustering_coefficient", "avg_path_length", "diameter", "components")

FIGURES = (*_FIGURES, *_NETWORK_FIGURES)
"""The names of what ``flat_metrics`` gives."""
