"""The prompts of the gate, as a model receives them: what each dimension shows of persona and earlier messages."""

from __future__ import annotations

import re

import pytest

from benchmarks.gate import MOST_TOKENS, MOST_TOKENS_OF_ALL, experiment_prompts, history, tokens_per_check
from evaluation.corrections.config import CorrectionConfig
from evaluation.corrections.message_gate import MessageGate
from evaluation.judging.live_judge import LiteLLMJudge
from evaluation.judging.model_client.language_model import LLMClient
from evaluation.judging.model_client.provider import provider_of
from evaluation.judging.prompts import SCORE_SYSTEM
from tests.judge_server import JudgeServer, plausible_answer

PERSONA = "A potter in a small town who distrusts banks."
TEXT = "I would sooner bury my money under the kiln."
HISTORY = [("Bob", "Shall we open an account?"), ("Ann", "Not with my clay money."), ("Bob", "Why not?\nIt is safe.")]

WITH_PERSONA = f'Persona of "Ann", which nobody said:\n<<mark>>\n{PERSONA}\n<<mark>>\n\n'
ALONE = f"What was said:\n<<mark>>\n[M1] Ann acts: {TEXT}\n<<mark>>\n\n"
AFTER_ALL = f"""\
What was said:
<<mark>>
[M1] Bob --> Ann: Shall we open an account?
[M2] Ann acts: Not with my clay money.
[M3] Bob --> Ann: Why not?
| It is safe.
[M4] Ann acts: {TEXT}
<<mark>>

"""
AFTER_OWN = f"What was said:\n<<mark>>\n[M1] Ann acts: Not with my clay money.\n[M2] Ann acts: {TEXT}\n<<mark>>\n\n"


# What is shown, the number of the message that is judged, and the number of claims.
EXPECTED = {
    ("adherence", False): (WITH_PERSONA + ALONE, 1, 5),
    ("adherence", True): (WITH_PERSONA + AFTER_ALL, 4, 5),
    # Nothing was said before, so there is nothing to be consistent with: every claim holds, and nobody is asked.
    ("consistency", False): None,
    ("consistency", True): (AFTER_OWN, 2, 2),
    # Repetition takes two messages.
    ("fluency", False): (ALONE, 1, 2),
    ("fluency", True): (AFTER_OWN, 2, 3),
    ("suitability", False): (WITH_PERSONA + ALONE, 1, 1),
    ("suitability", True): (WITH_PERSONA + AFTER_ALL, 4, 1),
}


@pytest.mark.parametrize(("dimension", "has_history"), EXPECTED, ids=str)
def test_the_whole_prompt(dimension: str, has_history: bool) -> None:
    bodies: list[dict[str, object]] = []

    def content(body: dict[str, object]) -> str:
        bodies.append(body)
        return plausible_answer(body)

    with JudgeServer(content=content).in_thread() as server:
        judge = LiteLLMJudge(LLMClient(provider_of("local", server.url)))
        config = CorrectionConfig(**{f"gate_{dimension}_enabled": True, "max_correction_attempts": 0})
        with MessageGate(judge, config, timeout_seconds=60) as gate:
            result = gate.send(lambda _: TEXT, "Ann", HISTORY if has_history else (), PERSONA)
    assert result.attempts[0].checks[0].is_answered
    expected = EXPECTED[dimension, has_history]
    sent = [body["messages"] for body in bodies]
    if expected is None:
        assert sent == []
        return
    shown, number, claims = expected
    ((system, user),) = sent  # type: ignore[misc]
    assert system == {"role": "system", "content": SCORE_SYSTEM}
    prompt = re.sub(r"<<[0-9a-f]{16}>>", "<<mark>>", user["content"])
    assert prompt.startswith(shown)
    *asked, answer = prompt.removeprefix(shown).split("\n\n")
    assert len(asked) == claims
    assert all(f"Claim about message [M{number}]: " in claim for claim in asked)
    assert answer.startswith("Answer ")


def test_a_check_after_twenty_messages_of_a_game_stays_within_its_tokens() -> None:
    context = history("game")
    assert len(context.trajectory) == 20
    sent = [counts[0] for counts in tokens_per_check(context).values()]
    assert max(sent) <= MOST_TOKENS
    assert sum(sent) <= MOST_TOKENS_OF_ALL


def test_no_prompt_of_the_shipped_experiment_sets_the_draft_apart() -> None:
    prompts = experiment_prompts(1_000)
    assert len(prompts) > 60
    assert not [prompt for prompt in prompts if "another conversation" in prompt]
