"""The language-model client of evaluation and simulation: retries, budget, log, and validated JSON."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any, Generic

from pydantic import BaseModel

from evaluation.errors import InputError, JSONParseError, JudgeError
from evaluation.judging.answer_formats import CORRECTION
from evaluation.judging.answer_parsing import AnswerError, Validate, Value, parse_answer, with_fields
from evaluation.judging.guard.fencing import FENCE
from evaluation.judging.model_client.budget import Budget, BudgetSpentError
from evaluation.judging.model_client.calls import (
    ANSWERED,
    CallLog,
    CallPurpose,
    CallRecord,
    Completion,
    LLMResponse,
    Messages,
    Provider,
)
from evaluation.judging.model_client.retry import CallFailure, FailureKind, RetryPolicy, call_with_retries
from evaluation.judging.model_client.usage import Price, Usage

WRONG_FOR_ALL_CALLS = frozenset({401, 404})
"""What is refused for the key, or for the model's name or the address: any other call would be, too."""

_BY_STATUS = {
    400: "Look at the message: the prompt may be too long, or the model's name wrong.",
    401: "Put the right key into the environment (for example OPENAI_API_KEY).",
    403: "Ask the provider whether this key may use the model.",
    404: "Look at the model's name and at --base-url.",
    429: "Lower --concurrency, or try again later: what is done is kept.",
}
_BY_KIND = {
    FailureKind.CONNECTION: "Look at the network and at --base-url: is the server running?",
    FailureKind.TIMEOUT: "Give the model more time, or lower --concurrency.",
    FailureKind.SERVER_ERROR: "Try again later: what is done is kept.",
    FailureKind.BROKEN_RESPONSE: "Look at --base-url: does the server speak OpenAI's protocol?",
}


def explained(failure: CallFailure, model: str, attempts: int) -> JudgeError:
    """The error that tells what failed, how often it was tried, and the remedy."""
    times = f", {attempts} times" if attempts > 1 else ""
    status = f" (HTTP {failure.status})" if failure.status else ""
    return JudgeError(
        f"The model did not answer{times}: {failure.kind.value.replace('_', ' ')}{status}: {failure.message}",
        place=model,
        remedy=_BY_STATUS.get(failure.status or 0) or _BY_KIND.get(failure.kind, ""),
    )


MAX_TOKENS = 1_000
# Fewer than in any text that models are usually asked about: what is set aside must not be too little.
_CHARACTERS_PER_TOKEN = 2.0
_LONGEST_ECHO = 4_000
_FORGOTTEN = CallPurpose()


@dataclass(frozen=True, slots=True)
class Reply(Generic[Value]):
    """A validated answer, all that was written on the way to it, and what that cost."""

    value: Value
    raw: str
    usage: Usage


