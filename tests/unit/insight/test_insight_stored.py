"""Answers of judges about discussions: stored, summed up by iteration and player, and never replaced by nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluation.insight.config import EvaluationConfig
from evaluation.insight.evaluation_report import Wanted
from evaluation.judging.judge_config import ChosenJudge, build_judge, judge_config
from evaluation.store import Store
from evaluation.transcript import Transcript
from evaluation.workflows.insights import ask_about_games, estimate_insights
from tests.games import game_of
from tests.judge_server import JudgeServer

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
            found.transcripts.add(game(key, text), source_name=key, iteration=iteration)
    return found


def game(key: str, text: str) -> Transcript:
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
            store.transcripts.add(game("new", "Other."), source_name="new")
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
