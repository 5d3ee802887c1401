"""Opinions, themes and rules by type that are read out of a game, and what is stored of them."""

import asyncio
import json
from typing import Any

import pytest

from evaluation.errors import InputError
from evaluation.insight._questions import (
    OpinionItem,
    OpinionsAnswer,
    QuoteItem,
    QuotesAnswer,
    ThemeItem,
    ThemesAnswer,
    parts_of,
    spoken,
)
from evaluation.insight.evaluation_report import Wanted
from evaluation.insight.extraction import ResultsExtractor, ResultsReducer
from evaluation.insight.validator import EvaluationConfig
from evaluation.judging.judge_config import ChosenJudge, build_judge, judge_config
from evaluation.judging.judges_without_model import ScriptedJudge
from evaluation.judging.protocol import JudgementStatus, JudgeRequest
from evaluation.store import Store
from evaluation.transcript import Elimination, Transcript, Vote
from evaluation.workflows.judging import ask_about_games, estimate_insights
from tests.games import game_of
from tests.judge_server import JudgeServer

SAID = (
    ("Ada", "Rye bread is the best there is."),
    ("Bob", "Bread? I can't stand it."),
    ("Host", "Round two begins.", {"channel": "system"}),
    ("Ada", "On reflection, “rye” is a little dry."),
    ("Bob", "Vote for Ada with me.", {"channel": "private", "recipients": ("Cy",)}),
)


def game() -> Transcript:
    votes = (Vote(round=1, voter="Bob", target="Ada", justification="dry"),)
    eliminations = (Elimination(round=1, player="Ada", role="baker"),)
    return game_of(SAID, ("Ada", "Bob", "Cy"), votes=votes, eliminations=eliminations)


def opinion(agent: str, stance: str, cited: int, sure: float = 0.8) -> OpinionItem:
    return OpinionItem(
        agent_id=agent,
        summary=f"Thinks {stance}.",
        key_points=["rye"],
        stance=stance,
        confidence=sure,
        citations=[cited],
    )


def test_opinions_of_two_parts_become_one() -> None:
    def script(request: JudgeRequest) -> OpinionsAnswer:
        if "[M1]" in request.prompt.user:
            return OpinionsAnswer(opinions=[opinion("ada", "positive", 1), opinion("Bob", "negative", 2)])
        return OpinionsAnswer(opinions=[opinion("Ada", "negative", 4, 0.5), opinion("Eve", "mixed", 4)])

    found = asyncio.run(ResultsExtractor(ScriptedJudge(script), part_length=70).extract_opinions(game(), "bread"))
    assert found.parts == 2
    ada, bob = found.found
    assert (ada.agent_id, ada.stance, ada.confidence, ada.message_ids) == ("Ada", "mixed", 0.5, ("m0", "m3"))
    assert (ada.summary, ada.key_points) == ("Thinks positive. Thinks negative.", ("rye",))
    assert bob.stance == "negative"
    assert [one.why for one in found.refused] == ["nobody of that name speaks in these messages"]


def test_an_opinion_needs_a_message_of_whoever_holds_it() -> None:
    judge = ScriptedJudge(
        lambda _: OpinionsAnswer(opinions=[opinion("Ada", "positive", 2), opinion("Bob", "mixed", 99)])
    )
    found = asyncio.run(ResultsExtractor(judge).extract_opinions(game(), "bread"))
    assert (found.found, len(found.refused)) == ((), 2)


def said(*texts: str) -> Transcript:
    return game_of([("Bob" if place % 2 else "Ada", text) for place, text in enumerate(texts)], ("Ada", "Bob"))


def test_a_parse_error_is_an_error_and_not_an_empty_result() -> None:
    judge = ScriptedJudge(lambda _: "What the model wrote is not the answer that was asked for.")
    opinions = asyncio.run(ResultsExtractor(judge).extract_opinions(said("Hello."), "bread"))
    assert (opinions.status, opinions.found) == ("error", ())
    assert "not the answer" in opinions.problems[0].detail


def test_nothing_is_cut_silently_at_200_characters_or_50_messages() -> None:
    judge = ScriptedJudge(lambda _: QuotesAnswer(quotes=[]))
    texts = [f"Message number {place}: {'word ' * 60}end{place}." for place in range(120)]
    found = asyncio.run(ResultsExtractor(judge, part_length=9_000).extract_quotes(said(*texts), "anything"))
    read = "\n".join(request.prompt.user for request in judge.asked)
    assert all(f"end{place}." in read for place in range(120))
    assert (found.status, found.parts) == ("done", len(judge.asked))
    huge = asyncio.run(ResultsExtractor(judge).extract_quotes(said("x" * 5_000), "anything"))
    assert huge.shortened == ("m0",)
    assert "(1,000 more characters are left out)" in judge.asked[-1].prompt.user


