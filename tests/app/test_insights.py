"""A game's Insights: the form of checks, from its first click to what is stored."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.judging.judge_config import SETTINGS_KEY
from tests.app.drawn import wait_for_jobs
from tests.games import game_of
from tests.judge_server import JudgeServer


@pytest.fixture
def insights(open_page) -> Any:
    """Opens the Insights of a game."""

    def opened(transcript: str, **parameters: str) -> Any:
        app = open_page("games", transcript=transcript, show="Insights", **parameters)
        assert not app.exception
        return app

    return opened


def test_without_a_model_the_form_says_what_to_set(insights, filled, small_game, words) -> None:
    game = small_game("one").id
    assert "OPENAI_API_KEY" not in words(insights(game))
    assert "No model is set up. Set OPENAI_API_KEY" in words(insights(game, model="true"))


def test_run_checks_asks_about_all_games_that_are_chosen(insights, store, words, monkeypatch, tmp_path: Path) -> None:
    def answer(body: dict[str, Any]) -> str:
        score = 0.3 if "Grumble" in str(body["messages"][-1]["content"]) else 0.8
        return json.dumps({"reason": "It says so.", "score": score, "citations": [1]})

    (tmp_path / "pricing.yaml").write_text("local-model:\n  input: 0.000001\n  output: 0.000001\n", encoding="utf-8")
    monkeypatch.setenv("DRAMATURG_PRICING", str(tmp_path / "pricing.yaml"))
    store.settings.set(SETTINGS_KEY, {"model": "local-model"})
    players = {key: {"persona": "A baker.", "model": "local-model"} for key in ("Ann", "Ben")}
    for name, text in (("before", "Grumble"), ("after", "Gladly")):
        store.iterations.create(name)
        said = [(("Ann", "Ben")[n % 2], f"{text} {n}") for n in range(4)]
        for number in range(2):
            game = game_of(said[: 4 - number], players, game_id=f"{name} {number}")
            with store.unit(write=True):
                store.transcripts.add(game, source_name="x", iteration=name)
    [first, *_] = store.transcripts.ids()
    with JudgeServer(content=answer).in_thread() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        app = insights(first, model="true")
        app.selectbox(key="checks_games").set_value("all games").run()
        assert "calls to local-model, about $" in words(app)
        app.button(key="run_checks").click().run()
        wait_for_jobs()
    assert "The judge is the model that spoke for Ann, Ben." in store.jobs.list(1)[0].message
    app = insights(first, model="true")
    assert "Checks of this game" in {one.value for one in app.subheader}
    scored = store.insights.checks().dropna(subset=["score"])
    assert scored.groupby("iteration")["passed"].mean().to_dict() == {"before": 0.0, "after": 1.0}
