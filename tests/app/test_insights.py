"""A game's Insights: who talks to whom with the messages behind a dot, shares, memory and cost as far as known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.judging.judge_config import SETTINGS_KEY
from evaluation.workflows.scoring import add_evaluated
from tests.app.drawn import tables, wait_for_jobs
from tests.games import game_of
from tests.judge_server import JudgeServer


@pytest.fixture
def game(store, hostile) -> str:
    """A hostile name addresses Bob twice, Bob turns back once, Cy is silent."""
    answer = ("Bob", "It is good.", {"reply_to": "m0"})
    said = ((hostile, "Bob, I agree."), (hostile, "Bob, is there a problem?"), answer)
    transcript = game_of(said, (hostile, "Bob", "Cy"), language="en")
    add_evaluated(store, transcript, source_name="talk.json")
    return transcript.id


@pytest.fixture
def insights(open_page) -> Any:
    """Opens the Insights of a game."""

    def opened(transcript: str, **parameters: str) -> Any:
        app = open_page("games", transcript=transcript, show="Insights", **parameters)
        assert not app.exception
        return app

    return opened


def dots(app) -> dict[tuple[str, str], int]:
    """The messages that the picture shows, by speaker and addressed player."""
    drawn = json.loads(app.get("plotly_chart")[0].proto.spec)
    (trace,), names = drawn["data"], drawn["layout"]["xaxis"]["ticktext"]
    places = zip(trace["y"], trace["x"], trace["text"], strict=True)
    return {(names[sender], names[receiver]): int(count) for sender, receiver, count in places}


def test_a_pair_of_players_opens_its_messages_and_a_message_the_conversation(insights, game, words, hostile) -> None:
    app = insights(game)
    assert sorted(dots(app).values()) == [1, 2]
    assert hostile not in "\n".join(str(one.value) for one in (*app.markdown, *app.caption))
    assert " speaks most often to Bob: 2 messages." in words(app)
    # The most frequent pair comes first.
    app.selectbox(key="insights_arrow").select(0).run()
    assert "Bob, is there a problem?" in words(app)
    assert "It is good." not in words(app)
    app.button(key="arrow_1").click().run()
    assert not app.exception
    assert (app.query_params["message"], app.session_state["show"]) == ("m1", "Conversation")


def test_what_is_not_known_is_one_sentence_and_no_table(insights, game, words) -> None:
    app = insights(game)
    shares = tables(app)[0]
    assert shares["Messages"].tolist() == ["2", "1", "0"]
    assert shares["Sentiment"].tolist() == ["0.50", "1.00", "not known"]
    said = words(app)
    assert "Cy never says anything." in said
    assert "Not shown, as the uploaded file does not record it: memory and cost of the agents." in said
    assert "2 of 6 possible" in tables(app)[1].to_string()


def test_without_a_model_the_form_says_what_to_set(insights, game, words) -> None:
    assert "OPENAI_API_KEY" not in words(insights(game))
    assert "No model is set up. Set OPENAI_API_KEY" in words(insights(game, model="true"))


def test_from_run_checks_to_the_chart_over_iterations(insights, store, words, monkeypatch, tmp_path: Path) -> None:
    def answer(body: dict[str, Any]) -> str:
        score = 0.3 if "Grumble" in str(body["messages"][-1]["content"]) else 0.8
        return json.dumps({"reason": "It says so.", "score": score, "citations": [1]})

    (tmp_path / "pricing.yaml").write_text("local-model:\n  input: 0.000001\n  output: 0.000001\n", encoding="utf-8")
    monkeypatch.setenv("DRAMATURG_PRICING", str(tmp_path / "pricing.yaml"))
    store.settings.set(SETTINGS_KEY, {"model": "local-model"})
    players = {key: {"persona": "A baker."} for key in ("Ann", "Ben")}
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
        assert "questions about 4 games" in words(app)
        assert "US dollars." in words(app)
        app.button(key="run_checks").click().run()
        wait_for_jobs()
    app = insights(first, model="true")
    assert {"Checks of this game", "Checks over iterations"} <= {one.value for one in app.subheader}
    charts = [json.loads(one.proto.spec) for one in app.get("plotly_chart")]
    names = [[trace.get("name") for trace in chart["data"]] for chart in charts]
    assert ["mean", "share passed"] in names
    scored = store.insights.checks().dropna(subset=["score"])
    assert scored.groupby("iteration")["passed"].mean().to_dict() == {"before": 0.0, "after": 1.0}
