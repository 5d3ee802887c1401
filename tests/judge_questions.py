"""Questions to a judge that differ in their number only, and what a model answers about the messages of a game."""

import json
import re
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


def entry(number: int, **fields: Any) -> dict[str, Any]:
    """What a model says of a message: nothing in particular, but for ``fields``."""
    nothing = {"reason": "A mood.", "is_strategic": False, "answers": [], "acts": [], "references": []}
    return {"message": number, **nothing, **fields}


def numbers_asked(question: str) -> list[int]:
    """The numbers of the messages that a question about a game asks about."""
    return [int(number) for number in re.findall(r"in this order: ([\d, ]+)\.", question)[-1].split(", ")]


def reading(body: dict[str, Any], **fields: Any) -> str:
    """The answer of a model that says the same of every message, for a ``JudgeServer``."""
    numbers = numbers_asked(str(body["messages"][1]["content"]))
    return json.dumps({"messages": [entry(number, **fields) for number in numbers]})
