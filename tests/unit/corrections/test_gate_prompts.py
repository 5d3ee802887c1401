"""The exact prompts of the gate, as a model receives them, in each dimension, with and without earlier messages."""

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

FIELDS = (
    '"reason": two or three sentences, "score": whole number, 0 to 9, "confidence": how sure you are, 0.0 to 1.0, '
    '"citations": [numbers N of messages [MN] that bear it out], "data_missing": true or false'
)
ONE = f"Answer with one JSON object and nothing else:\n{{{FIELDS}}}"
SEVERAL = (
    "Answer every item on its own, with one JSON object and nothing else:\n"
    f'{{"answers": [{{"item": its number, {FIELDS}}}, ...]}}'
)
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


def adherence(number: str) -> str:
    claims = [
        'What "Ann" says follows from the persona: its interests, knowledge, values and circumstances.',
        '"Ann" speaks in the manner that the persona describes: tone, vocabulary, length and directness.',
        '"Ann" says something that contradicts a fact, a belief or a trait of the persona.',
        '"Ann" sounds like a helpful computer assistant rather than like the person described.',
        f"The message {number} is one that only somebody with this persona would write in this situation.",
    ]
    return items(number, claims)


def items(number: str, claims: list[str]) -> str:
    said = (f"[P{place}] Claim about message {number}: {claim}" for place, claim in enumerate(claims, start=1))
    return "\n\n".join([*said, SEVERAL])


CONSISTENCY = [
    'The message [M2] and the earlier messages of "Ann" could come from one and the same person.',
    'In [M2], "Ann" reverses an earlier opinion or statement of fact without giving a reason.',
]
NATURAL = '"Ann" speaks naturally, as a person in this situation would.'
REPETITION = '"Ann" repeats the same thoughts, openings or phrases from message to message.'
FORMULA = '"Ann" talks in set phrases that would fit any conversation.'


def suitability(number: str) -> str:
    return (
        f'Claim about message {number}: {number} is a fitting next thing for "Ann" to say here: it answers what was '
        f"said, serves what the persona wants, or moves the conversation on.\n\n{ONE}"
    )


EXPECTED = {
    ("adherence", False): WITH_PERSONA + ALONE + adherence("[M1]"),
    ("adherence", True): WITH_PERSONA + AFTER_ALL + adherence("[M4]"),
    # Nothing was said before, so there is nothing to be consistent with: every claim holds, and nobody is asked.
    ("consistency", False): None,
    ("consistency", True): AFTER_OWN + items("[M2]", CONSISTENCY),
    # Repetition takes two messages.
    ("fluency", False): ALONE + items("[M1]", [NATURAL, FORMULA]),
    ("fluency", True): AFTER_OWN + items("[M2]", [NATURAL, REPETITION, FORMULA]),
    ("suitability", False): WITH_PERSONA + ALONE + suitability("[M1]"),
    ("suitability", True): WITH_PERSONA + AFTER_ALL + suitability("[M4]"),
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
    wanted = EXPECTED[dimension, has_history]
    sent = [body["messages"] for body in bodies]
    if wanted is None:
        assert sent == []
        return
    ((system, user),) = sent  # type: ignore[misc]
    assert system == {"role": "system", "content": SCORE_SYSTEM}
    assert re.sub(r"<<[0-9a-f]{16}>>", "<<mark>>", user["content"]) == wanted


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
