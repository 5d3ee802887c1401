"""An OpenAI client behind the gate: ``python examples/gate_openai_client.py MODEL`` with OPENAI_API_KEY set.

``OPENAI_BASE_URL`` names another server. The same model speaks and judges here.
"""

from __future__ import annotations

import sys

from openai import OpenAI

from evaluation.judging.judge_config import build_judge, judge_config
from evaluation.workflows.message_gate import MessageGate

model = sys.argv[1] if len(sys.argv) > 1 else "gpt-4o-mini"
persona = "You are Michael, a regional manager who loves attention. Answer in one sentence."
question = "Who runs this office?"
client = OpenAI()


def write(feedback: str) -> str:
    """Asks the model; after a draft that was sent back, with the reasons."""
    told = [{"role": "user", "content": feedback}] if feedback else []
    messages = [{"role": "system", "content": persona}, {"role": "user", "content": question}, *told]
    return client.chat.completions.create(model=model, messages=messages).choices[0].message.content or ""


with MessageGate(build_judge(judge_config({"model": model})), timeout_seconds=60) as gate:
    print(gate.send(write, "michael", [("user", question)], persona).text)
