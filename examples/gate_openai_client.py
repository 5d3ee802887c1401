"""An OpenAI client behind the gate: ``python examples/gate_openai_client.py MODEL`` with OPENAI_API_KEY set.

``OPENAI_BASE_URL`` names another server. The same model speaks and judges here.
"""

from __future__ import annotations

import sys

from openai import OpenAI

from evaluation.corrections.integrations import GatedClient, MessageGate
from evaluation.judging.judge_config import build_judge, judge_config

model = sys.argv[1] if len(sys.argv) > 1 else "gpt-4o-mini"
judge = build_judge(judge_config({"model": model}))
messages = [
    {"role": "system", "content": "You are Michael, a regional manager who loves attention. Answer in one sentence."},
    {"role": "user", "content": "Who runs this office?"},
]
with MessageGate(judge, timeout_seconds=60) as gate:
    client = GatedClient(OpenAI(), gate, "michael")
    answer = client.create(messages, model=model)
print(answer.choices[0].message.content)
