"""The language-model client of evaluation and simulation: retries, budget, log, and validated JSON."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from secrets import token_hex
from typing import Any, NamedTuple

from pydantic import BaseModel

from evaluation.errors import InputError, JSONParseError, JudgeError
from evaluation.judging.answers import CORRECTION, AnswerError, Value, parse_answer, with_fields
from evaluation.judging.fencing import FENCE
from evaluation.judging.model_client.budget import Budget, BudgetSpentError, CheckLimits, current_counts, current_limits
from evaluation.judging.model_client.calls import (
    ANSWERED,
    CANCELLED,
    ENDS_RUN,
    MOST_TOKENS,
    PERMANENT,
    CallFailure,
    CallLog,
    CallPurpose,
    CallRecord,
    FailureKind,
    LLMResponse,
    Messages,
    Provider,
    RetryPolicy,
    Usage,
)
from evaluation.judging.model_client.prices import Price
from evaluation.judging.model_client.server_limits import BREAKER_OPEN, ServerLimits

_CAUSES = {
    FailureKind.RATE_LIMITED: (
        "the server is asked too often",
        "Lower --concurrency, or try again later: what is done is kept.",
    ),
    FailureKind.SERVER_ERROR: ("the server failed", "Try again later: what is done is kept."),
    FailureKind.TIMEOUT: (
        "the server took too long",
        "Give the model more time with --timeout, or lower --concurrency.",
    ),
    FailureKind.CONNECTION: ("no connection", "Look at the network and at --base-url: is the server running?"),
    FailureKind.BROKEN_RESPONSE: ("broken response", "Look at --base-url: does the server speak OpenAI's protocol?"),
    FailureKind.REFUSED: (
        "the request was refused",
        "Look at the server's message, at the model's name and at --base-url.",
    ),
    FailureKind.PROMPT_TOO_LONG: (
        "the prompt is too long",
        "Take a model with a larger context, or judge fewer messages at once.",
    ),
    FailureKind.TOKEN_LIMIT: ("the model may not write as many tokens", "Lower --max-tokens."),
    FailureKind.FILTERED: (
        "the content filter of the provider stopped it",
        "Take another model or relax its filter: asking again does not help.",
    ),
    FailureKind.DECLINED: ("the model declined to answer", "Take another model: asking again does not help."),
    FailureKind.QUOTA_SPENT: (
        "the account has no quota or credit left",
        "Add credit with the provider, or take another key or model; then run again: what is done is kept.",
    ),
    FailureKind.WRONG_KEY: (
        "the key was refused",
        "Put the right key into the environment (for example OPENAI_API_KEY).",
    ),
    FailureKind.NOT_FOUND: ("the model or the address was not found", "Look at the model's name and at --base-url."),
}
_FORBIDDEN = 403
_FORBIDDEN_REMEDY = "Ask the provider whether this key may use the model."


def explained(failure: CallFailure, model: str, attempts: int) -> JudgeError:
    """The error that tells what failed, how often it was tried, and the remedy."""
    times = f", {attempts} times" if attempts > 1 else ""
    status = f" (HTTP {failure.status})" if failure.status else ""
    cause, remedy = _CAUSES[failure.kind]
    return JudgeError(
        f"The model did not answer{times}: {cause}{status}: {failure.message}",
        place=model,
        remedy=_FORBIDDEN_REMEDY if failure.status == _FORBIDDEN else remedy,
    )


MAX_TOKENS = 1_000
# Fewer than in any text that models are usually asked about: what is set aside must not be too little.
_CHARACTERS_PER_TOKEN = 2.0
_LONGEST_ECHO = 4_000
_FORGOTTEN = CallPurpose()
DEFAULT_CONCURRENCY = 10
TIMEOUT_SECONDS = 60.0
_NO_CALL_LEFT = "The model's answer could not be used, and the check has no call left."


class _Asked(NamedTuple):
    """One question to the model, however many calls it takes."""

    messages: Messages
    temperature: float
    max_tokens: int
    purpose: CallPurpose
    price: Price | None


Complete = Callable[[Messages, int], Awaitable[LLMResponse]]
"""Answers a conversation with at most so many tokens."""


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
        server: The limits of the server, shared with its other clients; limits of its own when left out.
        concurrency: The most calls under way.
    """

    def __init__(
        self,
        provider: Provider,
        *,
        timeout_seconds: float = TIMEOUT_SECONDS,
        retry: RetryPolicy | None = None,
        budget: Budget | None = None,
        log: CallLog | None = None,
        prices: Mapping[str, Price] | None = None,
        run_id: str | None = None,
        server: ServerLimits | None = None,
        concurrency: int = DEFAULT_CONCURRENCY,
    ) -> None:
        self.budget = budget or Budget()
        self._provider = provider
        self._retry = retry or RetryPolicy()
        self._log = log
        self._prices = prices or {}
        self._run_id = run_id
        self._chance = random.Random()
        self._refusal: JudgeError | None = None
        self._known_price: Price | None = None
        self._is_price_known = False
        self._server = server or ServerLimits(provider.model)
        self.concurrency = max(1, concurrency)
        self._timeout_seconds = timeout_seconds

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

        In a check of the gate it makes no more calls than that allows, and none while the circuit breaker is open.

        Tries again after rate limits, faults of the server, timeouts and broken connections, as the policy says, and
        without a parameter that the server refuses. A spent quota, and a key, model or address that is refused, are not
        tried again for any further call either.

        Raises:
            JudgeError: The call was refused, or every try failed.
            BudgetSpentError: The budget does not allow it, or the run was stopped.
            InputError: A budget in US dollars cannot be kept, because nobody knows what the model costs.
        """
        asked = _Asked(messages, temperature, max_tokens, purpose, await self._price())
        before: JudgeError | None = None
        attempt, timeouts = 1, 0
        while True:
            try:
                return await self._call(asked, attempt)
            except BudgetSpentError as spent:
                spent.failure = before
                raise
            except CallFailure as failure:
                if failure.kind is FailureKind.PARAMETER_REFUSED:
                    # Ends by itself: what was refused is not sent again.
                    continue
                timeouts += failure.kind is FailureKind.TIMEOUT
                before = explained(failure, self.model, attempt)
                is_spent = attempt > self._retry.retries or timeouts > self._retry.timeout_retries
                if is_spent or failure.kind in PERMANENT or not _may_ask_again():
                    if failure.kind in ENDS_RUN:
                        self._refusal = before
                    raise before from None
                wait = self._retry.wait_seconds(attempt - 1, failure.retry_after, self._chance)
            attempt += 1
            await asyncio.sleep(wait)

    async def complete_json(
        self,
        messages: Messages,
        schema: type[BaseModel] | Mapping[str, Any] | None = None,
        retries: int = 2,
        *,
        purpose: CallPurpose = _FORGOTTEN,
    ) -> dict[str, Any]:
        """The JSON object of the model's answer that fits ``schema``; of several that differ none counts.

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
            of_model = partial(parse_answer, validate=schema.model_validate)
            model, _ = await self.ask(messages, of_model, retries=retries, purpose=purpose)
            return model.model_dump()
        of_fields = partial(parse_answer, validate=with_fields(schema or {}))
        body, _ = await self.ask(messages, of_fields, retries=retries, purpose=purpose)
        return body

    async def ask(
        self,
        messages: Messages,
        parse: Callable[[str], Value],
        *,
        retries: int = 2,
        max_tokens: int = MAX_TOKENS,
        most_tokens: int = MOST_TOKENS,
        purpose: CallPurpose = _FORGOTTEN,
        complete: Complete | None = None,
    ) -> tuple[Value, LLMResponse]:
        """The parsed answer, and the response with all that was written on the way to it and what that cost.

        A wrong answer is asked again with its error named, one that was cut off with twice the room, up to
        ``most_tokens``. Raises as ``complete_json``.

        Args:
            messages: The conversation.
            parse: Makes the answer of the model's text, or raises ``AnswerError``.
            retries: How often it is asked again.
            max_tokens: The room of the first answer.
            most_tokens: The largest room.
            purpose: What the calls are logged as.
            complete: What answers a conversation in so much room; the model when left out.
        """
        written: list[str] = []
        usage = Usage()
        conversation = list(messages)
        problem = remedy = ""
        for _ in range(retries + 1):
            if complete is None:
                response = await self.complete(conversation, max_tokens=max_tokens, purpose=purpose)
            else:
                response = await complete(conversation, max_tokens)
            written.append(response.raw)
            usage += response.usage
            try:
                value = parse(response.content)
            except AnswerError as error:
                problem, remedy = _problem_of(response, max_tokens) or (str(error), _KEEP_TO_FORM)
            else:
                self.note_answer(is_usable=True)
                return value, replace(response, raw="\n\n".join(written), usage=usage)
            self.note_answer(is_usable=False)
            if not _may_ask_again():
                break
            if response.is_cut_off and max_tokens < most_tokens:
                max_tokens = min(2 * max_tokens, most_tokens)
                continue
            conversation += [
                {"role": "assistant", "content": response.content[:_LONGEST_ECHO]},
                {"role": "user", "content": CORRECTION.format(problem=problem)},
            ]
        raise JSONParseError(
            f"What the model wrote is not the answer that was asked for: {problem}.",
            raw="\n\n".join(written),
            place=self.model,
            remedy=remedy,
        )

    def note_answer(self, *, is_usable: bool) -> None:
        """Tells the circuit breaker whether an answer to a check of the gate could be used."""
        limits = current_limits()
        if limits is not None and limits.is_live:
            self._server.breaker.note(is_usable=is_usable)

    async def _call(self, asked: _Asked, attempt: int) -> LLMResponse:
        if self._refusal is not None:
            raise self._refusal
        limits = current_limits()
        self._check(limits)
        reserved = asked.price.cost(_tokens_at_most(asked.messages), 0, asked.max_tokens) if asked.price else 0.0
        # Whoever waits for a place under the server's limit holds no money meanwhile.
        async with nullcontext() if limits and limits.is_live else self._server.places(self.concurrency):
            await self.budget.set_aside(reserved)
            return await self._send(asked, attempt, reserved)

    def _check(self, limits: CheckLimits | None) -> None:
        """Refuses a call that a check of the gate may not make."""
        if limits is None:
            return
        if not limits.take():
            raise JudgeError(_NO_CALL_LEFT, place=self.model)
        if limits.is_live and not self._server.breaker.allows_call():
            raise BudgetSpentError(BREAKER_OPEN)

    async def _send(self, asked: _Asked, attempt: int, reserved: float) -> LLMResponse:
        """Sends one call for which ``reserved`` USD are set aside; settles, logs and counts it however it ends."""
        limits = current_limits()
        record = CallRecord(
            purpose=asked.purpose.purpose,
            model=self.model,
            attempt=attempt,
            outcome=ANSWERED,
            started_at=datetime.now(UTC),
            judgements=asked.purpose.judgements,
            judgement_key=asked.purpose.judgement_key,
            run_id=self._run_id,
        )
        started = time.perf_counter()
        cost: float | None = 0.0
        try:
            response = await self._provider.complete(
                _with_delimiter(asked.messages),
                temperature=asked.temperature,
                max_tokens=asked.max_tokens,
                timeout_seconds=self._timeout_seconds,
            )
            cost = _cost(asked.price, response, reserved) if asked.price else None
        except CallFailure as failure:
            if failure.kind is not FailureKind.PARAMETER_REFUSED:
                self.note_answer(is_usable=False)
            elif limits is not None:
                # The question itself has not been asked yet.
                limits.first_calls += 1
            self._note(replace(record, outcome=failure.kind.value, error=failure.message), started)
            raise
        except asyncio.CancelledError:
            self.note_answer(is_usable=False)
            self._note(replace(record, outcome=CANCELLED, error="nobody waited for the answer any longer"), started)
            raise
        finally:
            self.budget.settle(reserved, cost)
            for counts in current_counts():
                counts.settle(cost)
        seconds = time.perf_counter() - started
        usage = replace(response.usage, cost_usd=cost or 0.0, calls=attempt, unpriced_calls=1 if cost is None else 0)
        read, cached, written = (
            int(tokens) for tokens in (usage.input_tokens, usage.cached_tokens, usage.output_tokens)
        )
        done = replace(record, input_tokens=read, cached_tokens=cached, output_tokens=written, cost_usd=cost)
        self._note(done, started)
        return replace(response, usage=usage, raw=response.raw or response.content, latency_ms=1000.0 * seconds)

    def _note(self, record: CallRecord, started: float) -> None:
        if self._log is not None:
            self._log(replace(record, seconds=time.perf_counter() - started))

    async def _price(self) -> Price | None:
        if not self._is_price_known:
            self._known_price = self._prices.get(self.model) or await self._provider.price()
            self._is_price_known = True
        if self._known_price is None and self.budget.usd is not None and self.budget.calls is None:
            raise InputError(
                f"The price of {self.model} is not known, so a budget in US dollars alone cannot be kept.",
                remedy="Give --max-calls beside --budget, or put the price into a file named in DRAMATURG_PRICING.",
            )
        return self._known_price


