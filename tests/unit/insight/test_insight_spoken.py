"""What was said to whom, and the report on it as tables, sentences and Python."""

import asyncio
import importlib
import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from evaluation import read_path
from evaluation.insight._questions import QualityAnswer, QuoteItem, QuotesAnswer, ThemeItem, ThemesAnswer, spoken
from evaluation.insight.collector import message_events, transcript_metrics
from evaluation.insight.evaluation_report import EvaluationReport, Wanted, plain_report, report_on
from evaluation.insight.extraction import ResultsExtractor, message_sentiment
from evaluation.insight.validator import EvaluationConfig, Validator
from evaluation.judging.answers import Answer
from evaluation.judging.judges_without_model import ScriptedJudge
from evaluation.judging.protocol import JudgeRequest
from evaluation.transcript import Cost, Transcript
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
    assert report.sample.messages == report.metrics.total_messages == len(said)
    assert report.sentiment is not None
    assert sum(one.messages for one in report.sentiment.values()) == len(said)
    checked = asyncio.run(
        Validator(scripted(), EvaluationConfig(validation_sampling_rate=1.0).validation()).validate_transcript(game)
    )
    assert [one.message_id for one in checked.results[::3]] == said


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


def test_the_report_counts_what_was_checked() -> None:
    config = EvaluationConfig(max_validation_calls=60)
    report = asyncio.run(report_on(long_game(), scripted(), Wanted(checks=True), config=config))
    checked = len({one.message_id for one in report.validations})
    assert report.sample.checked == checked
    assert 28 <= checked <= 30
    assert report.as_dict()["sample"] == {"messages": 500, "drawn": 150, "checked": checked}


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


def test_the_report_says_who_was_asked_and_warns_of_a_judge_of_its_own_words() -> None:
    game = long_game(4)
    writers = tuple([one.model_copy(update={"model": "openai/gpt-x"}) for one in game.players])
    game = game.model_copy(update={"players": writers})
    judged_by = {"kind": "live", "model": "gpt-x"}
    report = asyncio.run(report_on(game, scripted(), Wanted(checks=True), judged_by=judged_by))
    assert report.as_dict()["judge"] == {**judged_by, "prompt_version": "insight-3"}
    assert any("The judge is the model that spoke for A, B." in one for one in report.recommendations)
    other = asyncio.run(report_on(game, scripted(), Wanted(checks=True), judged_by={**judged_by, "model": "gpt-y"}))
    assert not any("The judge is the model" in one for one in other.recommendations)


HOSTILE = "<img src=x onerror=alert(1)> [a](https://evil.example) | `b` ![p](https://evil.example/p)\u202e"
PLAYERS = (HOSTILE, "Bob", "Cy")


@pytest.fixture(scope="module")
def report() -> EvaluationReport:
    texts = ((0, "I agree with Bob, good point."), (1, f"No. {HOSTILE}"), (0, "Bob, that is bad."), (0, "Anyway."))
    cost = Cost(total_usd=0.25, input_tokens=700, output_tokens=77)
    said = [(PLAYERS[who], text) for who, text in texts]
    transcript = game_of(said, PLAYERS, game_id=HOSTILE, language="en", cost=cost)
    config = EvaluationConfig(validation_sampling_rate=1.0)
    wanted = Wanted(checks=True, criteria=HOSTILE)
    judge = ScriptedJudge(script)
    return asyncio.run(
        report_on(transcript, judge, wanted, judged_by={"kind": "live", "model": HOSTILE}, config=config)
    )


def script(request: JudgeRequest) -> Answer:
    if request.answer is QualityAnswer:
        return QualityAnswer(reason=HOSTILE, score=0.25 if "bad" in request.prompt.user else 0.75)
    quote = QuoteItem(agent_id="Bob", content="no. <img", relevance_score=0.5, context=HOSTILE)
    return QuotesAnswer(quotes=[quote, QuoteItem(agent_id="Bob", content=HOSTILE + "!?x", relevance_score=1)])


def test_the_report_as_json_holds_all_of_it(report: EvaluationReport) -> None:
    found = json.loads(json.dumps(report.as_dict()))
    network, cost = found["metrics"]["network"], found["metrics"]["cost"]
    assert (cost["total_tokens"], cost["estimated_cost_usd"]) == (777, 0.25)
    assert network == json.loads(json.dumps(asdict(report.metrics.network)))
    assert [one["score"] for one in found["validations"]] == [one.score for one in report.validations]
    assert found["recommendations"] == list(report.recommendations)
    assert found["sample"] == {"messages": 4, "drawn": 4, "checked": 4}
    assert found["extractions"]["sentiment"]["Bob"]["telling"] == 1
    assert [one["content"] for one in found["extractions"]["quotes"]["found"]] == ["No. <img"]
    assert len(found["extractions"]["quotes"]["refused"]) == 1


def test_what_stands_out_is_said_by_name(report: EvaluationReport) -> None:
    advice = report.recommendations
    assert "Cy never says anything." in advice
    assert f"3 of 4 messages come from {HOSTILE}: let the others have their turn." in advice
    assert any("reach 0.5 on coherence" in one for one in advice)


def test_a_discussion_in_another_language_has_no_sentiment(report: EvaluationReport) -> None:
    found = plain_report(game_of([("Ada", "No. Das ist gut.")], language="de"))
    assert found.as_dict()["extractions"] == {"sentiment": None}


PAGE = (Path(__file__).parents[3] / "docs" / "insights.md").read_text("utf-8")
NAMED, RENAMED = PAGE.partition("## ADR-010")[2].split("\n| ADR-010 |")
ROWS = [
    [re.findall(r"`([\w.]+)`", cell) for cell in line.split("|")[1:4]] for line in NAMED.splitlines() if "| `" in line
]
OURS = [f"{module}.{name}.{member}" for (name,), (module,), members in ROWS for member in members]
OURS += [
    name for line in RENAMED.splitlines() if "| `" in line for name in re.findall(r"`([\w.]+)`", line.split("|")[2])
]


def test_the_table_is_read_whole() -> None:
    assert len(OURS) > 90


@pytest.mark.parametrize("name", OURS)
def test_every_name_of_the_table_is_there(name: str) -> None:
    # A class begins with a capital letter; what has none is a function at the end.
    module, names = re.fullmatch(r"([a-z_0-9.]+)\.([A-Z]\w*(?:\.\w+)?|\w+)", name).groups()
    found = importlib.import_module(f"evaluation.{module}")
    for part in names.split("."):
        fields = {**getattr(found, "__dataclass_fields__", {}), **getattr(found, "model_fields", {})}
        found = fields[part] if part in fields else getattr(found, part)


def test_the_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(code, {})
    # "Ben, what do you think?" has 23 characters; the second variant is 0.8 warmer with a spread of 0.1.
    assert capsys.readouterr().out.splitlines() == ["23.0", "warm"]
