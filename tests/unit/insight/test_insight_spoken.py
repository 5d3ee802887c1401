"""Only what was said counts: thoughts stand apart, two people address each other, and checks spread over the game."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from evaluation import read_path
from evaluation.insight._questions import QualityAnswer, ThemeItem, ThemesAnswer, spoken
from evaluation.insight.collector import message_events, transcript_metrics
from evaluation.insight.config import EvaluationConfig
from evaluation.insight.evaluation_report import Wanted, plain_report, report_on
from evaluation.insight.extraction import ResultsExtractor, message_sentiment
from evaluation.insight.report_sections import document
from evaluation.insight.validator import Validator
from evaluation.judging.judges_without_model import ScriptedJudge
from evaluation.transcript import Transcript
from tests.games import game_of

ROOT = Path(__file__).parents[3]
CHAT = ROOT / "data/personas/tinytroupe/transcripts/simple_chat.json"
WEREWOLF = ROOT / "data/samples/werewolf_gpt/gpt-4-001.md"


def only(path: Path) -> Transcript:
    (found,) = [one.transcript for one in read_path(path)]
    assert found is not None
    return found


def scripted() -> ScriptedJudge:
    return ScriptedJudge(lambda _: QualityAnswer(reason="because", score=0.9))


def test_a_chat_of_two_agents_has_eight_messages_and_all_go_to_the_other() -> None:
    # Counted by hand in the notebook: Lisa talks in cells 5, 13, 22 and 25, Oscar in 10, 16, 19 and 28.
    game = only(CHAT)
    metrics = transcript_metrics(game)
    assert dict(metrics.messages_per_agent) == {"Lisa Carter": 4, "Oscar": 4}
    assert metrics.total_messages == 8
    assert dict(metrics.interaction_matrix) == {("Lisa Carter", "Oscar"): 4, ("Oscar", "Lisa Carter"): 4}
    # 27 acts of the two are in the file; goals, "reach out", thoughts and "done" are 19.
    assert sum(metrics.thoughts_per_agent.values()) == 19
    texts = [game.messages[place].text for place in (5, 10, 13, 16, 19, 22, 25, 28)]
    assert metrics.avg_response_length == pytest.approx(sum(map(len, texts)) / 8)


def test_a_werewolf_game_counts_what_was_said_and_not_what_was_thought() -> None:
    # Counted by hand: 16 speeches, in which 26 times a player names another one.
    metrics = transcript_metrics(only(WEREWOLF))
    assert dict(metrics.messages_per_agent) == {"Vladimir": 2, "Dracula": 5, "Radu": 1, "Mircea": 4, "Stefan": 4}
    assert sum(metrics.interaction_matrix.values()) == 26
    assert metrics.interaction_matrix["Stefan", "Dracula"] == 3
    assert metrics.interaction_matrix["Dracula", "Mircea"] == 4
    assert ("Vladimir", "Dracula") not in metrics.interaction_matrix, "he only thinks of him"
    assert sum(metrics.thoughts_per_agent.values()) == 22


@pytest.mark.parametrize("path", [CHAT, WEREWOLF])
def test_counts_means_samples_and_sentiment_read_the_same_messages(path: Path) -> None:
    game = only(path)
    said = [one.id for one in spoken(game)]
    report = plain_report(game)
    assert report.messages == report.metrics.total_messages == len(said)
    assert report.sentiment is not None
    assert sum(one.messages for one in report.sentiment.values()) == len(said)
    checked = asyncio.run(
        Validator(scripted(), EvaluationConfig(validation_sampling_rate=1.0).validation()).validate_transcript(game)
    )
    assert [one.message_id for one in checked.results[::3]] == said
    words = str(document(report))
    assert "Private thoughts" in words


def test_recipients_of_public_messages_are_used_unless_they_are_everybody() -> None:
    names = ("Ann", "Ben", "Cem", "Dan")
    said = [
        ("Ann", "Well said.", {"recipients": ("Ben",)}),
        ("Ben", "Hello all.", {"recipients": ("Ann", "Cem", "Dan")}),
        ("Cem", "Ann, hello all.", {"recipients": ("Ann", "Ben", "Dan")}),
    ]
    game = game_of(said, names)
    assert [one.receivers for one in message_events(game)] == [("Ben",), (), ("Ann",)]


def long_game(count: int = 500) -> Transcript:
    return game_of([("AB"[place % 2], f"Text {place}.") for place in range(count)])


def test_under_a_budget_checks_spread_over_the_whole_game() -> None:
    game = long_game()
    means = []
    for seed in range(20):
        config = EvaluationConfig(max_validation_calls=60, seed=seed)
        checked = asyncio.run(Validator(scripted(), config.validation()).validate_transcript(game))
        places = {int(one.message_id[1:]) for one in checked.results if one.message_id}
        assert 28 <= len(places) <= 30, "two checks for each message, as nobody has a persona"
        assert (checked.drawn, checked.checked) == (150, len(places))
        means.append(sum(places) / len(places) / len(game.messages))
    assert 0.45 <= sum(means) / len(means) <= 0.55


def test_the_report_counts_what_was_checked_and_says_the_rest_in_one_line() -> None:
    config = EvaluationConfig(max_validation_calls=60)
    report = asyncio.run(report_on(long_game(), scripted(), Wanted(checks=True), config=config))
    checked = len({one.message_id for one in report.validations})
    assert report.checked_messages == checked
    assert 28 <= checked <= 30
    assert report.as_dict()["sample"] == {"messages": 500, "drawn": 150, "checked": checked}
    (section,) = [one for one in document(report) if one.heading == "Checks"]
    assert f"{checked} of 500 messages were checked" in section.blocks[0]
    assert f"{150 - checked} more were drawn" in section.blocks[1]
    assert len(section.blocks[2].rows) == len(report.validations)


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("No, I disagree.", 0.0),
        ("No, I agree.", 1.0),
        ("Yes, but that is a bad idea.", 0.0),
        ("No.", 0.0),
        ("No problem.", 1.0),
        ("No, no problem.", 1.0),
        ("That is not good.", 0.0),
        ("Not now; good.", 1.0),
        ("I never said that. Great!", 0.5),
        ("No, that is not a good plan.", 0.0),
        ("I don't really agree.", 0.0),
        ("Nothing to say.", None),
        ("That's (terrible), useless...", 0.0),
        ("Good; but a problem:", 0.5),
        ("The goodness of issuers", None),
    ],
)
def test_sentiment_heeds_punctuation_and_negation(text: str, score: float | None) -> None:
    assert message_sentiment(text) == score


def test_a_theme_of_one_message_does_not_recur() -> None:
    themes = ThemesAnswer(
        themes=[
            ThemeItem(name="Bread", sentiment="neutral", citations=[1, 2]),
            ThemeItem(name="Air", sentiment="neutral", citations=[3]),
        ]
    )
    found = asyncio.run(ResultsExtractor(ScriptedJudge(lambda _: themes)).extract_themes(long_game(4)))
    assert [one.name for one in found.found] == ["Bread"]
    assert [(one.what, one.why) for one in found.refused] == [("Air", "only one message touches on it")]


def test_only_settings_that_were_set_choose_the_judge() -> None:
    assert EvaluationConfig(validation_sampling_rate=1.0).judge_model is None
    assert EvaluationConfig(evaluation_model="gpt-x").judge_model == "gpt-x"
    assert EvaluationConfig(use_separate_evaluation_model=True).judge_model == "gpt-4o-mini"
    assert EvaluationConfig(evaluation_model="gpt-x", use_separate_evaluation_model=False).judge_model is None


def test_the_report_says_what_was_asked_and_warns_of_a_judge_of_its_own_words() -> None:
    game = long_game(4)
    writers = tuple([one.model_copy(update={"model": "openai/gpt-x"}) for one in game.players])
    game = game.model_copy(update={"players": writers})
    judged_by = {"kind": "live", "model": "gpt-x"}
    report = asyncio.run(report_on(game, scripted(), Wanted(checks=True), judged_by=judged_by))
    judge = report.as_dict()["judge"]
    assert (judge["questions"], judge["prompt_version"]) == (
        sum(one.is_asked for one in report.validations),
        "insight-3",
    )
    assert any("The judge is the model that spoke for A, B." in str(one) for one in report.recommendations)
    words = str(document(report))
    assert "validation_sampling_rate" in words
    other = asyncio.run(report_on(game, scripted(), Wanted(checks=True), judged_by={**judged_by, "model": "gpt-y"}))
    assert not any("The judge is the model" in str(one) for one in other.recommendations)