def _with_delimiter(messages: Messages) -> Messages:
    delimiter = f"<<{token_hex(8)}>>"
    return [{**message, "content": message["content"].replace(FENCE, delimiter)} for message in messages]


def _tokens_at_most(messages: Messages) -> float:
    return sum(len(message["content"]) for message in messages) / _CHARACTERS_PER_TOKEN


def _may_ask_again() -> bool:
    limits = current_limits()
    return limits is None or limits.has_call


def _cost(price: Price, response: LLMResponse, reserved: float) -> float:
    """The cost of an answer; what was reserved for it when the server did not say how many tokens it took."""
    usage = response.usage
    if usage.input_tokens <= 0 or (response.content and not usage.output_tokens):
        return reserved
    return price.cost(usage.input_tokens, usage.cached_tokens, usage.output_tokens)


_KEEP_TO_FORM = "Ask again, or take a model that keeps to a form."
_MORE_ROOM = "Raise --max-tokens, or lower the effort that the model puts into reasoning."


def _problem_of(response: LLMResponse, max_tokens: int) -> tuple[str, str] | None:
    """Why an answer that was cut off cannot be used, and the remedy; ``None`` for a whole one."""
    if not response.is_cut_off:
        return None
    while_doing = "" if response.content.strip() else " while the model was still reasoning"
    return f"it was cut off after {max_tokens:,} tokens{while_doing}", _MORE_ROOM
