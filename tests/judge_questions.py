"""Questions to a judge that differ in their number only."""

from __future__ import annotations

from typing import Any

from evaluation.judging.answers import ScoreAnswer
from evaluation.judging.fencing import FENCE
from evaluation.judging.protocol import JudgeRequest, Prompt


def claim(number: int = 1, **fields: Any) -> JudgeRequest:
    """A question about one message, whether claim ``number`` holds."""
    usual: dict[str, Any] = {
        "purpose": "adherence",
        "subject": f"claim {number}",
        "prompt": Prompt("You judge.", f"{FENCE}\n[M1] Ann: hello\n{FENCE}", f"Claim {number} holds."),
        "answer": ScoreAnswer,
        "prompt_version": "v1",
        "messages": {1: "m1"},
    }
    return JudgeRequest(**(usual | fields))


def claims(count: int, **fields: Any) -> list[JudgeRequest]:
    """Questions about one message, whether claim 0, 1, ... holds."""
    prompts = [Prompt("You judge.", "[M1] Ann: hello", f"Claim {number}.") for number in range(count)]
    return [
        JudgeRequest("adherence", f"claim {number}", prompt, ScoreAnswer, "v1", {1: "m1"}, **fields)
        for number, prompt in enumerate(prompts)
    ]
