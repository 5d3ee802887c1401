"""The judge that asks nobody and counts: the calls that a run would make and what they would cost."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from evaluation.judging.answers import IdeasAnswer
from evaluation.judging.judges.cached import JudgementCache
from evaluation.judging.judges.live import units_of
from evaluation.judging.model_client.calls import Price
from evaluation.judging.protocol import (
    LARGEST_BATCH,
    JudgeKind,
    Judgement,
    JudgementStatus,
    JudgeRequest,
    Report,
    unscored,
)
from evaluation.text.display import counted

ESTIMATED = "estimate"
"""Why a question was not asked that was only counted."""

NOTHING_ASKED = "No model would be asked."
"""The estimate of a run whose judge is not a live one, or that asks no judge at all."""

_CHARACTERS_PER_TOKEN = 4.0
# The instructions on the form of the answer, and answers as measured with reasons of two or three sentences.
_FORMAT_TOKENS = 120
_ANSWER_TOKENS = 110
_IDEAS_TOKENS = 600


def estimate_words(questions: int, known: int, calls: int, model: str, usd: float | None) -> str:
    """An estimate in a sentence; ``usd`` is ``None`` when the price is not known."""
    cost = "cost not known" if usd is None else f"about ${usd:,.4f}"
    answered = f", {known:,} of them answered already" if known else ""
    return f"{counted(questions, 'question')}{answered}, {counted(calls, 'call')} to {model}, {cost}"


class EstimatingJudge:
    """Counts the calls that a live judge would make; answers that are kept already cost nothing.

    Questions that depend on the answers to others are not counted, and neither are retries.

    Args:
        model: The model that would be asked.
        server: The address of its server, where that is one's own.
        cache: Where answers are kept; ``None`` when there are none.
        batch_size: The most questions in a call.
        price: Of the model's tokens; ``None`` when it is not known.
    """

    def __init__(
        self,
        model: str,
        *,
        server: str = "",
        cache: JudgementCache | None = None,
        batch_size: int = LARGEST_BATCH,
        price: Price | None = None,
    ) -> None:
        self.questions = 0
        self.known = 0
        self.calls = 0
        self._model = model
        self._server = server
        self.cache = cache
        self._batch_size = batch_size
        self._price = price
        self.tokens_read = 0.0
        self.tokens_written = 0.0
        self._counted: set[str] = set()

    @property
    def usd(self) -> float | None:
        """The expected cost of the calls, from the lengths of the prompts; ``None`` when the price is not known."""
        if self._price is None:
            return None if self.calls else 0.0
        return self._price.cost(self.tokens_read, 0, self.tokens_written)

    @property
    def words(self) -> str:
        """In a sentence: "120 questions in 14 calls, 30 of them answered already, about $0.12"."""
        return estimate_words(self.questions, self.known, self.calls, self._model, self.usd)

    async def judge(self, requests: Sequence[JudgeRequest], *, report: Report | None = None) -> list[Judgement]:
        """Counts the questions; every one is ``skipped``."""
        keys = [request.key(self._model, self._server) for request in requests]
        kept = await asyncio.to_thread(self.cache.lookup, list(dict.fromkeys(keys))) if self.cache else {}
        new: list[JudgeRequest] = []
        for request, key in zip(requests, keys, strict=True):
            self.questions += 1
            if key in kept or key in self._counted:
                self.known += 1
            else:
                self._counted.add(key)
                new.append(request)
        for unit in units_of(new, self._batch_size):
            self._count(list(unit.values()))
        found = [
            unscored(request, JudgementStatus.SKIPPED, ESTIMATED, judge=JudgeKind.LIVE, model=self._model, key=key)
            for request, key in zip(requests, keys, strict=True)
        ]
        if report:
            for position, judgement in enumerate(found):
                report(position, judgement)
        return found

    def _count(self, requests: Sequence[JudgeRequest]) -> None:
        first = requests[0]
        read = len(first.prompt.system) + len(first.prompt.user) + sum(len(each.prompt.question) for each in requests)
        tokens = read / _CHARACTERS_PER_TOKEN + _FORMAT_TOKENS
        written = sum(_IDEAS_TOKENS if each.answer is IdeasAnswer else each.parts * _ANSWER_TOKENS for each in requests)
        # A double check sends the conversation again with the first answer in it.
        self.calls += 2 if first.double_check else 1
        self.tokens_read += tokens + (tokens + written if first.double_check else 0.0)
        self.tokens_written += written * (2 if first.double_check else 1)