def test_parts_beyond_the_budget_are_listed() -> None:
    judge = ScriptedJudge(lambda _: OpinionsAnswer(opinions=[opinion("Ada", "positive", 1)]))
    extractor = ResultsExtractor(judge, max_calls=1, part_length=30)
    found = asyncio.run(extractor.extract_opinions(said("I like this bread.", "I do not, sorry."), "bread"))
    assert (found.status, len(found.found), found.parts) == ("partial", 1, 2)
    assert [(one.place, one.status, one.detail) for one in found.problems] == [
        ("messages 2 to 2", JudgementStatus.SKIPPED, "budget")
    ]


def test_a_quote_that_nobody_said_is_refused() -> None:
    quotes = [
        QuoteItem(agent_id="Ada", content="i like  THIS bread", relevance_score=1, context="On rye.", citations=[1]),
        QuoteItem(agent_id="Bob", content="I like this bread.", relevance_score=1, citations=[1]),
        QuoteItem(agent_id="Eve", content="bread", relevance_score=0.5),
    ]
    judge = ScriptedJudge(lambda _: QuotesAnswer(quotes=quotes))
    found = asyncio.run(ResultsExtractor(judge).extract_quotes(said("Oh, I like this bread.", "Well."), "bread"))
    assert [(one.agent_id, one.content, one.message_id) for one in found.found] == [("Ada", "I like this bread", "m0")]
    assert [(one.relevance_score, one.context) for one in found.found] == [(1, "On rye.")]
    assert [one.what for one in found.refused] == ["Bob: I like this bread.", "Eve: bread"]


def test_a_themes_frequency_is_counted_and_its_quotes_exist() -> None:
    theme = ThemeItem(
        name="Rye",
        sentiment="Mixed",
        representative_quotes=['"rye" is a little dry', "rye forever"],
        citations=[1, 4, 77],
    )
    answer = ThemesAnswer(themes=[theme, ThemeItem(name="Air", sentiment="neutral", citations=[77])])
    found = asyncio.run(ResultsExtractor(ScriptedJudge(lambda _: answer)).extract_themes(game()))
    (kept,) = found.found
    assert (kept.frequency, kept.message_ids, kept.sentiment) == (2, ("m0", "m3"), "mixed")
    assert kept.representative_quotes == ("“rye” is a little dry",), "as it stands in the message"
    assert [one.what for one in found.refused] == ["rye forever", "Air"]


def test_every_message_is_in_one_part() -> None:
    messages = spoken(game())
    assert [one.id for one in messages] == ["m0", "m1", "m3", "m4"]
    for limit in (1, 40, 70, 10_000):
        assert [one.id for part in parts_of(messages, limit=limit) for one in part.messages] == ["m0", "m1", "m3", "m4"]


def test_sentiment_by_speaker_asks_nobody() -> None:
    found = ResultsExtractor.extract_sentiment_scores(game())
    assert {name: (one.messages, one.telling) for name, one in found.items()} == {"Ada": (2, 0), "Bob": (2, 0)}
    assert found["Ada"].score == 0.5, "without a word of feeling"
    told = ResultsExtractor.extract_sentiment_scores(
        game_of([("Ada", text) for text in ("Great!", "Fine.", "No.", "Terrible.")])
    )
    # (1 + 0.5 + 0 + 0) / 4.
    assert told["Ada"].score == 0.375


def test_rules_by_type_make_a_table() -> None:
    reducer = ResultsReducer()
    reducer.add_reduction_rule("public", lambda entry: {"who": entry.source_agent, "kind": entry.kind})
    reducer.add_reduction_rule("vote", lambda entry: {"who": entry.source_agent, "for": entry.target_agents[0]})
    reducer.add_reduction_rule("private", lambda entry: None)
    columns = ("who", "kind", "for")
    assert reducer.reduce_to_table(game(), columns, "Ada") == [
        ("Ada", "action", None),
        ("Bob", "stimulus", None),
        ("Ada", "action", None),
        ("Bob", None, "Ada"),
    ]
    assert len(reducer.reduce(game())) == 4


