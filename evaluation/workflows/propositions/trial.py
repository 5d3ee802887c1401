"""Try edited propositions on a few messages before they are saved."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from evaluation.errors import InputError, NotFoundError
from evaluation.judging.judge_config import JudgeConfig, build_estimate, build_judge
from evaluation.judging.judges.estimating import NOTHING_ASKED
from evaluation.judging.model_client.budget import Budget, spent_words
from evaluation.judging.propositions.loading import PropositionLibrary
from evaluation.judging.propositions.proposition import Dimension, Proposition
from evaluation.judging.propositions.weighted_scores import PropositionScore
from evaluation.judging.questions import Options
from evaluation.persona.agents import is_channel_id
from evaluation.persona.evaluation import EvaluationPlan, evaluate_agent, questions_about
from evaluation.persona.subjects import Subject
from evaluation.store import Store
from evaluation.workflows.agents import find_subjects

TRIAL_MESSAGES = 3


@dataclass(frozen=True, slots=True)
class Trial:
    """Edited propositions, and the agent whose first sampled messages they are tried on.

    Attributes:
        agent_id: The agent; for a dimension of channels, a channel, of which one conversation is judged.
        propositions: All of one dimension, as edited.
        config: The judge.
    """

    agent_id: str
    dimension: Dimension
    propositions: tuple[Proposition, ...]
    config: JudgeConfig

    @property
    def library(self) -> PropositionLibrary:
        """The edited propositions alone."""
        owner = self.propositions[0].agent_id if self.propositions else ""
        return PropositionLibrary({(self.dimension, owner): self.propositions})

    @property
    def plan(self) -> EvaluationPlan:
        """The sample of an evaluation with the usual settings, so that answers that are kept already can be used."""
        is_channel = is_channel_id(self.agent_id)
        first = 1 if is_channel else TRIAL_MESSAGES
        return EvaluationPlan((self.dimension,), first=first, options=Options(is_batched=True))

    def subject(self, store: Store) -> Subject:
        """The agent with its messages.

        Raises:
            NotFoundError: It says nothing.
        """
        found = find_subjects(store, [self.agent_id], self.plan.dimensions, self.library, with_simulated=True)
        subject = next((each for each in found if each.agent.id == self.agent_id and each.portrayals), None)
        if subject is None:
            raise NotFoundError("This agent says nothing that could be judged.", remedy="Choose another agent.")
        return subject


def estimate_trial(store: Store, trial: Trial) -> str:
    """The questions that ``run_trial`` would ask and what they would cost, in a sentence."""
    questions = questions_about(trial.subject(store), trial.library, trial.plan)
    requests = [asked.request for each in questions.values() for asked in each if asked.request]
    if trial.config.mode != "live":
        return NOTHING_ASKED

    async def run() -> str:
        counting = await build_estimate(trial.config, store.judgements)
        await counting.judge(requests)
        return counting.words

    return asyncio.run(run())


def run_trial(store: Store, trial: Trial) -> tuple[tuple[PropositionScore, ...], str]:
    """The judge's answers about the agent's first sampled messages, and what they cost; no run is stored.

    Claims about one message are asked of each; claims about a whole conversation once about the conversation.

    Raises:
        InputError: There is nothing to ask.
        DramaturgError: The judge cannot be used.
    """
    if not trial.propositions:
        raise InputError("There is no proposition to try.", remedy="Add one.")
    config = trial.config
    budget = Budget(usd=config.max_usd, calls=config.max_calls)
    judge = build_judge(config, cache=store.judgements, budget=budget)
    found = asyncio.run(evaluate_agent(trial.subject(store), judge, trial.library, trial.plan))
    return found.dimensions[trial.dimension].items, spent_words(budget)
