"""Texts that models write in simulations, stored before use so that they are paid for once; and what ends a run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from evaluation.judging.answers import Validate, Value, parse_answer
from evaluation.judging.cached_judge import CallBuffer
from evaluation.judging.model_client.budget import BudgetSpentError
from evaluation.judging.model_client.calls import CallPurpose, CallRecord, LLMResponse, Messages, Usage
from evaluation.judging.model_client.language_model import MAX_TOKENS, LLMClient
from evaluation.judging.protocol import Judge, Judgement, JudgementStatus, JudgeRequest, Report

WRITING_VERSION = "writing-1"
USUAL_ROOM = 4 * MAX_TOKENS
LONGEST_ANSWER = 16_000
"""Tokens of one answer at most: what most models may write."""

_RETRIES = 3
_CUT_OFF = "cut off"


@dataclass(frozen=True, slots=True)
class Generation:
    """A text that a model wrote.

    Attributes:
        key: The address of the question: SHA-256 (hex) of model, temperature, room, salt and conversation.
        scope: The experiment that it was written for.
        subject: What it is, for people: "treatment 3, step 2: Ann Lee".
    """

    key: str
    scope: str
    model: str
    purpose: str
    subject: str
    text: str
    usage: Usage


ReportText = Callable[[Generation], None]
"""Told of a text that a model wrote."""


class GenerationCache(Protocol):
    """Storage of generated texts; the store has one."""

    def of_scope(self, scope: str) -> Mapping[str, Generation]:
        """All texts of a scope by key."""
        ...

    def keep(self, generations: Sequence[Generation], calls: Sequence[CallRecord] = ()) -> None:
        """Keeps texts and the calls made meanwhile; both are safe when it returns.

        It is called in the event loop, so it must not wait for a database.
        """
        ...


class Writer:
    """Lets a model write, or gives back what it wrote when it was asked the same before.

    Args:
        client: The connection to the model.
        scope: The experiment; texts of another one are not looked at.
        cache: Where texts are kept; without one nothing outlives the writer.
        calls: Where the client logs its calls; they are stored along with the texts.
        temperature: Of what agents say.
        salt: Changes every key: the experiment's seed.
    """

    def __init__(
        self,
        client: LLMClient,
        *,
        scope: str = "",
        cache: GenerationCache | None = None,
        calls: CallBuffer | None = None,
        temperature: float = 1.0,
        salt: int = 0,
    ) -> None:
        self._client = client
        self._scope = scope
        self._cache = cache
        self._calls = calls or CallBuffer()
        self._temperature = temperature
        self._salt = salt
        self._known: dict[str, Generation] = dict(cache.of_scope(scope)) if cache else {}

    @property
    def model(self) -> str:
        """The model that writes."""
        return self._client.model

    def session(self) -> AbstractAsyncContextManager[None]:
        """Keeps connections open until it ends."""
        return self._client.session()

    async def write(
        self,
        messages: Messages,
        *,
        purpose: str,
        subject: str,
        max_tokens: int = 400,
        report: ReportText = lambda _text: None,
    ) -> tuple[str, bool]:
        """The model's text, kept before it is returned, and whether it was cut off for want of room.

        What was cut off is kept under a key of its own, so that whoever goes on knows that it was. ``report`` is told
        of the text with what it took, also where it was kept from before.

        Raises:
            JudgeError: The model cannot be asked.
            BudgetSpentError: Nothing more may be spent.
            StoreError: The text could not be kept.
        """
        whole = self._key(messages, max_tokens)
        cut_off = self._key(messages, max_tokens, _CUT_OFF)
        found = self._known.get(whole) or self._known.get(cut_off)
        if found is None:
            made = await self._client.complete(messages, self._temperature, max_tokens, purpose=CallPurpose(purpose, 0))
            key = cut_off if made.is_cut_off else whole
            found = Generation(key, self._scope, self.model, purpose, subject, made.content, made.usage)
            if self._cache is not None:
                self._cache.keep([found], self._calls.take())
            self._known[key] = found
        report(found)
        return found.text, found.key == cut_off

    async def write_json(
        self, messages: Messages, validate: Validate[Value], *, purpose: str, subject: str, max_tokens: int = USUAL_ROOM
    ) -> Value:
        """The model's answer after ``validate``; a wrong one is asked again with its error named.

        One that was cut off is asked again with twice the room, up to ``LONGEST_ANSWER``.

        Raises:
            JSONParseError: No try gave such an object.
            JudgeError: As ``write``.
            BudgetSpentError: As ``write``.
        """

        async def complete(conversation: Messages, room: int) -> LLMResponse:
            text, is_cut_off = await self.write(conversation, purpose=purpose, subject=subject, max_tokens=room)
            return LLMResponse(text, self.model, is_cut_off=is_cut_off, raw=text)

        value, _ = await self._client.ask(
            messages,
            partial(parse_answer, validate=validate),
            retries=_RETRIES,
            max_tokens=max_tokens,
            most_tokens=LONGEST_ANSWER,
            complete=complete,
        )
        return value

    def _key(self, messages: Messages, max_tokens: int, *more: str) -> str:
        said = [[message["role"], message["content"]] for message in messages]
        parts = [WRITING_VERSION, self.model, self._temperature, max_tokens, self._salt, said, *more]
        return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()


class RaisingJudge:
    """Ends the run where a judge would only skip a question because nothing more may be spent.

    A message that passed the gate because there was no money to look at it must not enter an experiment.

    Args:
        judge: Answers.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    async def judge(self, requests: Sequence[JudgeRequest], *, report: Report | None = None) -> list[Judgement]:
        """One judgement per request.

        Raises:
            BudgetSpentError: One of them was skipped.
        """
        judgements = await self._judge.judge(requests, report=report)
        for judgement in judgements:
            if judgement.status is JudgementStatus.SKIPPED:
                raise BudgetSpentError(judgement.detail)
        return judgements
