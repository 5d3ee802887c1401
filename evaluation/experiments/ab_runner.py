"""Runs the variants of an A/B test, within limits, and takes up again where an earlier call stopped.

Source: ADR-010, ``ExperimentRunner``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import zip_longest
from statistics import fmean
from typing import Any

from evaluation.errors import DramaturgError, InputError
from evaluation.experiments.ab_comparisons import (
    comparisons,
    passed_share,
    reasons,
    recommendation,
    unscored_checks,
    winner,
)
from evaluation.experiments.ab_config import COST, PASS_RATE, ABConfig, variant_config
from evaluation.experiments.ab_progress import Progress
from evaluation.experiments.ab_results import ABTestResult, RunResult, VariantResults
from evaluation.insight.metrics import SimulationMetrics
from evaluation.insight.validation import BUDGET, ValidationResult, Validator
from evaluation.judging.budget import BudgetSpentError
from evaluation.judging.protocol import Judge, JudgementStatus
from evaluation.transcript import Transcript

MAX_RUNS = "limit of runs"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run gave.

    Attributes:
        metrics: Figures by name; ``None`` where one is not known.
        transcript: What was said, where there is anything to check.
        personas: Persona texts by player.
        reference: The stored transcript that it is; empty for none.
    """

    metrics: Mapping[str, float | None]
    transcript: Transcript | None = None
    personas: Mapping[str, str] | None = None
    reference: str = ""


Run = Callable[[dict[str, Any], int], Awaitable[Outcome | Mapping[str, float | None]]]
"""Runs a configuration with a seed. What it changes in the configuration, nobody else sees."""