class LLMClient:
    """Asks one model (ADR-010, LLM interface wrapper).

    Args:
        provider: Where calls go.
        timeout_seconds: How long the server may be silent; a whole answer may take twice as long.
        retry: When calls that failed are tried again.
        budget: What may be spent; without limit when left out.
        log: Told of every call.
        prices: Prices by model, before those that the provider knows.
        run_id: The evaluation run that calls are logged under.
        seed: For the waits between tries; tests give one.
    """

    def __init__(
        self,
        provider: Provider,
        *,
        timeout_seconds: float = 60.0,
        retry: RetryPolicy | None = None,
        budget: Budget | None = None,
        log: CallLog | None = None,
        prices: Mapping[str, Price] | None = None,
        run_id: str | None = None,
        seed: int | None = None,
    ) -> None:
        self.budget = budget or Budget()
        self._provider = provider
        self._timeout_seconds = timeout_seconds
        self._retry = retry or RetryPolicy()
        self._log = log
        self._prices = prices or {}
        self._run_id = run_id
        self._chance = random.Random(seed)
        self._refusal: JudgeError | None = None
        self._known_price: Price | None = None
        self._is_price_known = False

    @property
    def model(self) -> str:
        """The model's name, as judgements are filed under."""
        return self._provider.model

    def session(self) -> AbstractAsyncContextManager[None]:
        """Keeps connections open from call to call; without it every call opens its own."""
        return self._provider.session()

    async def prepare(self) -> None:
        """Loads the modules that the first call needs, which takes seconds, so that they do not count in its time.

        Raises:
            InputError: As ``complete``.
        """
        await self._price()

    async def complete(
        self,
        messages: Messages,
        temperature: float = 0.0,
        max_tokens: int = MAX_TOKENS,
        *,
        purpose: CallPurpose = _FORGOTTEN,
    ) -> LLMResponse:
        """The model's answer to a conversation; each call puts a delimiter of its own in the place of ``FENCE``.

        Tries again after rate limits, faults of the server, timeouts and broken connections, as the policy says. A
        key, model or address that is refused is not tried again for any further call either.

        Raises:
            JudgeError: The call was refused, or every try failed.
            BudgetSpentError: The budget does not allow it, or the run was stopped.
            InputError: A budget in US dollars cannot be kept, because nobody knows what the model costs.
        """
        price = await self._price()
        before: JudgeError | None = None

        def explain(failure: CallFailure, attempt: int, is_last: bool) -> JudgeError:
            nonlocal before
            before = self._remembered(failure, attempt) if is_last else explained(failure, self.model, attempt)
            return before

        try:
            return await call_with_retries(
                lambda attempt: self._call(messages, temperature, max_tokens, purpose, attempt, price),
                self._retry,
                self._chance,
                explain,
            )
        except BudgetSpentError as spent:
            spent.failure = before
            raise

    async def complete_json(
        self,
        messages: Messages,
        schema: type[BaseModel] | Mapping[str, Any] | None = None,
        retries: int = 2,
        *,
        purpose: CallPurpose = _FORGOTTEN,
    ) -> dict[str, Any]:
        """The last JSON object of the model's answer that fits ``schema``.

        Args:
            messages: The conversation.
            schema: A pydantic model, or ``{"required": {field: type}}``; any object when left out.
            retries: How often a wrong answer is asked again, with its error named.
            purpose: What the call is logged under.

        Raises:
            JSONParseError: No try gave such an object; holds all that the model wrote.
            JudgeError: As ``complete``.
            BudgetSpentError: As ``complete``.
        """
        if isinstance(schema, type):
            model = await self.ask(messages, schema.model_validate, retries=retries, purpose=purpose)
            return model.value.model_dump()
        reply = await self.ask(messages, with_fields(schema or {}), retries=retries, purpose=purpose)
        return reply.value

    async def ask(
        self,
        messages: Messages,
        validate: Validate[Value],
        *,
        retries: int = 2,
        max_tokens: int = MAX_TOKENS,
        purpose: CallPurpose = _FORGOTTEN,
    ) -> Reply[Value]:
        """The model's answer, validated; raises as ``complete_json``.

        A wrong answer is asked again with its error named, one that was cut off with twice the room.
        """
        written: list[str] = []
        usage = Usage()
        conversation = list(messages)
        problem = ""
        for _ in range(retries + 1):
            response = await self.complete(conversation, max_tokens=max_tokens, purpose=purpose)
            written.append(response.content)
            usage += response.usage
            try:
                return Reply(parse_answer(response.content, validate), "\n\n".join(written), usage)
            except AnswerError as error:
                problem = str(error)
            if response.is_cut_off:
                max_tokens *= 2
                continue
            conversation += [
                {"role": "assistant", "content": response.content[:_LONGEST_ECHO]},
                {"role": "user", "content": CORRECTION.format(problem=problem)},
            ]
        raise JSONParseError(
            f"What the model wrote is not the answer that was asked for: {problem}.",
            raw="\n\n".join(written),
            place=self.model,
            remedy="Ask again, or take a model that keeps to a form.",
        )

    async def _call(
        self,
        messages: Messages,
        temperature: float,
        max_tokens: int,
        purpose: CallPurpose,
        attempt: int,
        price: Price | None,
    ) -> LLMResponse:
        if self._refusal is not None:
            raise self._refusal
        room = price.cost(_tokens_at_most(messages), 0, max_tokens) if price else 0.0
        await self.budget.set_aside(room)
        started_at, started = datetime.now(UTC), time.perf_counter()
        record = CallRecord(
            purpose=purpose.purpose,
            model=self.model,
            attempt=attempt,
            outcome=ANSWERED,
            started_at=started_at,
            judgements=purpose.judgements,
            judgement_key=purpose.judgement_key,
            run_id=self._run_id,
        )
        cost = 0.0
        try:
            completion = await self._provider.complete(
                _with_delimiter(messages),
                temperature=temperature,
                max_tokens=max_tokens,
                timeout_seconds=self._timeout_seconds,
            )
            cost = _cost(price, completion)
        except CallFailure as failure:
            self._note(replace(record, outcome=failure.kind.value, error=failure.message), started)
            raise
        finally:
            self.budget.settle(room, cost)
        self._note(_filled(record, completion, cost if price else None), started)
        return _response(completion, cost, time.perf_counter() - started, attempt)

    def _note(self, record: CallRecord, started: float) -> None:
        if self._log is not None:
            self._log(replace(record, seconds=time.perf_counter() - started))

    def _remembered(self, failure: CallFailure, attempts: int) -> JudgeError:
        error = explained(failure, self.model, attempts)
        if failure.status in WRONG_FOR_ALL_CALLS:
            self._refusal = error
        return error

    async def _price(self) -> Price | None:
        if not self._is_price_known:
            self._known_price = self._prices.get(self.model) or await self._provider.price()
            self._is_price_known = True
        if self._known_price is None and self.budget.usd is not None:
            raise InputError(
                f"Nobody knows what {self.model} costs, so a budget in US dollars cannot be kept.",
                remedy="Put its price into a file named in DRAMATURG_PRICING, or limit the calls with --max-calls.",
            )
        return self._known_price


def _with_delimiter(messages: Messages) -> Messages:
    delimiter = f"<<{token_hex(8)}>>"
    return [{**message, "content": message["content"].replace(FENCE, delimiter)} for message in messages]


def _tokens_at_most(messages: Messages) -> float:
    return sum(len(message["content"]) for message in messages) / _CHARACTERS_PER_TOKEN


def _cost(price: Price | None, completion: Completion) -> float:
    if price is None:
        return 0.0
    return price.cost(completion.input_tokens, completion.cached_tokens, completion.output_tokens)


def _filled(record: CallRecord, completion: Completion, cost: float | None) -> CallRecord:
    return replace(
        record,
        input_tokens=completion.input_tokens,
        cached_tokens=completion.cached_tokens,
        output_tokens=completion.output_tokens,
        cost_usd=cost,
    )


def _response(completion: Completion, cost: float, seconds: float, attempt: int) -> LLMResponse:
    used = completion.input_tokens + completion.output_tokens
    return LLMResponse(
        content=completion.content,
        tokens_used=used,
        model=completion.model,
        latency_ms=1000.0 * seconds,
        usage=Usage(completion.input_tokens, completion.cached_tokens, completion.output_tokens, cost, attempt),
        is_cut_off=completion.is_cut_off,
    )
