"""Estimate the calls and the cost of an experiment or an A/B test before it starts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.corrections.config import CorrectionConfig
from evaluation.experiments.ab_runner import read_run
from evaluation.experiments.experiment import ExperimentPlan
from evaluation.insight.validator import CheckKind, EvaluationConfig
from evaluation.judging.judge_config import JudgeConfig
from evaluation.judging.live_judge import NOTHING_ASKED
from evaluation.judging.model_client.prices import Price
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.propositions import ENVIRONMENT_DIMENSIONS, Dimension
from evaluation.judging.protocol import LARGEST_BATCH
from evaluation.persona.dimensions import DIMENSIONS
from evaluation.simulation.population import NAMES_AT_ONCE
from evaluation.text.display import counted, significant_text

# Tokens of a typical call, as measured with generated personas of 250 words and messages of 40.
WRITING_TOKENS = (1_300, 70)
JUDGING_TOKENS = (2_200, 110)
_PEOPLE_TOKENS = (600, 450)
_PLANNING_CALLS = 2


@dataclass(frozen=True, slots=True)
class ModelUse:
    """Expected calls to one model; tokens are those of ``calls_at_most``."""

    model: JudgeConfig
    calls_at_least: int
    calls_at_most: int
    tokens_read: float
    tokens_written: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """Expected calls of an experiment, or of the runs of an A/B test that are left.

    At least, no message is sent back; at most, every message fails the gate until the retries are spent, interventions
    look at every agent in every step, and no two questions about a message share a call. Questions about stored games
    are counted one by one. What is kept from an earlier run of an experiment is counted all the same.

    Attributes:
        size: What is done, in words: "20 agents in 4 pairs of conversations, 10 steps".
        uses: Expected calls, each to one model.
        is_free: Whether a script takes the place of the model.
    """

    size: str
    uses: tuple[ModelUse, ...] = ()
    is_free: bool = False

    @property
    def calls_at_least(self) -> int:
        """Calls when nothing has to be asked again."""
        return sum(use.calls_at_least for use in self.uses)

    @property
    def calls_at_most(self) -> int:
        """Calls when everything has to be, without tries after a failed call."""
        return sum(use.calls_at_most for use in self.uses)

    def usd(self, price_of: Callable[[JudgeConfig], Price | None]) -> float | None:
        """The cost of ``calls_at_most`` in US dollars; ``None`` when the price of a model is not known.

        Args:
            price_of: Finds the price of a model: ``price_of`` of ``judge_config``, or another.
        """
        total = 0.0
        for use in self.uses if not self.is_free else ():
            if use.calls_at_most == 0:
                continue
            price = price_of(use.model)
            if price is None:
                return None
            total += price.cost(use.tokens_read, 0, use.tokens_written)
        return total

    def words(self, price_of: Callable[[JudgeConfig], Price | None]) -> str:
        """The estimate in a sentence."""
        if not self.calls_at_most:
            return f"{self.size}. {NOTHING_ASKED}"
        least, most = self.calls_at_least, self.calls_at_most
        calls = counted(most, "call") if least == most else f"{least:,} to {most:,} calls"
        read, written = (sum(getattr(use, name) for use in self.uses) for name in ("tokens_read", "tokens_written"))
        usd = self.usd(price_of)
        cost = "cost not known" if usd is None else f"at most about {significant_text(usd, 2)} US dollars"
        cost = "no cost" if self.is_free else cost
        return f"{self.size}: {calls}, at most {round(read):,} tokens to read and {round(written):,} to write, {cost}."


def estimate(plan: ExperimentPlan, library: PropositionLibrary, model: JudgeConfig) -> Estimate:
    """The estimate for a plan that nothing is known of yet: making people, messages, corrections, and evaluation."""
    messages = plan.people * plan.step_count
    population = plan.people + math.ceil(plan.people / NAMES_AT_ONCE) + _PLANNING_CALLS
    corrections = messages * sum(corrections_per_message(plan.scenario.treatment, library))
    rechecks = 2 if plan.has_double_check else 1
    per_agent = sum(_questions(plan, library, each) for each in DIMENSIONS if each not in ENVIRONMENT_DIMENSIONS)
    per_room = sum(_questions(plan, library, each) for each in DIMENSIONS if each in ENVIRONMENT_DIMENSIONS)
    evaluation = 2 * rechecks * (plan.people * per_agent + len(plan.rooms) * per_room)
    pairs, steps = counted(len(plan.rooms), "pair"), counted(plan.step_count, "step")
    return Estimate(
        f"{counted(plan.people, 'agent')} in {pairs} of conversations, {steps}",
        (
            _use(model, population, population, _PEOPLE_TOKENS),
            _use(model, 2 * messages, 2 * messages, WRITING_TOKENS),
            _use(model, 0, corrections, JUDGING_TOKENS),
            _use(model, evaluation, evaluation, JUDGING_TOKENS),
        ),
        is_free=plan.is_scripted,
    )


def corrections_per_message(config: CorrectionConfig, library: PropositionLibrary) -> tuple[int, int]:
    """Calls per message at most: those that judge (every attempt, and interventions), and those that write it again."""
    attempts = 1 + config.max_correction_attempts
    counts = [len(library.propositions_for(Dimension(each))) for each in config.thresholds]
    # The claims of a dimension share a call, and one call more may follow an answer that cannot be used.
    judged = attempts * sum(math.ceil(count / LARGEST_BATCH) for count in counts) + len(counts)
    interventions = int(config.variety_intervention_enabled) + int(config.anti_convergence_enabled)
    if not config.is_gate_on:
        return interventions, 0
    return judged + interventions, config.max_correction_attempts


def _questions(plan: ExperimentPlan, library: PropositionLibrary, dimension: Dimension) -> int:
    found = library.propositions_for(dimension)
    single = [one for one in found if one.is_asked_of_messages or dimension is Dimension.CONSISTENCY]
    whole = len(found) - len(single)
    sampled = min(plan.sample_size, plan.step_count)
    if not plan.is_batched or dimension is Dimension.IDEAS_QUANTITY:
        return whole + sampled * len(single)
    return math.ceil(whole / LARGEST_BATCH) + sampled * math.ceil(len(single) / LARGEST_BATCH)


def simulated_uses(
    config: Mapping[str, Any],
    speaker: JudgeConfig,
    judge: JudgeConfig | None,
    evaluation: EvaluationConfig | None,
    library: PropositionLibrary,
) -> tuple[ModelUse, ...]:
    """The expected calls of one simulated run: of the model that speaks, and of the judge.

    Args:
        config: The configuration of the run's variant.
        speaker: The model that speaks.
        judge: The model that gate, interventions and checks ask; ``None`` when none is asked.
        evaluation: The sample of messages that is checked; ``None`` for no checks.
        library: The gate's propositions.

    Raises:
        InputError: The configuration is wrong.
    """
    settings = read_run(dict(config))
    messages = len(settings.personas) * settings.steps
    judged, rewritten = corrections_per_message(settings.corrections, library)
    spoken = messages * (1 + rewritten)
    uses = [_use(speaker, messages, spoken, WRITING_TOKENS)]
    if judge is not None:
        checked = questions = 0
        if evaluation is not None:
            drawn = math.ceil(evaluation.validation_sampling_rate * messages)
            checked = min(drawn, evaluation.max_validation_calls)
            questions = min(drawn * len(CheckKind), evaluation.max_validation_calls)
        uses.append(_use(judge, checked, messages * judged + questions, JUDGING_TOKENS))
    return tuple(uses)


def _use(model: JudgeConfig, least: int, most: int, tokens: tuple[int, int]) -> ModelUse:
    return ModelUse(model, least, most, most * tokens[0], most * tokens[1])
