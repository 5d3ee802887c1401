"""The judge that asks a language model."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.errors import JSONParseError, JudgeError
from evaluation.judging.answer_formats import RECHECK, answer_format, batch_format, batch_questions
from evaluation.judging.answer_parsing import parse_items
from evaluation.judging.answers import Answer
from evaluation.judging.judges._judgements import Received, judgement_from, unscored
from evaluation.judging.model_client.budget import BudgetSpentError
from evaluation.judging.model_client.calls import CallPurpose, LLMResponse
from evaluation.judging.model_client.check_limits import current_limits
from evaluation.judging.model_client.language_model import DEFAULT_CONCURRENCY, MAX_TOKENS, LLMClient
from evaluation.judging.model_client.server_state import BREAKER_OPEN
from evaluation.judging.model_client.usage import Usage
from evaluation.judging.protocol import LARGEST_BATCH, JudgeKind, Judgement, JudgementStatus, JudgeRequest, Report


@dataclass(frozen=True, slots=True)
class Unit:
    """The questions of one call: requests with their positions, one of them or several of the same group."""

    positions: tuple[int, ...]
    requests: tuple[JudgeRequest, ...]


def units_of(requests: Sequence[JudgeRequest], largest: int = LARGEST_BATCH) -> list[Unit]:
    """``requests`` put together into units of at most ``largest``, units in the order of their first requests.

    Only requests of one group that share system prompt, context, kind of answer, version, repeat and double check are
    put together.
    """
    groups: dict[object, list[int]] = {}
    for position, request in enumerate(requests):
        groups.setdefault(position if request.batch_group is None else _shared(request), []).append(position)
    chunks = [places[start : start + largest] for places in groups.values() for start in range(0, len(places), largest)]
    return [Unit(tuple(chunk), tuple([requests[position] for position in chunk])) for chunk in sorted(chunks)]


def _shared(request: JudgeRequest) -> tuple[object, ...]:
    return (
        request.batch_group,
        request.prompt.system,
        request.prompt.user,
        request.answer,
        request.prompt_version,
        request.repeat,
        request.double_check,
    )


_Message = dict[str, str]


class LiteLLMJudge:
    """Asks a model, many questions at the same time, those of one group up to ten in a call.

    A batch whose answer misses or garbles some items asks for just those again, one by one. With ``double_check`` the
    model is asked in the same conversation whether it is sure.

    Args:
        client: The connection to the model, with its budget and log.
        concurrency: How many calls may be under way.
        batch_size: The most questions in a call; 1 asks each alone.
        server: The address of a server of one's own, which answers are filed under besides the model.
        max_tokens: The most that the model may write for one answer, its reasoning included; a batch may take half as
            many for each question, and as many at least.
    """

    def __init__(
        self,
        client: LLMClient,
        *,
        concurrency: int = DEFAULT_CONCURRENCY,
        batch_size: int = LARGEST_BATCH,
        server: str = "",
        max_tokens: int = MAX_TOKENS,
    ) -> None:
        self._client = client
        self._max_tokens = max_tokens
        self._server = server
        self._concurrency = max(1, concurrency)
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
                for position, judgement in await self._settle(unit):
                    settled[position] = judgement
                    if report:
                        report(position, judgement)

        async with self._client.session():
            await _all_or_first_error([work() for _ in range(min(self._concurrency, len(requests)))])
        return [settled[position] for position in range(len(requests))]

    async def _settle(self, unit: Unit) -> list[tuple[int, Judgement]]:
        found = await self._asked_together(unit) if len(unit.requests) > 1 else {}
        if len(unit.requests) > 1 and current_limits() is not None:
            found |= await self._asked_again(unit, found)
        settled = []
        for index, (position, request) in enumerate(zip(unit.positions, unit.requests, strict=True)):
            settled.append((position, found.get(index) or await self._asked_alone(request)))
        return settled

    async def _asked_again(self, unit: Unit, found: dict[int, Judgement]) -> dict[int, Judgement]:
        """The follow-up call of a check of the gate: all questions that have no answer yet."""
        missing = [index for index in range(len(unit.requests)) if index not in found]
        limits = current_limits()
        if len(missing) < 2 or limits is None or not limits.has_call:
            return {}
        rest = Unit(
            tuple([unit.positions[index] for index in missing]), tuple([unit.requests[index] for index in missing])
        )
        again = await self._asked_together(rest)
        return {missing[index]: judgement for index, judgement in again.items()}

    async def _asked_alone(self, request: JudgeRequest) -> Judgement:
        purpose = CallPurpose(request.purpose, 1, self._key(request))
        conversation = _conversation(request, f"{request.prompt.text}\n\n{answer_format(request.answer)}")
        validate = request.answer.model_validate
        try:
            reply = await self._client.ask(conversation, validate, max_tokens=self._max_tokens, purpose=purpose)
            received = Received((reply.value,), reply.raw, reply.usage, reply.parameters)
            if request.double_check:
                conversation += _in_doubt(reply.raw)
                again = await self._client.ask(conversation, validate, max_tokens=self._max_tokens, purpose=purpose)
                received = Received(
                    (reply.value, again.value),
                    f"{reply.raw}\n\n{again.raw}",
                    reply.usage + again.usage,
                    again.parameters,
                )
        except (JudgeError, BudgetSpentError) as error:
            return self._failed(request, error)
        return judgement_from(request, received, judge=JudgeKind.LIVE, model=self._client.model, key=self._key(request))

    async def _asked_together(self, unit: Unit) -> dict[int, Judgement]:
        """The judgements of a unit by index, without those whose items are missing or garbled."""
        first = unit.requests[0]
        questions = batch_questions([request.prompt.question for request in unit.requests])
        conversation = _conversation(first, f"{first.prompt.user}\n\n{questions}\n\n{batch_format(first.answer)}")
        kinds = [request.answer for request in unit.requests]
        try:
            responses = [await self._complete(conversation, unit)]
            rounds = [parse_items(responses[0].content, kinds)]
            self._client.note_answer(is_usable=bool(rounds[0]))
            if first.double_check and len(rounds[0]) == len(kinds):
                conversation += _in_doubt(responses[0].content)
                responses.append(await self._complete(conversation, unit))
                rounds.append(parse_items(responses[1].content, kinds))
        except (JudgeError, BudgetSpentError) as error:
            return {index: self._failed(request, error) for index, request in enumerate(unit.requests)}
        wanted_rounds = 2 if first.double_check else 1
        return self._judgements(unit, responses, rounds) if len(rounds) == wanted_rounds else {}

    async def _complete(self, conversation: list[_Message], unit: Unit) -> LLMResponse:
        count = len(unit.requests)
        purpose = CallPurpose(unit.requests[0].purpose, count, self._key(unit.requests[0]))
        return await self._client.complete(
            conversation, max_tokens=max(2, count) * self._max_tokens // 2, purpose=purpose
        )

    def _judgements(
        self, unit: Unit, responses: list[LLMResponse], rounds: list[dict[int, Answer]]
    ) -> dict[int, Judgement]:
        raw = "\n\n".join(response.raw for response in responses)
        share = sum((response.usage for response in responses), Usage()).share(len(unit.requests))
        return {
            index: judgement_from(
                request,
                Received(tuple(answers[index] for answers in rounds), raw, share, responses[-1].parameters),
                judge=JudgeKind.LIVE,
                model=self._client.model,
                key=self._key(request),
            )
            for index, request in enumerate(unit.requests)
            if all(index in answers for answers in rounds)
        }

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
