"""Estimate the runs, calls, tokens and cost of an A/B test before it starts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.corrections.config import read_config
from evaluation.experiments.ab.simulation import read_run
from evaluation.experiments.estimate import JUDGING_TOKENS, WRITING_TOKENS, corrections_per_message
from evaluation.insight.checks.questions import CheckKind
from evaluation.insight.config import EvaluationConfig
from evaluation.judging.judge_config import JudgeConfig
from evaluation.judging.judges.estimating import NOTHING_ASKED
from evaluation.judging.model_client.calls import Price
from evaluation.judging.propositions.loading import PropositionLibrary
from evaluation.text.display import counted, significant_text


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
        uses: Expected calls, by model.
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


def summed(uses: list[ModelUse]) -> tuple[ModelUse, ...]:
    """One entry for each model, in the order in which they first appear."""
    by_model: dict[str, ModelUse] = {}
    for one in uses:
        known = by_model.get(one.model.model)
        by_model[one.model.model] = one if known is None else _added(known, one)
    return tuple(by_model.values())


def _added(known: ModelUse, one: ModelUse) -> ModelUse:
    return ModelUse(
        known.model,
        known.calls_at_least + one.calls_at_least,
        known.calls_at_most + one.calls_at_most,
        known.tokens_read + one.tokens_read,
        known.tokens_written + one.tokens_written,
    )
