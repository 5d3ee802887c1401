"""``assert_persona`` and ``assert_rubric``, in a small project of somebody else's and by themselves."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluation.errors import InputError, JudgeError, NotFoundError
from evaluation.files.bundled import baseline_root, recording_root
from evaluation.judging.answers import ScoreAnswer
from evaluation.judging.judges_without_model import ScriptedJudge
from evaluation.judging.protocol import JudgeRequest
from evaluation.testing import assert_persona, assert_rubric
from evaluation.transcript import Message, Player, Transcript

PROJECT = """
import pytest
from evaluation.testing import assert_persona, assert_rubric

RECORDINGS, BASELINES, RAISED = {places}

def test_jim_is_himself():
    assert_persona("jim", recordings=RECORDINGS, baselines=BASELINES, at_least={{"adherence": 7}})

def test_jim_did_not_fall():
    assert_persona("jim", recordings=RECORDINGS, baselines=RAISED)

def test_jim_is_perfect():
    assert_persona("Jim Halpert", recordings=RECORDINGS, at_least={{"fluency": 9}})

def test_game(tmp_path):
    assert_rubric({game}, metrics=["anti_repetition"])
"""


@pytest.fixture
def raised(tmp_path: Path) -> Path:
    """A folder with a baseline of Jim's that he is 1.5 below."""
    body = json.loads((baseline_root() / "jim.json").read_text("utf-8"))
    body["dimensions"]["fluency"]["score"] += 1.5
    body["dimensions"]["fluency"]["propositions"]["fluency-natural"]["score"] = 9.0
    folder = tmp_path / "raised"
    folder.mkdir()
    (folder / "jim.json").write_text(json.dumps(body), encoding="utf-8")
    return folder


@pytest.fixture
def repetitive(make_game: Callable[..., Transcript]) -> Transcript:
    line = "I really think that we should all vote for the person who was silent yesterday evening."
    return make_game([("Ann", line), ("Ben", line)] * 4, language="en")


def answering(score: int) -> ScriptedJudge:
    return ScriptedJudge(lambda _: ScoreAnswer(reason="So it reads.", score=score, confidence=1.0, citations=[1]))


def said(*texts: str) -> list[Transcript]:
    messages = tuple([Message(id=f"m{i}", index=i, speaker="Ann", text=text) for i, text in enumerate(texts)])
    return [Transcript(game_id="talk", source_format="x", players=(Player(name="Ann"),), messages=messages)]


