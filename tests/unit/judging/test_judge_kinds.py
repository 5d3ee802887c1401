"""The judges that need no network: rules, recordings and scripts; and how the judge is chosen."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evaluation.errors import InputError
from evaluation.judging.answers import CheckAnswer, ScoreAnswer
from evaluation.judging.cached_judge import KeptAnswer
from evaluation.judging.judge_config import has_key, judge_config
from evaluation.judging.judges_without_model import (
    NEEDS_A_MODEL,
    OfflineJudge,
    RecordedJudge,
    RecordingJudge,
    ScriptedJudge,
    consistency,
    convergence,
    fluency,
    read_recordings,
)
from evaluation.judging.protocol import Judge, JudgeKind, Judgement, JudgementStatus, JudgeRequest, OfflineInput
from tests.judge_questions import claim

SIX = ScoreAnswer(reason="so so", score=6, confidence=0.5, citations=[1, 9])


def judged(judge: Judge, requests: Sequence[JudgeRequest]) -> list[Judgement]:
    told: list[tuple[int, Judgement]] = []
    judgements = asyncio.run(judge.judge(requests, report=lambda position, one: told.append((position, one))))
    assert sorted(told, key=lambda pair: pair[0]) == list(enumerate(judgements))
    return judgements


def test_fluency_is_the_share_of_new_phrases() -> None:
    # Phrases of twelve words are 10; said twice they are 20, of which 10 are new: 10 / 20.
    twelve = "one two three four five six seven eight nine ten eleven twelve"
    assert fluency([[twelve, twelve]]).share == 0.5
    assert fluency([[twelve]]).share == 1.0
    assert fluency([["too few words"]]).share is None
    assert fluency([]).share is None


def test_voices_are_distinct_when_they_share_few_words() -> None:
    ann = " ".join(f"ann{number}" for number in range(30))
    bob = " ".join([*(f"ann{number}" for number in range(10)), *(f"bob{number}" for number in range(10))])
    # Ann is cut to Bob's 20 words; 10 of the 30 different ones are in both: 1 - 10 / 30.
    assert convergence([[ann], [bob]]).share == pytest.approx(2 / 3)
    assert convergence([[ann], [ann]]).share == 0.0
    assert convergence([[ann], ["hello"]]).share is None


def test_style_is_consistent_when_the_same_letters_follow_each_other() -> None:
    early, other = "abc" * 40, "xyz" * 40
    assert consistency([[early], [early]]).share == pytest.approx(1.0)
    assert consistency([[early], [other]]).share == 0.0
    # 60 characters of each: abc 20, bca 19, cab 19 and the same of xyz, and two triples across the border,
    # against abc 40, bca 39, cab 39: 20 * 40 + 19 * 39 + 19 * 39 = 2,282 over
    # sqrt((400 + 361 + 361) * 2 + 2) * sqrt(1,600 + 1,521 + 1,521) = 47.39 * 68.13.
    mixed = consistency([["abc" * 20 + "xyz" * 20], [early]]).share
    assert mixed == pytest.approx(2282 / (2246**0.5 * 4642**0.5))
    assert consistency([[early], ["short"]]).share is None
    assert consistency([[early]]).share is None


def test_short_messages_are_joined_until_each_side_has_a_hundred_characters() -> None:
    # Ten messages of 30 characters: four of them are judged (123 characters with blanks), six are what came before.
    chat = ["abc" * 10] * 9
    assert consistency([chat, ["abc" * 10]]).share == pytest.approx(1.0, abs=0.05)
    assert consistency([chat[:5], ["abc" * 10]]).share is None
    other = ["xyz" * 10] * 3
    assert consistency([[*chat, *other], ["xyz" * 10]]).share == pytest.approx(0.0, abs=0.05)


def test_the_offline_judge_scores_what_it_can_count_and_says_so() -> None:
    twelve = "one two three four five six seven eight nine ten eleven twelve"
    texts = ((twelve, twelve, twelve),)
    # 10 of 30 phrases are new: 9 / 3 = 3.
    plain, inverted, short, other, check = judged(
        OfflineJudge(),
        [
            claim(offline=OfflineInput("fluency", texts)),
            claim(offline=OfflineInput("fluency", texts, is_inverted=True)),
            claim(offline=OfflineInput("fluency", (("hello",),))),
            claim(),
            claim(answer=CheckAnswer, offline=OfflineInput("fluency", texts)),
        ],
    )
    assert (plain.score, inverted.score) == (3, 6)
    assert plain.reason.startswith("Counted, not judged by a model: 20 of 30")
    assert (plain.judge, plain.confidence, plain.usage.calls) == (JudgeKind.OFFLINE, None, 0)
    assert (short.status, short.score) == (JudgementStatus.NOT_SCORED, None)
    assert [one.detail for one in (other, check)] == [NEEDS_A_MODEL] * 2 == ["needs an LLM judge"] * 2


def test_what_was_recorded_plays_back_the_same(tmp_path: Path) -> None:
    path = tmp_path / "cassettes" / "one.jsonl"
    asked = [claim(1), claim(2, double_check=True)]
    live = judged(RecordingJudge(ScriptedJudge(lambda _: SIX, model="gpt"), path), asked)
    played = judged(RecordedJudge(read_recordings(path.parent), model="gpt"), asked)
    assert [(one.key, one.score, one.reason, one.citations) for one in played] == [
        (one.key, one.score, one.reason, one.citations) for one in live
    ]
    assert played[1].first_answer == SIX
    assert {one.judge for one in played} == {JudgeKind.RECORDED}


def test_a_missing_recording_names_the_proposition_and_the_command() -> None:
    (missing,) = judged(RecordedJudge({}, model="gpt"), [claim()])
    assert missing.status is JudgementStatus.ERROR
    assert "claim 1" in missing.detail
    assert "dramaturg persona record" in missing.detail
    assert missing.score is None


def test_a_recording_of_another_shape_is_as_good_as_missing() -> None:
    key = claim().key("gpt")
    recordings = {key: KeptAnswer(key=key, model="gpt", answers=({"score": 12},))}
    (one,) = judged(RecordedJudge(recordings, model="gpt"), [claim()])
    assert "does not answer the question" in one.detail


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"key": "x"}',
        '{"key": "' + "a" * 64 + '", "model": "m", "answers": []}',
        '{"key": "' + "a" * 64 + '", "model": "m", "answers": [{"score": 1}], "propmt": "x"}',
    ],
)
def test_a_damaged_recording_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f"\n{line}\n")
    with pytest.raises(InputError, match=r"a\.jsonl:2"):
        read_recordings(path)


@pytest.mark.parametrize(
    ("options", "environment", "mode"),
    [
        ({}, {"OPENAI_API_KEY": "k"}, "live"),
        ({"model": "anthropic/claude"}, {"OPENAI_API_KEY": "k"}, "offline"),
        ({"model": "anthropic/claude"}, {"ANTHROPIC_API_KEY": "k"}, "live"),
        ({}, {"OPENAI_BASE_URL": "http://localhost:8080/v1"}, "live"),
        ({"mode": "offline"}, {"OPENAI_API_KEY": "k"}, "offline"),
        ({}, {"OPENAI_API_KEY": "k", "DRAMATURG_JUDGE": "recorded"}, "recorded"),
    ],
)
def test_the_mode_follows_from_what_there_is(options: dict[str, Any], environment: dict[str, str], mode: str) -> None:
    assert judge_config(options, environment=environment).mode == mode


def test_options_come_before_the_environment_and_that_before_settings() -> None:
    environment = {"OPENAI_BASE_URL": "http://env:1/v1/", "DRAMATURG_MODEL": "env"}
    stored = {"base_url": "http://stored:1/v1", "model": "stored", "concurrency": 3}
    config = judge_config({"model": "option", "base_url": None}, stored, environment)
    assert (config.model, config.base_url, config.concurrency) == ("option", "http://env:1/v1", 3)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"concurrency": 0}, "concurrency"),
        ({"base_url": "localhost:80"}, "base_url"),
        ({"base_url": "http://a:99999999/v1"}, "base_url: .*[Pp]ort out of range"),
        ({"base_url": "http://a:http/v1"}, "base_url: .*[Pp]ort could not be cast"),
        ({"base_url": "http://[::1]:0/v1"}, "base_url"),
        ({"base_url": "http://ann:secret@host/v1"}, "base_url"),
        ({"max_usd": -1}, "max_usd"),
        ({"mode": "psychic"}, "mode"),
        ({"api_key": "k"}, "api_key"),
    ],
)
def test_what_cannot_be_used_is_named(options: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named) as caught:
        judge_config(options, environment={})
    assert "secret" not in str(caught.value)


def test_keys_are_looked_at_and_never_kept() -> None:
    assert has_key("gpt-4o-mini", {"OPENAI_API_KEY": "k"})
    assert not has_key("gpt-4o-mini", {"OPENAI_API_KEY": ""})
    assert "topsecret" not in repr(judge_config(environment={"OPENAI_API_KEY": "topsecret"}))
