"""The gate: outcomes, totals, time limits, and what is logged."""

import asyncio
import inspect
import math
import pickle
from collections.abc import Mapping, Sequence

import pytest

from evaluation.corrections.action_gate import (
    ActionContext,
    ActionGate,
    GateOutcome,
    GateResult,
    MessageScore,
    PoorQualityError,
)
from evaluation.corrections.config import DIMENSIONS, CorrectionConfig, read_config
from evaluation.errors import InfrastructureError, InputError, StoreError

HANGS = "hangs"
BREAKS = "breaks"
BUG = "has a bug"
Answer = float | str
ADHERENCE = CorrectionConfig(gate_adherence_enabled=True)
TWO = CorrectionConfig(gate_adherence_enabled=True, gate_fluency_enabled=True)
EVERY = CorrectionConfig(**{f"gate_{name}_enabled": True for name in DIMENSIONS})
SIMILARITY = CorrectionConfig(gate_similarity_enabled=True)


class Scripted:
    """Answers by text and dimension: a score, or a way to fail."""

    def __init__(self, answers: Mapping[str, Answer | Mapping[str, Answer]]) -> None:
        self.answers = answers
        self.asked: list[tuple[str, str]] = []

    async def check(self, dimension: str, text: str, context: ActionContext) -> MessageScore:
        self.asked.append((dimension, text))
        answer = self.answers[text]
        if isinstance(answer, Mapping):
            answer = answer[dimension]
        if answer == HANGS:
            await asyncio.Event().wait()
        if answer == BREAKS:
            raise InfrastructureError("Connection refused.")
        if answer == BUG:
            raise RuntimeError
        return MessageScore(float(answer), f"because {dimension} is {answer}", ("Be bolder.",))


