"""Estimate the calls and the cost of an experiment before it starts."""

from __future__ import annotations

import math
from dataclasses import dataclass

from evaluation.corrections.config import CorrectionConfig
from evaluation.experiments.plan import ExperimentPlan
from evaluation.judging.model_client.calls import Price
from evaluation.judging.propositions.loading import PropositionLibrary
from evaluation.judging.propositions.proposition import ENVIRONMENT_DIMENSIONS, Dimension
from evaluation.judging.protocol import LARGEST_BATCH
from evaluation.persona.results import DIMENSIONS
from evaluation.simulation.population.factory import NAMES_AT_ONCE

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
    per_message = sum(corrections_per_message(design.treatment, library))
    rechecks = 2 if plan.has_double_check else 1
    per_agent = sum(_questions(plan, library, each) for each in DIMENSIONS if each not in ENVIRONMENT_DIMENSIONS)
    per_room = sum(_questions(plan, library, each) for each in DIMENSIONS if each in ENVIRONMENT_DIMENSIONS)
    evaluation = 2 * rechecks * (design.agent_sessions * per_agent + len(design.rooms) * per_room)
    return Estimate(population, 2 * messages, messages * per_message, evaluation, price)


def corrections_per_message(config: CorrectionConfig, library: PropositionLibrary) -> tuple[int, int]:
    """Calls per message at most: those that judge (every attempt, and interventions), and those that write it again."""
    attempts = 1 + config.max_correction_attempts
    counts = [len(library.propositions_for(Dimension(each)).propositions) for each in config.thresholds]
    # The claims of a dimension share a call, and one call more may follow an answer that cannot be used.
    judged = attempts * sum(math.ceil(count / LARGEST_BATCH) for count in counts) + len(counts)
    interventions = int(config.variety_intervention_enabled) + int(config.anti_convergence_enabled)
    if not config.is_gate_on:
        return interventions, 0
    return judged + interventions, config.max_correction_attempts


def _questions(plan: ExperimentPlan, library: PropositionLibrary, dimension: Dimension) -> int:
    found = library.propositions_for(dimension).propositions
    single = [one for one in found if one.is_asked_of_messages or dimension is Dimension.CONSISTENCY]
    whole = len(found) - len(single)
    sampled = min(plan.sample_size, plan.step_count)
    if not plan.is_batched or dimension is Dimension.IDEAS_QUANTITY:
        return whole + sampled * len(single)
    return math.ceil(whole / LARGEST_BATCH) + sampled * math.ceil(len(single) / LARGEST_BATCH)
