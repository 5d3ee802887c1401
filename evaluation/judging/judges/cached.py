"""The judge that asks another one only if no answer is stored, and stores each answer before returning it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from pydantic import ValidationError

from evaluation.judging.judges._judgements import Received, judgement_from
from evaluation.judging.model_client.calls import CallRecord
from evaluation.judging.model_client.usage import Usage
from evaluation.judging.protocol import Judge, JudgeKind, Judgement, JudgementStatus, JudgeRequest, Prompt, Report

# A transaction costs as much for one answer as for ten: what comes within this time is stored together.
_MIN_HOLD_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An answer as it is kept under its key.

    Attributes:
        key: The request's key under ``model``.
        model: Who answered.
        answers: The answer as plain data; with a double check the first and the second.
        prompt: What was asked.
        prompt_version: Of that prompt.
        purpose: What it was for.
        subject: What was judged, for people.
        raw: What the model wrote.
        usage: What it cost.
    """

    key: str
    model: str
    answers: tuple[Mapping[str, Any], ...]
    prompt: Prompt
    prompt_version: str = ""
    purpose: str = ""
    subject: str = ""
    raw: str = ""
    usage: Usage = field(default_factory=Usage)


class JudgementCache(Protocol):
    """The storage of answers; the store has one."""

    def lookup(self, keys: Sequence[str]) -> Mapping[str, KeptAnswer]:
        """The answers kept under ``keys``; keys without one are left out."""
        ...

    def keep(self, answers: Sequence[KeptAnswer], calls: Sequence[CallRecord]) -> None:
        """Stores answers and the calls made meanwhile; both are safe when it returns."""
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


_Call = Callable[..., Awaitable[Any]]


async def _called(function: Callable[..., Any], *arguments: object) -> Any:
    return function(*arguments)


class CachedJudge:
    """Knows every answer that was ever received, by the address of its question.

    Equal questions among the requests are asked once. An answer is reported only after it is stored, so that a run
    that was killed asks again at most for what was under way.

    Args:
        judge: Asked for what is not kept.
        cache: Where answers are kept.
        model: The model that ``judge`` asks.
        server: The address of the server that it asks, where that is one's own; part of the keys.
        calls: Where its client logs calls; they are stored along with the answers.
        is_quick: Whether the cache waits for nothing, and is called without a thread: handing over to one, and back,
            takes longer than a line in a file.
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
        self._call: _Call = _called if is_quick else asyncio.to_thread
        self._model = model
        self._server = server
        self._calls = calls or CallBuffer()

    async def judge(self, requests: Sequence[JudgeRequest], *, report: Report | None = None) -> list[Judgement]:
        """One judgement per request, in order; what was known already is marked ``is_cached`` and costs nothing.

        Raises:
            StoreError: Answers cannot be read or stored; nothing more is asked then.
        """
        keys = [request.key(self._model, self._server) for request in requests]
        kept = await self._call(self._cache.lookup, list(dict.fromkeys(keys)))
        settled: dict[int, Judgement] = {}
        unknown: dict[str, list[int]] = {}
        for position, (request, key) in enumerate(zip(requests, keys, strict=True)):
            known = self._known(request, kept.get(key))
            if known is None:
                unknown.setdefault(key, []).append(position)
            else:
                settled[position] = known
                if report:
                    report(position, known)
        if unknown:
            await self._ask(requests, list(unknown.values()), settled, report)
        return [settled[position] for position in range(len(requests))]

    def _known(self, request: JudgeRequest, kept: KeptAnswer | None) -> Judgement | None:
        if kept is None:
            return None
        try:
            answers = tuple([request.answer.model_validate(body) for body in kept.answers])
        except ValidationError:
            # Kept by a version whose answers had another shape: it has to be asked again.
            return None
        received = Received(answers, kept.raw)
        return judgement_from(request, received, judge=JudgeKind.LIVE, model=self._model, key=kept.key, is_cached=True)

    async def _ask(
        self,
        requests: Sequence[JudgeRequest],
        places: list[list[int]],
        settled: dict[int, Judgement],
        report: Report | None,
    ) -> None:
        """Asks for the first position of each list and gives the others the same answer."""
        asked = [requests[positions[0]] for positions in places]

        def settle(index: int, judgement: Judgement) -> None:
            for position in places[index]:
                settled[position] = _for_request(judgement, requests[position], is_first=position == places[index][0])
                if report:
                    report(position, settled[position])

        writer = _Writer(partial(self._call, self._cache.keep), self._calls, asked, settle)
        asking = asyncio.ensure_future(self._judge.judge(asked, report=writer.put))
        writing = asyncio.ensure_future(writer.run())
        try:
            await asyncio.wait({asking, writing}, return_when=asyncio.FIRST_COMPLETED)
            if not writing.done():
                await asking
        finally:
            # Also when asking failed or was cancelled: what was received until then is paid for, and kept.
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            writer.finish()
            await writing


class _Writer:
    """Stores what comes in, as much at a time as came since the last write, and then reports it."""

    def __init__(
        self,
        keep: Callable[[Sequence[KeptAnswer], Sequence[CallRecord]], Awaitable[None]],
        calls: CallBuffer,
        requests: Sequence[JudgeRequest],
        settle: Report,
    ) -> None:
        self._keep = keep
        self._calls = calls
        self._requests = requests
        self._settle = settle
        self._waiting: list[tuple[int, Judgement]] = []
        self._news = asyncio.Event()
        self._is_finished = False

    def put(self, index: int, judgement: Judgement) -> None:
        self._waiting.append((index, judgement))
        self._news.set()

    def finish(self) -> None:
        self._is_finished = True
        self._news.set()

    async def run(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            is_last = self._is_finished
            await self._write()
            if is_last:
                return
            await asyncio.sleep(_MIN_HOLD_SECONDS)

    async def _write(self) -> None:
        received, self._waiting = self._waiting, []
        answers = [
            kept_answer(self._requests[index], judgement) for index, judgement in received if judgement.is_scored
        ]
        calls = self._calls.take()
        if answers or calls:
            await self._keep(answers, calls)
        for index, judgement in received:
            self._settle(index, judgement)


def kept_answer(request: JudgeRequest, judgement: Judgement) -> KeptAnswer:
    """The stored form of a scored judgement."""
    answers = [answer for answer in (judgement.first_answer, judgement.answer) if answer is not None]
    return KeptAnswer(
        key=judgement.key,
        model=judgement.model,
        answers=tuple([answer.model_dump(mode="json") for answer in answers]),
        prompt=request.prompt,
        prompt_version=request.prompt_version,
        purpose=request.purpose,
        subject=request.subject,
        raw=judgement.raw,
        usage=judgement.usage,
    )


def _for_request(judgement: Judgement, request: JudgeRequest, *, is_first: bool) -> Judgement:
    """The same answer for an equal question; its messages may have other ids, and it is paid for once."""
    if is_first:
        return judgement
    if judgement.status is not JudgementStatus.SCORED or judgement.answer is None:
        return replace(judgement, usage=Usage())
    answers = tuple([answer for answer in (judgement.first_answer, judgement.answer) if answer is not None])
    received = Received(answers, judgement.raw)
    return judgement_from(
        request, received, judge=judgement.judge, model=judgement.model, key=judgement.key, is_cached=True
    )
