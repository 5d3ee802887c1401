"""A cache of answers in front of a judge."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Protocol

from pydantic import ConfigDict, Field, ValidationError

from evaluation.judging.model_client.calls import CallParameters, CallRecord, Usage
from evaluation.judging.protocol import (
    Judge,
    JudgeKind,
    Judgement,
    JudgeRequest,
    Prompt,
    Report,
    judgement_from,
)


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An answer as it is kept under its key.

    Attributes:
        key: The request's key under ``model``.
        model: Who answered.
        answers: The answer as plain data; with a double check the first and the second.
        prompt: What was asked; empty in a recording.
        prompt_version: Of that prompt.
        purpose: What it was for.
        subject: What was judged, for people.
        raw: What the model wrote.
        usage: What it cost.
        parameters: The parameters of the call.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    key: str
    model: str
    answers: Annotated[tuple[Mapping[str, Any], ...], Field(min_length=1, max_length=2)]
    prompt: Prompt = field(default_factory=lambda: Prompt("", ""))
    prompt_version: str = ""
    purpose: str = ""
    subject: str = ""
    raw: str = ""
    usage: Usage = field(default_factory=Usage)
    parameters: CallParameters = field(default_factory=dict)


KeepAnswers = Callable[[Sequence[KeptAnswer], Sequence[CallRecord]], None]
"""Keeps answers and the calls made meanwhile; both outlive the process when it returns."""


class JudgementCache(Protocol):
    """The storage of answers; the store has one."""

    def lookup(self, keys: Sequence[str]) -> Mapping[str, KeptAnswer]:
        """The answers kept under ``keys``; keys without one are left out."""
        ...

    def journal(self) -> AbstractAsyncContextManager[KeepAnswers]:
        """Keeps answers until the block ends, when all of them are stored; on entering, what a killed run left is."""
        ...


class CallBuffer:
    """Collects the records of calls until they are stored with the answers; give its ``add`` to the client as log."""

    def __init__(self) -> None:
        self._records: deque[CallRecord] = deque()

    def add(self, record: CallRecord) -> None:
        """Adds a record; safe from any thread."""
        self._records.append(record)

    def take(self) -> list[CallRecord]:
        """Return and forget the calls added since the last time."""
        return [self._records.popleft() for _ in range(len(self._records))]


class CachedJudge:
    """Knows every answer that was ever received, by the address of its question.

    Equal questions among the requests are asked once. An answer is kept as soon as it arrives, and reported after
    that, so that a run that was killed asks again only for what was under way.

    Args:
        judge: Asked for what is not kept.
        cache: Where answers are kept.
        model: The model that ``judge`` asks.
        server: The address of the server that it asks, where that is one's own; part of the keys.
        calls: Where its client logs calls; they are stored along with the answers.
        is_quick: Whether looking up waits for nothing, and is done without a thread: handing over to one, and back,
            takes longer.
    """

    def __init__(
        self,
        judge: Judge,
        cache: JudgementCache,
        *,
        model: str,
        server: str = "",
        calls: CallBuffer | None = None,
        is_quick: bool = False,
    ) -> None:
        self._judge = judge
        self._cache = cache
        self._is_quick = is_quick
        self._model = model
        self._server = server
        self._calls = calls or CallBuffer()

    async def judge(self, requests: Sequence[JudgeRequest], *, report: Report | None = None) -> list[Judgement]:
        """One judgement per request, in order; what was known already is marked ``is_cached`` and costs nothing.

        Raises:
            StoreError: Answers cannot be read or stored; nothing more is asked then.
        """
        async with self._cache.journal() as keep:
            return await self._judge_all(requests, keep, report)

    async def _judge_all(
        self, requests: Sequence[JudgeRequest], keep: KeepAnswers, report: Report | None
    ) -> list[Judgement]:
        keys = [request.key(self._model, self._server) for request in requests]
        wanted = list(dict.fromkeys(keys))
        kept = self._cache.lookup(wanted) if self._is_quick else await asyncio.to_thread(self._cache.lookup, wanted)
        settled: dict[int, Judgement] = {}
        unknown: dict[str, list[int]] = {}
        for position, (request, key) in enumerate(zip(requests, keys, strict=True)):
            known = judgement_of_kept(request, kept.get(key), judge=JudgeKind.LIVE, is_cached=True)
            if known is None:
                unknown.setdefault(key, []).append(position)
            else:
                settled[position] = known
                if report:
                    report(position, known)
        if unknown:
            await self._ask(requests, list(unknown.values()), settled, keep, report)
        return [settled[position] for position in range(len(requests))]

    async def _ask(
        self,
        requests: Sequence[JudgeRequest],
        places: list[list[int]],
        settled: dict[int, Judgement],
        keep: KeepAnswers,
        report: Report | None,
    ) -> None:
        """Asks for the first position of each list and gives the others the same answer."""
        asked = [requests[positions[0]] for positions in places]

        def settle(index: int, judgement: Judgement) -> None:
            kept = kept_answer(asked[index], judgement) if judgement.is_scored else None
            calls = self._calls.take()
            if kept or calls:
                keep([kept] if kept else [], calls)
            first, *others = places[index]
            settled[first] = judgement
            for position in others:
                # It is paid for once, and its messages may have other ids.
                again = judgement_of_kept(requests[position], kept, judge=judgement.judge, is_cached=True)
                settled[position] = again or replace(judgement, usage=Usage())
            if report:
                for position in places[index]:
                    report(position, settled[position])

        try:
            await self._judge.judge(asked, report=settle)
        finally:
            # Also when asking failed or was cancelled: calls without an answer are paid for, too.
            if calls := self._calls.take():
                keep([], calls)


def kept_answer(request: JudgeRequest, judgement: Judgement) -> KeptAnswer:
    """The stored form of a scored judgement."""
    return KeptAnswer(
        key=judgement.key,
        model=judgement.model,
        answers=tuple([answer.model_dump(mode="json") for answer in judgement.answers]),
        prompt=request.prompt,
        prompt_version=request.prompt_version,
        purpose=request.purpose,
        subject=request.subject,
        raw=judgement.raw,
        usage=judgement.usage,
        parameters=judgement.parameters,
    )


def judgement_of_kept(
    request: JudgeRequest, kept: KeptAnswer | None, *, judge: JudgeKind, is_cached: bool
) -> Judgement | None:
    """The judgement that was kept; ``None`` without one, and for one of a version whose answers had another shape."""
    if kept is None:
        return None
    try:
        answers = tuple([request.answer.model_validate(body) for body in kept.answers])
    except ValidationError:
        return None
    return judgement_from(
        request,
        answers,
        raw=kept.raw,
        parameters=kept.parameters,
        judge=judge,
        model=kept.model,
        key=kept.key,
        is_cached=is_cached,
    )
