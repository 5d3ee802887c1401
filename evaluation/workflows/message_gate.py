"""The gate for programs of your own: plain arguments in, the message to send out, synchronous or asynchronous."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TYPE_CHECKING, Self

from evaluation.corrections.action_gate import TIMEOUT_SECONDS, ActionContext, ActionGate, GateResult
from evaluation.corrections.config import CorrectionConfig
from evaluation.corrections.proposition_checks import PropositionChecker
from evaluation.judging.judge_config import ChosenJudge, build_judge, judge_config
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.propositions import TrajectoryEvent
from evaluation.judging.protocol import Judge
from evaluation.text.agent_names import agent_name, slug_of

if TYPE_CHECKING:
    from evaluation.store import Store

History = Iterable[tuple[str, str]]
"""What was said before, oldest first: (speaker, text)."""

_CONVERSATION = "conversation"


class MessageGate:
    """Judges messages before they are sent and has them written again: the gate for any program.

    ``send`` is for ordinary functions, also where an event loop runs already, such as in a notebook; ``send_async`` for
    coroutines. Use one of the two with an instance.

    Args:
        judge: Who marks messages; that of the options, environment and settings when left out (``build_judge``).
        config: What is checked, for every agent; when left out, what ``store`` holds for the agent, or else adherence
            at 7 with two retries.
        library: The propositions; those that come with Dramaturg when left out.
        store: What the page *Agents, Checks* stored for each agent counts, read anew for each message, and what the
            gate did is logged there, as one run that ``close`` completes.
        timeout_seconds: How long one judgement may take before it passes.
    """

    def __init__(
        self,
        judge: Judge | None = None,
        config: CorrectionConfig | None = None,
        *,
        library: PropositionLibrary | None = None,
        store: Store | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        self._judge = build_judge(judge_config()) if judge is None else judge
        self._config = config
        self._store = store
        self._run_id = ""
        checker = PropositionChecker(self._judge, library or PropositionLibrary.load())
        self._gate = ActionGate(checker, log=self._log, timeout_seconds=timeout_seconds)
        self._is_prepared = False
        self._run_lock = threading.Lock()

    async def send_async(
        self, generate: Callable[[str], Awaitable[str]], agent: str, history: History = (), persona: str = ""
    ) -> GateResult:
        """The message to send (``text``) with all attempts at it.

        Args:
            generate: Writes a message; it is given the feedback on the attempt before, and an empty text at first.
            agent: The agent's name, under which ``history`` has its own messages, in any case; with ``store`` its id or
                name there, and its messages may stand under either.
            history: What was said before, oldest first: (speaker, text).
            persona: The description of the agent.

        Raises:
            PoorQualityError: Nothing passed and the configuration forbids to go on.
            InputError: It cannot be an agent's name, or several agents of ``store`` have it.
        """
        await self._prepare()
        agent_id, name, config = await asyncio.to_thread(self._known, agent)
        own = set(map(slug_of, (agent, agent_id, name)))
        events = [
            TrajectoryEvent(_CONVERSATION, f"m{number}", speaker, text, slug_of(speaker) in own)
            for number, (speaker, text) in enumerate(history)
        ]
        context = ActionContext.of(agent_id, events, name=name, persona=persona)
        return await self._gate.send(generate, context, config)

    def _known(self, agent: str) -> tuple[str, str, CorrectionConfig]:
        """Id, display name and configuration of the agent."""
        usual = self._config or CorrectionConfig(gate_adherence_enabled=True)
        kept = agent_name(agent)
        if self._store is None:
            return kept, kept, usual
        known = self._store.corrections.agent(agent)
        stored = None if self._config else self._store.corrections.stored_config(known.id)
        return known.id, known.display_name, stored or usual

    def send(self, generate: Callable[[str], str], agent: str, history: History = (), persona: str = "") -> GateResult:
        """Like ``send_async``, for an ordinary function, which is called in another thread."""

        async def written(feedback: str) -> str:
            return generate(feedback)

        # A thread of its own, as the caller may have an event loop.
        with ThreadPoolExecutor(1, thread_name_prefix="message-gate") as thread:
            return thread.submit(asyncio.run, self.send_async(written, agent, history, persona)).result()

    def close(self) -> None:
        """Ends the run in the store; does nothing when there is none."""
        if self._run_id and self._store is not None:
            self._store.corrections.end_run(self._run_id)
            self._run_id = ""

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
        if self._store is not None:
            await asyncio.to_thread(self._keep_in_run, self._store, result)

    def _keep_in_run(self, store: Store, result: GateResult) -> None:
        # Two messages may be done at the same time, and are of one run.
        with self._run_lock:
            self._run_id = self._run_id or store.corrections.begin_run("message gate")
        store.corrections.add(result, run_id=self._run_id)