def test_private_words_reach_their_recipients_only() -> None:
    reducer = ResultsReducer()
    for kind in ("public", "private"):
        reducer.add_reduction_rule(kind, lambda entry: {"type": entry.type})
    reached = {name: [row["type"] for row in reducer.reduce(game(), name)] for name in ("Ada", "Cy")}
    assert "private" in reached["Cy"]
    assert "private" not in reached["Ada"]


def test_a_rule_for_no_type_and_a_second_rule_are_refused() -> None:
    reducer = ResultsReducer()
    with pytest.raises(InputError, match="no messages of type 'shout'"):
        reducer.add_reduction_rule("shout", lambda _: None)
    reducer.add_reduction_rule("public", lambda _: None)
    with pytest.raises(InputError, match="a rule already"):
        reducer.add_reduction_rule("public", lambda _: None)


CONFIG = EvaluationConfig(validation_sampling_rate=1)


def answer(body: dict[str, Any]) -> str:
    text = str(body["messages"][-1]["content"])
    if '"themes"' in text:
        return json.dumps({"themes": []})
    return json.dumps({"reason": "so", "score": 0.2 if "Bad" in text else 0.9, "citations": [1]})


@pytest.fixture
def store() -> Store:
    found = Store(":memory:")
    for name in ("before", "after"):
        found.iterations.create(name)
    for key, text, iteration in (("b1", "Bad.", "before"), ("a1", "Fine.", "after"), ("a2", "Good.", "after")):
        with found.unit(write=True):
            found.transcripts.add(short_game(key, text), source_name=key, iteration=iteration)
    return found


def short_game(key: str, text: str) -> Transcript:
    return game_of([("Ann", f"{text} 0"), ("Ben", f"{text} 1")], game_id=key)


def judge(store: Store, server: JudgeServer, **more: Any) -> ChosenJudge:
    chosen = {"mode": "live", "model": "local", "base_url": server.url, **more}
    return build_judge(judge_config(chosen, environment={}), cache=store.judgements)


def test_answers_are_stored_and_counted(store: Store) -> None:
    ids = store.transcripts.ids()
    with JudgeServer(content=answer).in_thread() as server:
        tally = ask_about_games(store, ids, judge(store, server), Wanted(checks=True, themes=True), CONFIG)
    # Two messages a game: nobody has a persona or said something before, so coherence alone is asked.
    assert (tally.games, tally.scored, tally.passed, tally.cut_short) == (3, 6, 4, 0)
    checks = store.insights.checks()
    assert list(checks["status"].value_counts().items()) == [("not_scored", 12), ("scored", 6)]
    assert set(checks["agent"]) == {"Ann", "Ben"}
    findings = store.insights.findings()
    assert list(findings["kind"]) == ["themes"] * 3
    assert findings["result"][0]["status"] == "done"


def test_a_later_sample_holds_and_nothing_that_is_no_answer_replaces_it(store: Store) -> None:
    ids = store.transcripts.ids()[:1]
    with JudgeServer(content=answer).in_thread() as server:
        for _ in range(2):
            ask_about_games(store, ids, judge(store, server), Wanted(checks=True), CONFIG)
        assert len(store.insights.checks()) == 6
        offline = build_judge(judge_config({"mode": "offline"}, environment={}))
        assert ask_about_games(store, ids, offline, Wanted(checks=True), CONFIG).why_not
        # Another seed asks nothing new where all is checked, so the limit is met with other words.
        with store.unit(write=True):
            store.transcripts.add(short_game("new", "Other."), source_name="new")
        new = store.transcripts.ids()[-1:]
        poor = judge(store, server, max_calls=1, concurrency=1)
        tally = ask_about_games(store, new, poor, Wanted(checks=True), CONFIG)
    assert (tally.cut_short, tally.games) == (1, 0)
    assert set(store.insights.checks()["transcript_id"]) == set(ids)


def test_the_estimate_counts_the_questions_that_will_be_asked(store: Store) -> None:
    ids = store.transcripts.ids()
    with JudgeServer(content=answer).in_thread() as server:
        judged_by = judge_config({"mode": "live", "model": "local", "base_url": server.url}, environment={})
        found = estimate_insights(store, ids, Wanted(checks=True, themes=True), CONFIG, judged_by)
        chosen = judge(store, server)
        ask_about_games(store, ids, chosen, Wanted(checks=True, themes=True), CONFIG)
    assert found.questions == 9 == chosen.budget.calls_made
    assert found.words == "9 questions, 9 calls to local, cost not known"
    assert estimate_insights(store, ids, Wanted(checks=True, themes=True), CONFIG, judged_by).known == 9
