"""Estimate the calls and the cost of an experiment or an A/B test before it starts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.corrections.config import CorrectionConfig, read_config
from evaluation.experiments.ab_sources import read_run
from evaluation.experiments.plan import ExperimentPlan
from evaluation.insight.config import EvaluationConfig
from evaluation.insight.validator import CheckKind
from evaluation.judging.judge_config import JudgeConfig
from evaluation.judging.live_judge import NOTHING_ASKED
from evaluation.judging.model_client.prices import Price
from evaluation.judging.proposition_files import PropositionLibrary
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
class Estimate:
    """Calls at least and at most, and their cost at most.

    At most: every message of the treatment fails the gate until the retries are spent, and interventions look at every
    agent in every step. What is kept from an earlier run costs nothing and is counted here all the same.

    Attributes:
        population: Calls that make the agents.
        messages: Calls that write messages, without retries.
        corrections: Calls of gate and interventions with the retries that they cause, at most.
        evaluation: Calls that judge what was said.
        price: Of the model's tokens; ``None`` when nobody knows.
    """

    population: int
    messages: int
    corrections: int
    evaluation: int
    price: Price | None = None

    @property
    def at_least(self) -> int:
        """Calls when no message is sent back and no intervention asks."""
        return self.population + self.messages + self.evaluation

    @property
    def at_most(self) -> int:
        """Calls when everything is."""
        return self.at_least + self.corrections

    @property
    def usd(self) -> float | None:
        """The cost of ``at_most`` in US dollars, from typical lengths; ``None`` without a price."""
        if self.price is None:
            return None
        judging = self.corrections + self.evaluation
        return (
            self.population * self.price.cost(_PEOPLE_TOKENS[0], 0, _PEOPLE_TOKENS[1])
            + self.messages * self.price.cost(WRITING_TOKENS[0], 0, WRITING_TOKENS[1])
            + judging * self.price.cost(JUDGING_TOKENS[0], 0, JUDGING_TOKENS[1])
        )

    @property
    def words(self) -> str:
        """In a sentence: "3,214 to 5,010 calls, at most about $4.20"."""
        cost = "at a price that nobody knows" if self.usd is None else f"at most about ${self.usd:,.2f}"
        return f"{self.at_least:,} to {self.at_most:,} calls to the model, {cost}"


def estimate(plan: ExperimentPlan, library: PropositionLibrary, price: Price | None = None) -> Estimate:
    """The estimate for a plan that nothing is known of yet."""
    design = plan.design
    messages = design.agent_sessions * plan.step_count
    people = 0 if plan.personas else design.personas
    population = people + math.ceil(people / NAMES_AT_ONCE) + (_PLANNING_CALLS if people else 0)
    per_message = sum(corrections_per_message(plan.scenario.treatment, library))
    rechecks = 2 if plan.has_double_check else 1
    per_agent = sum(_questions(plan, library, each) for each in DIMENSIONS if each not in ENVIRONMENT_DIMENSIONS)
    per_room = sum(_questions(plan, library, each) for each in DIMENSIONS if each in ENVIRONMENT_DIMENSIONS)
    evaluation = 2 * rechecks * (design.agent_sessions * per_agent + len(design.rooms) * per_room)
    return Estimate(population, 2 * messages, messages * per_message, evaluation, price)


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


@dataclass(frozen=True, slots=True)
class ModelUse:
    """Expected calls to one model; tokens are those of ``calls_at_most``."""

    model: JudgeConfig
    calls_at_least: int
    calls_at_most: int
    tokens_read: float
    tokens_written: float


@dataclass(frozen=True, slots=True)
class ABEstimate:
    """Expected calls of the runs that are left.

    Of stored games the questions are counted one by one. Of simulated runs they follow from agents and steps: at least,
    no message is sent back and the questions about a checked message share a call; at most, every message fails the
    gate until the retries are spent, and every question has a call of its own.

    Attributes:
        runs: All runs of the test.
        known: Runs that are done already.
        uses: Expected calls, each to one model.
    """

    runs: int
    known: int
    uses: tuple[ModelUse, ...] = ()

    @property
    def calls_at_least(self) -> int:
        """Calls when nothing has to be asked again."""
        return sum(one.calls_at_least for one in self.uses)

    @property
    def calls_at_most(self) -> int:
        """Calls when everything has to be, without tries after a failed call."""
        return sum(one.calls_at_most for one in self.uses)

    def usd(self, price_of: Callable[[JudgeConfig], Price | None]) -> float | None:
        """The cost of ``calls_at_most`` in US dollars; ``None`` when the price of a model is not known.

        Args:
            price_of: Finds the price of a model: ``own_price`` or ``price_of`` of ``judge_config``.
        """
        total = 0.0
        for one in self.uses:
            if one.calls_at_most == 0:
                continue
            price = price_of(one.model)
            if price is None:
                return None
            total += price.cost(one.tokens_read, 0, one.tokens_written)
        return total

    def words(self, usd: float | None) -> str:
        """The estimate in a sentence; ``usd`` is ``None`` when the cost is not known."""
        before = f", {self.known:,} of them done before" if self.known else ""
        runs = f"{counted(self.runs, 'run')}{before}"
        if not self.calls_at_most:
            return f"{runs}. {NOTHING_ASKED}"
        least, most = self.calls_at_least, self.calls_at_most
        calls = counted(most, "call") if least == most else f"{least:,} to {most:,} calls"
        read, written = (sum(getattr(one, name) for one in self.uses) for name in ("tokens_read", "tokens_written"))
        cost = "cost not known" if usd is None else f"at most about {significant_text(usd, 2)} US dollars"
        return f"{runs}: {calls}, at most {round(read):,} tokens to read and {round(written):,} to write, {cost}."


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
    judged, rewritten = corrections_per_message(read_config(settings.corrections), library)
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
