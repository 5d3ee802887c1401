"""Two models talk in turns, and every message is recorded: ``python examples/record_a_game.py FOLDER MODEL``.

Needs OPENAI_API_KEY; ``OPENAI_BASE_URL`` names another server. Then: ``dramaturg import FOLDER``.
"""

from __future__ import annotations

import sys

from openai import OpenAI

from evaluation import Recorder

folder = sys.argv[1] if len(sys.argv) > 1 else "games"
model = sys.argv[2] if len(sys.argv) > 2 else "gpt-4o-mini"
client = OpenAI()
roles = {"Ann": "doctor", "Ben": "mafia"}
with Recorder(folder) as recorder:
    for name, role in roles.items():
        recorder.player(name, role, model=model, is_human=False)
    said: list[str] = []
    for turn in range(6):
        if turn % 2 == 0:
            recorder.begin_round(turn // 2 + 1)
        name = list(roles)[turn % 2]
        asked = f"You are {name}, the {roles[name]}, in a game of Mafia. Answer in one sentence.\n" + "\n".join(said)
        answer = client.chat.completions.create(model=model, messages=[{"role": "user", "content": asked}])
        text = answer.choices[0].message.content or ""
        recorder.message(name, text)
        if answer.usage is not None:
            recorder.cost(input_tokens=answer.usage.prompt_tokens, output_tokens=answer.usage.completion_tokens)
        said.append(f"{name}: {text}")
print(recorder.path)