class Speaker:
    """Says one text after the other and keeps the feedback."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.feedback: list[str] = []

    async def __call__(self, feedback: str) -> str:
        self.feedback.append(feedback)
        return self.texts[len(self.feedback) - 1]


def send(
    answers: Mapping[str, Answer | Mapping[str, Answer]],
    *texts: str,
    config: CorrectionConfig = ADHERENCE,
    said: Sequence[str] = (),
) -> tuple[GateResult, Speaker, list[GateResult]]:
    logged: list[GateResult] = []
    speaker = Speaker(*texts)

    async def log(result: GateResult) -> None:
        logged.append(result)

    async def run() -> GateResult:
        gate = ActionGate(Scripted(answers), log=log, timeout_seconds=0.05)
        return await gate.send(speaker, ActionContext("michael", said), config)

    return asyncio.run(run()), speaker, logged


@pytest.mark.parametrize(
    ("scores", "sent", "outcome"),
    [
        # 7 is needed, and two retries are made at most.
        ([7], "a", GateOutcome.PASSED),
        ([6.9, 7], "b", GateOutcome.PASSED_AFTER_RETRY),
        ([3, 5, 4], "b", GateOutcome.CORRECTED),
        # No retry is better: ties go to the earlier attempt.
        ([5, 5, 4], "a", GateOutcome.FORCED_THROUGH),
    ],
)
def test_what_is_sent_and_how_that_is_called(scores: list[float], sent: str, outcome: GateOutcome) -> None:
    result, speaker, logged = send(dict(zip("abc", scores, strict=False)), *"abc")
    assert (result.text, result.outcome, len(result.attempts)) == (sent, outcome, len(scores))
    assert speaker.feedback[0] == ""
    assert logged == [result]


def test_a_retry_is_told_what_was_wrong() -> None:
    result, speaker, _ = send({"a": 6.9, "b": 7}, "a", "b")
    assert result.attempts[0].feedback == speaker.feedback[1]
    for part in ("6.9 of 9", "needed 7", "because adherence is 6.9", "Be bolder.", "more radically"):
        assert part in speaker.feedback[1]


def test_the_total_is_the_sum_and_a_silent_judge_counts_its_threshold() -> None:
    # a: 4 + 6 = 10; b: 6.9 + 7 (threshold, no answer) = 13.9; c: 9 + 4.5 = 13.5
    answers: dict[str, Answer | Mapping[str, Answer]] = {
        "a": {"adherence": 4, "fluency": 6},
        "b": {"adherence": 6.9, "fluency": HANGS},
        "c": {"adherence": 9, "fluency": 4.5},
    }
    result, _, _ = send(answers, "a", "b", "c", config=TWO)
    assert [attempt.total for attempt in result.attempts] == [10, pytest.approx(13.9), 13.5]
    assert result.text == "b"


@pytest.mark.parametrize("failure", [HANGS, BREAKS, BUG, math.nan, math.inf, -math.inf])
def test_a_dead_judge_never_blocks(failure: Answer) -> None:
    result, speaker, logged = send({"a": failure}, "a", config=TWO)
    assert (result.text, result.outcome) == ("a", GateOutcome.TIMEOUT_PASS_THROUGH)
    assert len(speaker.feedback) == len(logged) == 1
    assert all(check.found.reasoning and check.found.score is None for check in result.attempts[0].checks)


async def full_disk(result: GateResult) -> None:
    raise StoreError("The disk is full.")


@pytest.mark.parametrize("score", [8, 3])
def test_a_log_that_fails_loses_no_message(score: float, caplog: pytest.LogCaptureFixture) -> None:
    config = ADHERENCE.model_copy(update={"max_correction_attempts": 0})
    gate = ActionGate(Scripted({"a": score}), log=full_disk)
    result = asyncio.run(gate.send(Speaker("a"), ActionContext("michael"), config))
    assert result.text == "a"
    assert "The disk is full." in caplog.text
    strict = ActionGate(Scripted({"a": score}), log=full_disk, is_strict=True)
    with pytest.raises(StoreError):
        asyncio.run(strict.send(Speaker("a"), ActionContext("michael"), config))


@pytest.mark.parametrize(
    ("texts", "sent", "outcome"),
    [
        ("a", "a", GateOutcome.FORCED_THROUGH),
        ("ab", "b", GateOutcome.CORRECTED),
        ("cb", "c", GateOutcome.FORCED_THROUGH),
    ],
)
def test_an_agent_that_fails_at_writing_anew_loses_no_message(
    texts: str, sent: str, outcome: GateOutcome, caplog: pytest.LogCaptureFixture
) -> None:
    # The speaker raises IndexError when it has no further text; 7 is needed.
    config = ADHERENCE.model_copy(update={"max_correction_attempts": 3})
    result, _, logged = send({"a": 3, "b": 4, "c": 5}, *texts, config=config)
    assert (result.text, result.outcome, len(result.attempts)) == (sent, outcome, len(texts))
    assert logged == [result]
    assert "IndexError" in caplog.text
    with pytest.raises(PoorQualityError):
        send({"a": 3, "b": 4, "c": 5}, *texts, config=config.model_copy(update={"continue_on_failure": False}))


def test_a_strict_gate_raises_what_would_change_an_experiment() -> None:
    for answers, fault in (({"a": BUG}, RuntimeError), ({"a": 3}, IndexError)):
        gate = ActionGate(Scripted(answers), is_strict=True)
        with pytest.raises(fault):
            asyncio.run(gate.send(Speaker("a"), ActionContext("michael"), ADHERENCE))
    dead = ActionGate(Scripted({"a": BREAKS}), is_strict=True)
    sent = asyncio.run(dead.send(Speaker("a"), ActionContext("michael"), ADHERENCE))
    assert sent.outcome is GateOutcome.TIMEOUT_PASS_THROUGH


def test_whoever_cancels_a_message_is_obeyed() -> None:
    async def run() -> None:
        task = asyncio.create_task(
            ActionGate(Scripted({"a": HANGS})).send(Speaker("a"), ActionContext("michael"), ADHERENCE)
        )
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())


def test_with_similarity_alone_the_least_similar_is_sent() -> None:
    # The words one two three four, said before: a shares 4 of 4, b 4 of 5, c 4 of 6 = 0.67, still above 0.6.
    texts = ("one two three four", "one two three four five", "one two three four five six")
    result, speaker, _ = send({}, *texts, config=SIMILARITY, said=["one two three four"])
    assert [attempt.similarity for attempt in result.attempts] == [1, 0.8, pytest.approx(2 / 3)]
    assert (result.text, result.outcome) == (texts[2], GateOutcome.CORRECTED)
    assert "100% of the words" in speaker.feedback[1]
    assert result.attempts[0].total is None


def test_similarity_looks_at_the_last_five_messages_and_adds_nothing_to_the_total() -> None:
    said = ["old words here", *(f"filler number{n}" for n in range(5))]
    config = ADHERENCE.model_copy(update={"gate_similarity_enabled": True})
    result, _, _ = send({"old words here": 8}, "old words here", config=config, said=said)
    assert (result.attempts[0].similarity, result.attempts[0].total) == (0, 8)
    assert result.outcome is GateOutcome.PASSED


def test_the_gate_sleeps_until_the_agent_has_acted_often_enough() -> None:
    config = ADHERENCE.model_copy(update={"minimum_required_qty_of_actions": 2})
    asleep, _, logged = send({"a": 0}, "a", config=config, said=["one"])
    assert (asleep.text, asleep.outcome, logged) == ("a", None, [])
    awake, _, _ = send({"a": 8}, "a", config=config, said=["one", "two"])
    assert awake.outcome is GateOutcome.PASSED


def test_nothing_is_sent_or_lost_when_going_on_is_forbidden() -> None:
    config = ADHERENCE.model_copy(update={"continue_on_failure": False, "max_correction_attempts": 1})
    logged: list[GateResult] = []

    async def log(result: GateResult) -> None:
        logged.append(result)

    gate = ActionGate(Scripted({"a": 1, "b": 2}), log=log)
    with pytest.raises(PoorQualityError, match="None of 2 attempts") as caught:
        asyncio.run(gate.send(Speaker("a", "b"), ActionContext("michael"), config))
    assert logged == [caught.value.result]
    assert logged[0].committed is None
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.result) == (str(caught.value), caught.value.result)
    assert copy.remedy


def test_all_dimensions_are_judged_at_the_same_time() -> None:
    class Together:
        def __init__(self) -> None:
            self.barrier = asyncio.Barrier(len(DIMENSIONS))

        async def check(self, dimension: str, text: str, context: ActionContext) -> MessageScore:
            await self.barrier.wait()
            return MessageScore(9, "good")

    async def run() -> GateResult:
        return await ActionGate(Together()).send(Speaker("a"), ActionContext("x"), EVERY)

    assert asyncio.run(run()).outcome is GateOutcome.PASSED


def test_every_default_of_the_table() -> None:
    assert inspect.signature(ActionGate).parameters["timeout_seconds"].default == 5.0
    assert CorrectionConfig().model_dump() == {
        "gate_adherence_enabled": False,
        "gate_consistency_enabled": False,
        "gate_fluency_enabled": False,
        "gate_suitability_enabled": False,
        "gate_adherence_threshold": 7.0,
        "gate_consistency_threshold": 7.0,
        "gate_fluency_threshold": 7.0,
        "gate_suitability_threshold": 7.0,
        "gate_similarity_enabled": False,
        "max_action_similarity": 0.6,
        "max_correction_attempts": 2,
        "continue_on_failure": True,
        "minimum_required_qty_of_actions": 0,
        "anti_convergence_enabled": False,
        "convergence_threshold": 0.6,
        "variety_intervention_enabled": False,
        "variety_message_threshold": 7,
        "repetition_suppression_enabled": False,
        "repetition_threshold": 0.3,
    }


def test_every_wrong_setting_is_named() -> None:
    with pytest.raises(InputError) as caught:
        read_config({"gate_fluency_threshold": 10.0, "max_action_similarity": float("nan"), "colour": "red"})
    message = str(caught.value)
    for part in ("gate_fluency_threshold", "10.0", "max_action_similarity", "nan", "colour", "Known settings"):
        assert part in message
