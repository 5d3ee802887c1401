"""The Insights page: the drawing's data, a chosen player, tables beside it, spending, downloads, bad links."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from dashboard.app_pages.games.graph_data import read_place
from evaluation.judging.model_client.calls import CallRecord
from evaluation.transcript import Message, Player, Transcript
from evaluation.workflows.scoring import add_evaluated


@pytest.fixture
def game(store, hostile) -> str:
    """A hostile name addresses Bob twice, Bob turns back once, Cy is silent."""
    said = ((hostile, "Bob, I agree."), (hostile, "Bob, is there a problem?"), ("Bob", "It is good."))
    messages = tuple(
        Message(id=f"m{at}", index=at, speaker=who, text=text, reply_to="m0" if at == 2 else None)
        for at, (who, text) in enumerate(said)
    )
    players = tuple(Player(name=name) for name in (hostile, "Bob", "Cy"))
    transcript = Transcript(game_id="talk", source_format="native", language="en", players=players, messages=messages)
    add_evaluated(store, transcript, source_name="talk.json")
    return transcript.id


def dots(app) -> dict[tuple[str, str], int]:
    """The messages that the picture shows, by speaker and addressed player."""
    drawn = json.loads(app.get("plotly_chart")[0].proto.spec)
    (trace,), names = drawn["data"], drawn["layout"]["xaxis"]["ticktext"]
    places = zip(trace["y"], trace["x"], trace["text"], strict=True)
    return {(names[sender], names[receiver]): int(count) for sender, receiver, count in places}


def test_who_addresses_whom_as_a_drawing_and_as_tables(open_page, game, table, words, hostile) -> None:
    app = open_page("network")
    assert not app.exception
    assert sorted(dots(app).values()) == [1, 2]
    pairs = app.dataframe[0].value
    assert pairs[["Messages", "Back"]].to_numpy().tolist() == [[2, 1], [1, 2]]
    assert "2 of 6 possible" in table(app, 1)
    assert hostile not in "\n".join(str(one.value) for one in (*app.markdown, *app.caption))


def test_a_player_is_chosen_by_the_list_and_by_the_link(open_page, game, table) -> None:
    app = open_page("network", who="2")
    assert "Addresses 1 player" in "\n".join(one.value for one in app.markdown)
    app.selectbox(key="network_player").select(3).run()
    assert app.query_params["who"] == "3"
    app.selectbox(key="network_player").select(0).run()
    assert "who" not in app.query_params
    assert open_page("network", who="99").selectbox(key="network_player").value == 0


def test_a_link_to_a_game_that_is_gone_shows_another(open_page, game, words) -> None:
    app = open_page("network", transcript="nothing")
    assert not app.exception
    assert "The game that the link names is not here" in words(app)
    assert app.query_params["transcript"] == game


def test_activity_knows_what_it_does_not_know(open_page, game, table, words) -> None:
    app = open_page("network", network_view="Activity and memory")
    assert not app.exception
    players = app.dataframe[0].value
    assert players["Messages"].tolist() == [2, 1, 0]
    assert players["Sentiment"].tolist() == ["0.50", "1.00", "not known"]
    assert "Largest share of words" in table(app, 1)
    assert "not known" in table(app, 2)
    assert "Cy never says anything." in words(app)
    assert len(app.get("download_button")) == 3


def test_spending_by_model_and_honest_where_no_price_is_known(open_page, game, store, table, words) -> None:
    empty = open_page("network", network_view="Cost")
    assert "No model was asked yet" in words(empty)
    started = datetime(2026, 1, 1, tzinfo=UTC)
    common = {"purpose": "adherence", "attempt": 1, "started_at": started, "input_tokens": 100, "cached_tokens": 25}
    store.llm_calls.add(
        [
            CallRecord(model="priced", outcome="answered", cost_usd=0.5, seconds=1.0, output_tokens=7, **common),
            CallRecord(model="priced", outcome="answered", cost_usd=0.25, seconds=3.0, output_tokens=7, **common),
            CallRecord(model="own", outcome="timeout", seconds=9.0, **common),
            CallRecord(model="own", outcome="answered", seconds=1.0, **common),
        ]
    )
    app = open_page("network", network_view="Cost")
    assert not app.exception
    figures = {one.label: one.value.replace("\u00a0", " ") for one in app.metric}
    assert figures == {
        "Calls": "4",
        "Spent": "0.75 USD",
        "Tokens read / written": "400 / 14",
        "Provider's cache": "25 %",
    }
    models = app.dataframe[0].value
    assert models["Model"].tolist() == ["priced", "own"]
    assert models["Median time"].tolist() == ["2.0 s", "1.0 s"]
    assert models["Failed"].tolist() == [0, 1]
    assert "The price of 1 call is not known" in words(app)
    assert "unknown" in table(app, 0)


def test_what_the_browser_sends_is_checked() -> None:
    assert [read_place(value, 3) for value in (0, 2, 3, -1, True, "1", None, 1.0)] == [0, 2, *[None] * 6]


def test_figures_of_one_channel_and_round(open_page, store, table) -> None:
    said = (("Ann", "Bob, one.", "public", 1), ("Bob", "Ann, two.", "public", 2), ("Ann", "Bob, three.", "team", 1))
    messages = tuple(
        Message(id=f"m{at}", index=at, speaker=who, text=text, channel=channel, round=number)
        for at, (who, text, channel, number) in enumerate(said)
    )
    players = tuple(Player(name=name) for name in ("Ann", "Bob", "Cy"))
    transcript = Transcript(game_id="two", source_format="native", language="en", players=players, messages=messages)
    add_evaluated(store, transcript, source_name="two.json")
    app = open_page("network")
    assert dots(app) == {("Ann", "Bob"): 1 + 1, ("Bob", "Ann"): 1}
    app.selectbox(key=f"round_{transcript.id}").select(1).run()
    assert not app.exception
    assert dots(app) == {("Ann", "Bob"): 2}
    app.segmented_control(key=f"channel_{transcript.id}").set_value("team").run()
    assert dots(app) == {("Ann", "Bob"): 1}


def test_games_and_iterations_stand_beside_each_other(open_page, game, store, table, words) -> None:
    store.iterations.create("first")
    app = open_page("network", network_view="Beside each other")
    assert not app.exception
    assert "Choose iterations with games, or games" in words(app)
    app.multiselect(key="beside_games").set_value([game]).run()
    assert not app.exception
    assert list(app.dataframe[0].value["Largest share, times even"]) == ["2.2"]


def test_several_games_are_one_graph_by_name_or_by_role_with_filters(open_page, store, table, words) -> None:
    def add(name: str, sides: dict[str, str], *said: tuple[str, str]) -> str:
        messages = tuple(
            Message(id=f"m{at}", index=at, speaker=who, text=text, round=at + 1) for at, (who, text) in enumerate(said)
        )
        players = tuple(Player(name=one, role=side, alignment=side) for one, side in sides.items())
        game = Transcript(game_id=name, source_format="native", language="en", players=players, messages=messages)
        add_evaluated(store, game, source_name=f"{name}.json", iteration="Old")
        return game.id

    store.iterations.create("Old")
    add("one", {"Ann": "mafia", "Bob": "town", "Cy": "town"}, ("Ann", "Bob, hello."), ("Bob", "Cy, it was Ann."))
    second = add("two", {"Ann": "town", "Bob": "town", "Eve": "mafia"}, ("Ann", "Bob, hello."), ("Eve", "Bob, no."))
    app = open_page("network", network_view="Beside each other")
    assert not app.exception
    assert "2 games in one graph. Players of the same name are one" in words(app)
    assert dots(app) == {("Ann", "Bob"): 2, ("Bob", "Cy"): 1, ("Bob", "Ann"): 1, ("Eve", "Bob"): 1}
    # A game that is chosen besides its iteration counts once.
    app.multiselect(key="beside_games").set_value([second]).run()
    assert "2 games in one graph." in words(app)
    assert len(app.dataframe[0].value) == 2
    app.segmented_control(key="several_nodes").set_value("by role").run()
    assert dots(app) == {("mafia", "town"): 2, ("town", "mafia"): 1}
    assert "2 messages stay within a role and stay out of the picture." in words(app)
    app.selectbox(key="round_several").select(2).run()
    assert not app.exception
    assert app.dataframe[0].value["Messages"].tolist() == ["1.0", "1.0"]
    assert dots(app) == {("mafia", "town"): 1, ("town", "mafia"): 1}
