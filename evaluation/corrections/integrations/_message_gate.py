"""Call the gate with plain arguments, from synchronous or asynchronous code."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from types import TracebackType
from typing import Any, Self

from evaluation.corrections.attempts import GateResult
from evaluation.corrections.config import CorrectionConfig
from evaluation.corrections.context import ActionContext
from evaluation.corrections.gate import TIMEOUT_SECONDS, ActionGate
from evaluation.corrections.proposition_checks import PropositionChecker
from evaluation.judging.judge_config import ChosenJudge, build_judge, judge_config
from evaluation.judging.propositions.loading import PropositionLibrary
from evaluation.judging.protocol import Judge
from evaluation.judging.targets import TrajectoryEvent

History = Iterable[tuple[str, str]]
"""What was said before, oldest first: (speaker, text)."""

_CONVERSATION = "conversation"


class MessageGate:
    """Judges messages before they are sent and has them written again: the gate for any program.

    ``send`` is for ordinary functions, also where an event loop runs already, such as in a notebook; ``send_async`` for
    coroutines. Use one of the two with an instance.

    Args:
        judge: Who marks messages; that of the options, environment and settings when left out (``build_judge``).
        config: What is checked; adherence at 7 with two retries when left out.
        library: The propositions; those that come with Dramaturg when left out.
        log: Keeps what the gate did, such as ``store.corrections.add``.
        timeout_seconds: How long one judgement may take before it passes.
    """

    def __init__(
        self,
        judge: Judge | None = None,
        config: CorrectionConfig | None = None,
        *,
        library: PropositionLibrary | None = None,
        log: Callable[[GateResult], object] | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        self._judge = build_judge(judge_config()) if judge is None else judge
        self._config = config or CorrectionConfig(gate_adherence_enabled=True)
        self._keep = log
        checker = PropositionChecker(self._judge, library or PropositionLibrary.load())
        self._gate = ActionGate(checker, log=self._log, timeout_seconds=timeout_seconds)
        self._is_prepared = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    async def send_async(
        self, generate: Callable[[str], Awaitable[str]], agent: str, history: History = (), persona: str = ""
    ) -> GateResult:
        """The message to send (``text``) with all attempts at it.

        Args:
            generate: Writes a message; it is given the feedback on the attempt before, and an empty text at first.
            agent: The agent's name, under which ``history`` has its own messages.
            history: What was said before, oldest first: (speaker, text).
            persona: The description of the agent.

        Raises:
            PoorQualityError: Nothing passed and the configuration forbids to go on.
        """
        await self._prepare()
        events = [
            TrajectoryEvent(_CONVERSATION, f"m{number}", speaker, text, speaker == agent)
            for number, (speaker, text) in enumerate(history)
        ]
        return await self._gate.send(generate, ActionContext.of(agent, events, persona=persona), self._config)

    def send(self, generate: Callable[[str], str], agent: str, history: History = (), persona: str = "") -> GateResult:
        """Like ``send_async``, for an ordinary function, which is called in another thread."""

        def one(feedback: str) -> str:
            try:
                return generate(feedback)
            except StopIteration as error:
                # asyncio cannot carry it from thread to thread, and would wait forever.
                raise RuntimeError("generate raised StopIteration") from error

        async def written(feedback: str) -> str:
            return await asyncio.to_thread(one, feedback)

        return self._run(self.send_async(written, agent, history, persona))

    def close(self) -> None:
        """Ends the thread that ``send`` started; does nothing when there is none."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    async def _prepare(self) -> None:
        """Loads what the first call needs, so that it does not count as the judge's time."""
        if not self._is_prepared and isinstance(self._judge, ChosenJudge):
            await self._judge.prepare()
        self._is_prepared = True

    async def _log(self, result: GateResult) -> None:
        if self._keep is not None:
            await asyncio.to_thread(self._keep, result)

    def _run(self, work: Coroutine[Any, Any, GateResult]) -> GateResult:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="message-gate", daemon=True)
                self._thread.start()
            loop = self._loop
        return asyncio.run_coroutine_threadsafe(work, loop).result()