def test_in_a_project_of_somebody_else_failures_say_who_what_and_what_to_do(
    tmp_path: Path, raised: Path, repetitive: Transcript
) -> None:
    (tmp_path / "game.json").write_text(repetitive.to_json(), encoding="utf-8")
    places = tuple(map(str, (recording_root(), baseline_root(), raised)))
    source = PROJECT.format(places=places, game=repr(str(tmp_path / "game.json")))
    (tmp_path / "test_agents.py").write_text(source, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-W", "error", "-q", "test_agents.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "3 failed, 1 passed" in done.stdout
    for expected in (
        "AssertionError: Jim Halpert, Fluency: 7.38, baseline 8.88: it fell by 1.50, which is more than 1",
        "fluency-natural: 9.00 -> 7.00",
        "make the baseline again with `dramaturg persona baseline --agents jim`.",
        "AssertionError: Jim Halpert, Fluency: 7.38, at least 9 wanted",
        "AssertionError: game, Anti-repetition: ",
        "What to do: look at these rows",
    ):
        assert expected in done.stdout
    # The helper's own frames are no help to anybody.
    assert "personas.py" not in done.stdout.split("short test summary")[0]


def test_what_passes_gives_the_evaluation_back() -> None:
    evaluation = assert_persona("Ann", transcripts=said("Hello.", "Hi."), at_least={"fluency": 3}, judge=answering(4))
    assert evaluation.agent.display_name == "Ann"
    # Natural 4, repetition and formula inverted: (4 + (9 - 4) * 1.0 + (9 - 4) * 0.6) / 2.6 = 12 / 2.6
    assert evaluation.overall_score == pytest.approx(12 / 2.6)


def test_a_low_score_names_the_message_and_the_advice() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_persona(
            "Ann",
            transcripts=said("Hello to all of you here.", "Good evening, my dear friends."),
            persona="A pirate.",
            at_least={"adherence": 8},
            judge=answering(2),
        )
    text = str(caught.value)
    assert text.startswith("Ann, Adherence: ")
    assert ", at least 8 wanted\n" in text
    assert "adherence-persona-visible: new -> 2.00" in text
    assert "Hello to all of you here." in text
    assert "  why: So it reads." in text
    assert "  try: Let the persona's own interests and knowledge decide what is said" in text


def test_what_cannot_be_scored_fails_and_says_why() -> None:
    with pytest.raises(
        AssertionError, match=r"Ann, Adherence: not scored, at least 5 wanted: No persona of Ann is known"
    ):
        assert_persona("Ann", transcripts=said("Hello."), at_least={"adherence": 5}, judge=answering(5))


def test_it_works_inside_an_event_loop() -> None:
    async def asynchronous_test() -> None:
        assert_persona("Ann", transcripts=said("Hello."), at_least={"fluency": 1}, judge=answering(4))

    asyncio.run(asynchronous_test())


def test_a_judge_that_fails_is_no_failed_assertion() -> None:
    broken = ScriptedJudge(lambda _: "The server burns.")
    with pytest.raises(JudgeError, match=r"Ann, Fluency: the judge failed: 3 of 3 were not judged: The server burns\."):
        assert_persona("Ann", transcripts=said("Hello.", "Hi."), at_least={"fluency": 1}, judge=broken)
    with pytest.raises(JudgeError, match="nothing is recorded for this prompt"):
        assert_persona("Ann", transcripts=said("Hi."), at_least={"fluency": 1}, recordings=recording_root())


def test_a_baseline_of_another_judge_is_no_pass() -> None:
    with pytest.raises(
        AssertionError, match=r"scripted judged now, sample-judge-1 the baseline.*\nWhat to do: ask as the base"
    ):
        assert_persona("jim", baselines=baseline_root(), dimensions=["fluency"], judge=answering(9))


@pytest.mark.parametrize(
    ("arguments", "error", "expected"),
    [
        ({}, InputError, "Nothing is asked of the agent. Give at_least or baselines."),
        ({"at_least": {"charm": 1}}, InputError, "'charm' is not a dimension. Choose from adherence"),
        ({"at_least": {"fluency": 1}, "transcripts": []}, NotFoundError, "Nobody called 'Ann' speaks anywhere."),
        ({"baselines": baseline_root()}, InputError, "Ann has no baseline. Make one with: dramaturg persona baseline"),
    ],
)
def test_a_test_that_asks_wrongly_is_told(arguments: dict[str, Any], error: type[Exception], expected: str) -> None:
    def ask(request: JudgeRequest) -> ScoreAnswer:
        raise AssertionError("nobody is asked")

    with pytest.raises(error) as caught:
        assert_persona("Ann", **({"transcripts": said("Hi.")} | arguments), judge=ScriptedJudge(ask))
    assert expected in str(caught.value)


def test_a_failing_metric_names_score_threshold_and_messages(repetitive: Transcript) -> None:
    with pytest.raises(AssertionError) as caught:
        assert_rubric(repetitive, at_least={"anti_repetition": 95})
    first, *behind = str(caught.value).splitlines()
    assert first.startswith("game, Anti-repetition: ")
    assert first.endswith("threshold 95")
    assert behind[0].startswith('  Ann: Ann uses "i really think" 4 times in 4 of 4 messages;')
    assert behind[0].endswith(" See m0, m2, m4, m6.")


def test_a_metric_that_passes_and_wrong_names(make_game: Callable[..., Transcript], tmp_path: Path) -> None:
    lines = ["Storms lie about the harbour.", "Bread rises slowly in winter.", "Ledgers blush under lamps at night."]
    game = make_game([("Ann", lines[0]), ("Ben", lines[1]), ("Cid", lines[2])], language="en")
    assert assert_rubric(game, metrics=["anti_repetition"]).transcript is game
    with pytest.raises(InputError, match="'wit' is not a metric"):
        assert_rubric(game, metrics=["wit"])
    with pytest.raises(AssertionError, match="game, Engagement"):
        assert_rubric(game, metrics=["engagement"])
    with pytest.raises(InputError, match="The zip or folder holds no transcript"):
        assert_rubric(tmp_path)
