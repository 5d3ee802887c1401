"""From "Run checks" in a game's Insights to the chart over iterations, with a model at an address of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from evaluation.judging.judge_config import SETTINGS_KEY
from evaluation.transcript import Message, Player, Transcript
from tests.browser.hands import choose, settle
from tests.judge_server import JudgeServer

PRICES = "local-model:\n  input: 0.000001\n  output: 0.000001\n"


def answer(body: dict[str, Any]) -> str:
    text = str(body["messages"][-1]["content"])
    return json.dumps({"reason": "It says so.", "score": 0.3 if "Grumble" in text else 0.8, "citations": [1]})


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[JudgeServer]:
    (tmp_path / "pricing.yaml").write_text(PRICES, encoding="utf-8")
    for name in ("OPENAI_API_KEY", "DRAMATURG_JUDGE", "DRAMATURG_MODEL"):
        monkeypatch.delenv(name, raising=False)
    with JudgeServer(content=answer).in_thread() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("DRAMATURG_PRICING", str(tmp_path / "pricing.yaml"))
        yield server


def game(key: str, text: str) -> Transcript:
    players = tuple(Player(name=name, persona="A baker.") for name in ("Ann", "Ben"))
    messages = tuple(
        Message(id=f"m{at}", index=at, speaker=("Ann", "Ben")[at % 2], text=f"{text} {at}") for at in range(4)
    )
    return Transcript(game_id=key, source_format="native", players=players, messages=messages)


def test_from_run_checks_to_the_chart_over_iterations(serve, visit, model: JudgeServer) -> None:
    server = serve()
    store = server.store
    store.settings.set(SETTINGS_KEY, {"model": "local-model"})
    for name, text in (("before", "Grumble"), ("after", "Gladly")):
        store.iterations.create(name)
        for number in range(2):
            with store.unit(write=True):
                store.transcripts.add(game(f"{name} {number}", f"{text} {number}."), source_name="x", iteration=name)
    [first, *_] = store.transcripts.ids()
    seen = visit(f"{server.url}/games?transcript={first}&show=Insights")
    page = seen.page
    page.get_by_text("Let a model check messages, find opinions, themes and quotes").click()
    choose(page, "Games", "all games")
    # Of four messages in each of four games two are checked: persona and coherence of both, consistency of some.
    expect(page.get_by_text("questions about 4 games").first).to_be_visible()
    expect(page.get_by_text("US dollars.").first).to_be_visible()
    page.get_by_role("button", name="Run checks").click()
    expect(page.get_by_text("Checking messages: done").first).to_be_visible()
    expect(page.get_by_text("4 games read.").first).to_be_visible()
    settle(page)
    expect(page.get_by_text("Checks of this game").first).to_be_visible()
    chart = page.get_by_test_id("stPlotlyChart").filter(has=page.locator(".legendtext"))
    expect(chart.locator(".xtick").nth(0)).to_have_text("before")
    expect(chart.locator(".xtick").nth(1)).to_have_text("after")
    expect(chart.locator(".legendtext")).to_have_text(["mean", "share passed"])
    # Of each message persona and coherence, and consistency of those that follow one of the same player's.
    scored = store.insights.checks().dropna(subset=["score"])
    assert set(scored["iteration"]) == {"before", "after"}
    assert scored.groupby("iteration")["passed"].mean().to_dict() == {"before": 0.0, "after": 1.0}
    assert (seen.faults, seen.foreign) == ([], [])
