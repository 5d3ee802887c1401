"""Two agents talk, and the gate looks at every message before it is sent: ``python examples/gated_chat.py``.

With ``--db FILE`` it logs what the gate did, for *Agents, Checks*. Needs no key
and no network: agents and judge follow a script. In a project of your own ``speak`` asks your model, and a judge comes
from ``build_judge`` of ``evaluation.judging.judge_config``.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from evaluation.corrections.action_gate import ActionContext, ActionGate, GateResult
from evaluation.corrections.config import CorrectionConfig
from evaluation.corrections.proposition_checks import PropositionChecker
from evaluation.judging.answers import ScoreAnswer
from evaluation.judging.judges_without_model import ScriptedJudge
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.propositions import DEFAULT_AGENT, Dimension, Proposition, TrajectoryEvent
from evaluation.judging.protocol import JudgeRequest
from evaluation.store import Store

CONFIG = CorrectionConfig(gate_adherence_enabled=True, gate_similarity_enabled=True)
DRAFTS = {
    "michael": ["As an assistant, I can list three options.", "Let me tell you how I once saved this whole office."],
    "dwight": ["Rule one: nobody leaves before the beets are counted."],
}


LIBRARY = PropositionLibrary(
    {
        (Dimension.ADHERENCE, DEFAULT_AGENT): (
            Proposition(
                "in-character",
                "{{action}} sounds like {{agent_name}} and not like a computer assistant.",
                Dimension.ADHERENCE,
                recommendations_for_improvement="Drop the list and speak as the person.",
            ),
        )
    }
)


def judge(request: JudgeRequest) -> ScoreAnswer:
    """Marks what sounds like an assistant 2, and everything else 8."""
    mark = 2 if "As an assistant" in request.prompt.text else 8
    return ScoreAnswer(reason="So it reads.", score=mark, confidence=0.9, citations=[], data_missing=False)


async def speak(agent: str, history: list[TrajectoryEvent], gate: ActionGate) -> GateResult:
    """One agent's message: written, judged, and written anew until it passes."""
    drafts = iter(DRAFTS[agent])

    async def generate(feedback: str) -> str:
        if feedback:
            print(f"   (sent back to {agent}: {feedback.splitlines()[3]})")
        return next(drafts)

    heard = [TrajectoryEvent("chat", e.message_id, e.speaker, e.text, e.speaker == agent) for e in history]
    return await gate.send(generate, ActionContext.of(agent, heard, persona=f"{agent} of the paper company"), CONFIG)


async def chat(store: Store | None = None) -> list[GateResult]:
    """Both agents speak once; returns what the gate found, and logs it in ``store``."""

    async def log(result: GateResult) -> None:
        if store is not None:
            await asyncio.to_thread(store.corrections.add, result)

    gate = ActionGate(PropositionChecker(ScriptedJudge(judge), LIBRARY), log=log)
    history: list[TrajectoryEvent] = []
    results = []
    for agent in DRAFTS:
        result = await speak(agent, history, gate)
        results.append(result)
        history.append(TrajectoryEvent("chat", f"m{len(history)}", agent, result.text, True))
        print(f"{agent}: {result.text}   [{result.outcome}]")
    return results


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Two scripted agents talk through the gate.")
    parser.add_argument("--db", type=Path, help="a database of Dramaturg in which the gate logs what it did")
    path = parser.parse_args().db
    asyncio.run(chat(Store(path) if path else None))
