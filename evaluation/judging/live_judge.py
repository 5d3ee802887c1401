"""The judge that asks a model, alone or in batches, and the one that counts what asking would cost."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from evaluation.errors import JSONParseError, JudgeError
from evaluation.judging.answers import (
    RECHECK,
    Answer,
    IdeasAnswer,
    answer_format,
    batch_format,
    batch_questions,
    parse_items,
)
from evaluation.judging.cached_judge import JudgementCache
from evaluation.judging.model_client.budget import BudgetSpentError, current_limits
from evaluation.judging.model_client.calls import CallPurpose, LLMResponse, total
from evaluation.judging.model_client.language_model import MAX_TOKENS, LLMClient
from evaluation.judging.model_client.prices import Price
from evaluation.judging.model_client.server_limits import BREAKER_OPEN
from evaluation.judging.protocol import (
    LARGEST_BATCH,
    JudgeKind,
    Judgement,
    JudgementStatus,
    JudgeRequest,
    Report,
    judgement_from,
    unscored,
)
from evaluation.text.display import counted

Unit = Mapping[int, JudgeRequest]
"""The questions of one call by their position: a single one, or several of the same group."""


def units_of(requests: Sequence[JudgeRequest], largest: int = LARGEST_BATCH) -> list[Unit]:
    """``requests`` put together into units of at most ``largest``, units in the order of their first requests.

    Only requests of one group that share system prompt, context, kind of answer, version and double check are
    put together.
    """
    groups: dict[object, list[int]] = {}
    for position, request in enumerate(requests):
        groups.setdefault(position if request.batch_group is None else _shared(request), []).append(position)
    chunks = [places[start : start + largest] for places in groups.values() for start in range(0, len(places), largest)]
    return [{position: requests[position] for position in chunk} for chunk in sorted(chunks)]


def _shared(request: JudgeRequest) -> tuple[object, ...]:
    return (
        request.batch_group,
        request.prompt.system,
        request.prompt.user,
        request.answer,
        request.prompt_version,
        request.double_check,
    )


_Message = dict[str, str]

_PARTS_IN_AN_ANSWER = 4
"""How many parts of a long answer may take as many tokens as a short answer."""


class LiteLLMJudge:
    """Asks a model, many questions at the same time, those of one group up to ten in a call.

    A batch whose answer misses or garbles some items asks for just those again, one by one. With ``double_check`` the
    model is asked in the same conversation whether it is sure.

    Args:
        client: The connection to the model, with its budget and log.
        batch_size: The most questions in a call; 1 asks each alone.
        server: The address of a server of one's own, which answers are filed under besides the model.
        max_tokens: The most that the model may write for one answer, its reasoning included; a batch may take half as
            many for each question, an answer in parts a quarter for each part, and both as many at least.
    """

    def __init__(
        self,
        client: LLMClient,
        *,
        batch_size: int = LARGEST_BATCH,
        server: str = "",
        max_tokens: int = MAX_TOKENS,
    ) -> None:
        self._client = client
        self._max_tokens = max_tokens
        self._server = server
        self._batch_size = min(max(1, batch_size), LARGEST_BATCH)

    async def judge(self, requests: Sequence[JudgeRequest], *, report: Report | None = None) -> list[Judgement]:
        """One judgement per request, in order; what the budget does not allow is ``skipped``.

        Raises:
            InputError: A budget in US dollars cannot be kept, because nobody knows what the model costs.
        """
        settled: dict[int, Judgement] = {}
        largest = self._batch_size if current_limits() is None else LARGEST_BATCH
        units = iter(units_of(requests, largest))

        async def work() -> None:
            # The workers share the iterator, so that nothing waits in a queue and memory stays small.
            for unit in units:
                for position, judgement in (await self._settle(unit)).items():
                    settled[position] = judgement
                    if report:
                        report(position, judgement)

        async with self._client.session():
            await _all_or_first_error([work() for _ in range(min(self._client.concurrency, len(requests)))])
        return [settled[position] for position in range(len(requests))]

    async def _settle(self, unit: Unit) -> dict[int, Judgement]:
        settled: dict[int, Judgement] = {}
        if len(unit) > 1:
            settled |= await self._asked_together(unit)
            rest = {position: request for position, request in unit.items() if position not in settled}
            limits = current_limits()
            if limits is not None and limits.has_call and len(rest) > 1:
                # A check of the gate has one follow-up call, for all questions that have no answer yet.
                settled |= await self._asked_together(rest)
        for position, request in unit.items():
            if position not in settled:
                settled[position] = await self._asked_alone(request)
        return settled

    async def _asked_alone(self, request: JudgeRequest) -> Judgement:
        purpose = CallPurpose(request.purpose, 1, self._key(request))
        conversation = _conversation(request, f"{request.prompt.text}\n\n{answer_format(request.answer)}")
        room = max(self._max_tokens, request.parts * self._max_tokens // _PARTS_IN_AN_ANSWER)
        answers: list[Answer] = []
        responses: list[LLMResponse] = []
        try:
            for _ in range(2 if request.double_check else 1):
                answer, response = await self._client.ask(
                    conversation, request.answer.parse, max_tokens=room, purpose=purpose
                )
                answers.append(answer)
                responses.append(response)
                conversation += _in_doubt(response.raw)
        except (JudgeError, BudgetSpentError) as error:
            return self._failed(request, error)
        return self._judgement(request, answers, responses)

    async def _asked_together(self, unit: Unit) -> dict[int, Judgement]:
        """The judgements of a unit by position, without those whose items are missing or garbled."""
        first, *_ = requests = list(unit.values())
        questions = batch_questions([request.prompt.question for request in requests])
        conversation = _conversation(first, f"{first.prompt.user}\n\n{questions}\n\n{batch_format(first.answer)}")
        kinds = [request.answer for request in requests]
        try:
            responses = [await self._complete(conversation, requests)]
            rounds = [parse_items(responses[0].content, kinds)]
            self._client.note_answer(is_usable=bool(rounds[0]))
            if first.double_check:
                if len(rounds[0]) < len(kinds):
                    return {}
                conversation += _in_doubt(responses[0].content)
                responses.append(await self._complete(conversation, requests))
                rounds.append(parse_items(responses[1].content, kinds))
        except (JudgeError, BudgetSpentError) as error:
            return {position: self._failed(request, error) for position, request in unit.items()}
        return {
            position: self._judgement(request, [answers[index] for answers in rounds], responses, parts=len(unit))
            for index, (position, request) in enumerate(unit.items())
            if all(index in answers for answers in rounds)
        }

    async def _complete(self, conversation: list[_Message], requests: Sequence[JudgeRequest]) -> LLMResponse:
        count = len(requests)
        purpose = CallPurpose(requests[0].purpose, count, self._key(requests[0]))
        return await self._client.complete(
            conversation, max_tokens=max(2, count) * self._max_tokens // 2, purpose=purpose
        )

    def _judgement(
        self, request: JudgeRequest, answers: Sequence[Answer], responses: Sequence[LLMResponse], parts: int = 1
    ) -> Judgement:
        return judgement_from(
            request,
            answers,
            raw="\n\n".join(response.raw for response in responses),
            usage=total(response.usage for response in responses).share(parts),
            parameters=responses[-1].parameters,
            judge=JudgeKind.LIVE,
            model=self._client.model,
            key=self._key(request),
        )

    def _key(self, request: JudgeRequest) -> str:
        return request.key(self._client.model, self._server)

    def _failed(self, request: JudgeRequest, error: JudgeError | BudgetSpentError) -> Judgement:
        is_not_retried = isinstance(error, BudgetSpentError) and (error.is_spent or error.reason == BREAKER_OPEN)
        if isinstance(error, BudgetSpentError) and is_not_retried and error.failure is not None:
            # It was asked, in vain; that there is no other try is not why it has no answer.
            error = error.failure
        is_skipped = isinstance(error, BudgetSpentError)
        return unscored(
            request,
            JudgementStatus.SKIPPED if is_skipped else JudgementStatus.ERROR,
            error.reason if isinstance(error, BudgetSpentError) else str(error),
            judge=JudgeKind.LIVE,
            model=self._client.model,
            key=self._key(request),
            raw=error.raw if isinstance(error, JSONParseError) else "",
        )


def _conversation(request: JudgeRequest, text: str) -> list[_Message]:
    return [{"role": "system", "content": request.prompt.system}, {"role": "user", "content": text}]


def _in_doubt(answer: str) -> list[_Message]:
    return [{"role": "assistant", "content": answer}, {"role": "user", "content": RECHECK}]


async def _all_or_first_error(work: list[Coroutine[Any, Any, None]]) -> None:
    """Waits for all; when one fails, ends the others and raises its error."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


ESTIMATED = "estimate"
"""Why a question was not asked that was only counted."""

NOTHING_ASKED = "No model would be asked."
"""The estimate of a run whose judge is not a live one, or that asks no judge at all."""

_CHARACTERS_PER_TOKEN = 4.0
# The instructions on the form of the answer, and answers as measured with reasons of two or three sentences.
_FORMAT_TOKENS = 120
_ANSWER_TOKENS = 110
_IDEAS_TOKENS = 600


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
        """In a sentence: "120 questions, 30 of them answered already, 14 calls to gpt-4o-mini, about $0.1200"."""
        cost = "cost not known" if self.usd is None else f"about ${self.usd:,.4f}"
        known = f", {self.known:,} of them answered already" if self.known else ""
        return f"{counted(self.questions, 'question')}{known}, {counted(self.calls, 'call')} to {self._model}, {cost}"

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