Told = Callable[[RunResult], None]
"""Told of every run as soon as it is done, failed or skipped."""


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run to be made, with a configuration of its own."""

    variant: str
    run_index: int
    seed: int
    config: dict[str, Any]

    def key(self, source: str, checks: str) -> str:
        """Changes with anything that decides what the run gives: SHA-256, hexadecimal."""
        parts = [source, checks, self.variant, self.seed, self.config]
        return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode("utf-8")).hexdigest()


def plan(config: ABConfig) -> list[PlannedRun]:
    """All runs, variant by variant in turn, so that what a limit leaves is balanced.

    A variant whose configuration has a list ``runs`` is as long as that list (at most ``runs_per_variant``), and each
    run gets its own entry: stored transcripts and metrics are named like this.

    Raises:
        InputError: A variant changes a setting that the base does not have, or its runs are no list.
    """
    variants = [_runs_of(config, name) for name in config.variants]
    return [run for row in zip_longest(*variants) for run in row if run is not None]


def _runs_of(config: ABConfig, variant: str) -> list[PlannedRun]:
    own = variant_config(config, variant)
    if config.source == "simulation":
        count = config.runs_per_variant or config.evaluation.default_runs_per_variant
        configs = [deepcopy(own) for _ in range(count)]
    else:
        listed = own.get("runs", [])
        if not isinstance(listed, list):
            raise InputError(
                f"{listed!r:.40} is no list of runs.", place=f"variants.{variant}.runs", remedy="Write one run a line."
            )
        configs = [{"run": one} for one in listed][: config.runs_per_variant]
    return [PlannedRun(variant, index, config.seed + index, one) for index, one in enumerate(configs)]


class ExperimentRunner:
    """Makes the runs of one A/B test and compares them.

    Args:
        config: The test.
        run: Makes one run.
        judge: Checks messages; ``None`` checks nothing.
        spent: What this call has spent so far in US dollars, on runs and on judging. When left out, it is taken from
            the runs' own ``estimated_cost_usd``.
        progress: The runs that are done already; only in memory when left out.
    """

    def __init__(
        self,
        config: ABConfig,
        run: Run,
        *,
        judge: Judge | None = None,
        spent: Callable[[], float] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._config = config
        self._run = run
        self._validator = Validator(judge, config.evaluation.validation()) if judge and config.checks else None
        self._spent_now = spent
        self._progress = progress or Progress()
        self._spent_by_runs = 0.0
        self._made = 0

    async def run_ab_test(self, tell: Told | None = None) -> ABTestResult:
        """The result over all runs, those of earlier calls included.

        A run that fails is listed with its reason, and the others go on.

        Raises:
            InputError: A variant is wrong, or the runs cannot be kept.
        """
        runs = []
        for planned in plan(self._config):
            runs.append(await self._one(planned))
            if tell:
                tell(runs[-1])
        return self._result(runs)

    async def _one(self, planned: PlannedRun) -> RunResult:
        key = planned.key(self._config.source, self._checks())
        known = self._progress.find(key)
        if known is not None:
            self._count(known)
            self._spent_by_runs += sum(one.get("usage_usd") or 0.0 for one in known.validations)
            return known
        limit = self._limit()
        if limit:
            return RunResult(planned.variant, planned.run_index, planned.seed, "skipped", detail=limit)
        self._made += 1
        made = await self._attempt(planned)
        if made.status == "done":
            if self._spent_now is None:
                self._count(made)
            self._progress.keep(key, made)
        return made

    def _checks(self) -> str:
        return self._config.evaluation.model_dump_json() if self._validator else ""

    def _limit(self) -> str:
        """Which limit forbids another run; empty when none does."""
        if self._config.max_usd is not None and self.spent_usd >= self._config.max_usd:
            return BUDGET
        is_full = self._config.max_runs is not None and self._made >= self._config.max_runs
        return MAX_RUNS if is_full else ""

    @property
    def spent_usd(self) -> float:
        """What simulated runs and their judging cost so far. Stored runs were paid for long ago."""
        return self._spent_by_runs + (self._spent_now() if self._spent_now else 0.0)

    def _count(self, run: RunResult) -> None:
        if self._config.source == "simulation":
            self._spent_by_runs += run.metrics.get(COST) or 0.0

    async def _attempt(self, planned: PlannedRun) -> RunResult:
        place = (planned.variant, planned.run_index, planned.seed)
        try:
            made = await self._run(deepcopy(planned.config), planned.seed)
        except DramaturgError as error:
            return RunResult(*place, "failed", detail=str(error))
        except BudgetSpentError as error:
            return RunResult(*place, "skipped", detail=str(error))
        outcome = made if isinstance(made, Outcome) else Outcome(made)
        checked = await self._validated(outcome)
        if self._is_cut_short(checked):
            return RunResult(*place, "skipped", detail=BUDGET)
        validations = tuple([one.as_dict() for one in checked])
        result = RunResult(*place, "done", dict(outcome.metrics), validations, reference=outcome.reference)
        share = passed_share([result])
        metrics = dict(outcome.metrics) if share is None else {**outcome.metrics, PASS_RATE: share}
        return RunResult(*place, "done", metrics, validations, reference=outcome.reference)

    async def _validated(self, outcome: Outcome) -> list[ValidationResult]:
        if self._validator is None or outcome.transcript is None:
            return []
        self._validator.reset_budget()
        return await self._validator.validate_transcript(outcome.transcript, outcome.personas)

    def _is_cut_short(self, checked: Sequence[ValidationResult]) -> bool:
        """Whether the judge's money ran out in the middle: such a run is made again, when there is more."""
        skipped = [one for one in checked if one.status is JudgementStatus.SKIPPED]
        asked = sum(one.status in (JudgementStatus.SCORED, JudgementStatus.ERROR) for one in checked)
        return bool(skipped) and asked < self._config.evaluation.max_validation_calls

    def _result(self, runs: Sequence[RunResult]) -> ABTestResult:
        config = self._config
        variants = {name: self._variant(name, [run for run in runs if run.variant == name]) for name in config.variants}
        found = comparisons(
            variants,
            config.measures,
            threshold=config.evaluation.significance_threshold,
            is_paired=config.source == "simulation",
        )
        best = winner(found, list(variants), config.primary)
        return ABTestResult(
            config.name,
            variants,
            tuple(found),
            config.primary,
            best,
            recommendation(found, best, config.primary),
            (*reasons(found, best, config.primary), *unscored_checks(runs)),
            self.spent_usd,
        )

    def _variant(self, name: str, runs: Sequence[RunResult]) -> VariantResults:
        averages = {}
        for measure in self._config.measures:
            values = [value for run in runs if (value := run.metrics.get(measure)) is not None]
            averages[measure] = fmean(values) if values else None
        return VariantResults(name, tuple(runs), averages, passed_share(runs))


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
