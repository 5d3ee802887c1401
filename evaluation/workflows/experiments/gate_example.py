"""A log of the gate to look at: it reads the messages of a sample game, without a model."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

from evaluation.corrections.attempts import GateResult
from evaluation.corrections.config import CorrectionConfig
from evaluation.corrections.context import ActionContext
from evaluation.corrections.gate import ActionGate
from evaluation.corrections.proposition_checks import PropositionChecker
from evaluation.judging.judges.offline import OfflineJudge
from evaluation.judging.propositions.loading import PropositionLibrary
from evaluation.persona.agents import slug_of
from evaluation.readers import read_path
from evaluation.store import Store
from evaluation.transcript import Transcript
from evaluation.workflows.samples import load_manifest

CONFIG = CorrectionConfig(gate_similarity_enabled=True, max_action_similarity=0.25)
"""Similarity alone: it is counted, and needs no model."""


def log_gate_example(store: Store) -> int:
    """Sends the messages of the first sample game through the gate and logs what it does; returns how many it checked.

    A speaker's message that is too like earlier ones is sent back; the speaker's next message in the game takes the
    place of the text that a model would write anew.

    Raises:
        InputError: The sample cannot be read.
    """
    results = asyncio.run(gated(_sample()))
    with store.unit(write=True):
        for result in results:
            store.corrections.add(result)
    return len(results)


async def gated(transcript: Transcript) -> Sequence[GateResult]:
    """The results of the gate for the messages of a game, in their order."""
    gate = ActionGate(PropositionChecker(OfflineJudge(), PropositionLibrary.load()))
    waiting: dict[str, deque[str]] = {}
    for message in transcript.discussion:
        waiting.setdefault(message.speaker, deque()).append(message.text)
    sent: dict[str, list[str]] = {speaker: [] for speaker in waiting}
    results = []
    for message in transcript.discussion:
        drafts = waiting[message.speaker]
        if not drafts:
            continue

        async def generate(_feedback: str, drafts: deque[str] = drafts) -> str:
            return drafts.popleft()

        said = sent[message.speaker]
        context = ActionContext(slug_of(message.speaker), tuple(said), name=message.speaker)
        retries = min(CONFIG.max_correction_attempts, len(drafts) - 1)
        config = CONFIG.model_copy(update={"max_correction_attempts": retries})
        results.append(await gate.send(generate, context, config))
        said.append(results[-1].text)
    return results


def _sample() -> Transcript:
    (result,) = read_path(load_manifest().iterations[0].games[0])
    if result.error is not None:
        raise result.error
    assert result.transcript is not None
    return result.transcript
