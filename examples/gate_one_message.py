"""The gate around any function that writes text: ``python examples/gate_one_message.py``.

Needs no key: the judge is a script. Without ``judge`` and ``library`` a model judges by the shipped propositions.
"""

import asyncio

from evaluation.judging.answers import ScoreAnswer
from evaluation.judging.judges_without_model import ScriptedJudge
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.propositions import DEFAULT_AGENT, Dimension, Proposition
from evaluation.judging.protocol import JudgeRequest
from evaluation.workflows.message_gate import MessageGate

CLAIM = Proposition("in-character", "{{action}} sounds like {{agent_name}}.", Dimension.ADHERENCE)
LIBRARY = PropositionLibrary({(Dimension.ADHERENCE, DEFAULT_AGENT): (CLAIM,)})
HISTORY = [("Dwight", "Who runs this office?")]


def judge(request: JudgeRequest) -> ScoreAnswer:
    """Marks what sounds like an assistant 2, and everything else 8."""
    return ScoreAnswer(reason="", score=2 if "As an assistant" in request.prompt.text else 8, confidence=0.9)


def write(feedback: str) -> str:
    """Asks your model; here the second draft follows the feedback."""
    return "Let me tell you how I once saved this whole office." if feedback else "As an assistant, I can help."


async def write_async(feedback: str) -> str:
    """The same in asynchronous code."""
    return write(feedback)


with MessageGate(ScriptedJudge(judge), library=LIBRARY) as gate:
    sent = gate.send(write, "michael", HISTORY, persona="A regional manager who loves attention.")
    print(f"{sent.text} [{sent.outcome}]")
sent = asyncio.run(MessageGate(ScriptedJudge(judge), library=LIBRARY).send_async(write_async, "michael", HISTORY))
print(f"{sent.text} [{sent.outcome}]")
