"""Comparisons: two iterations from the address, movers with links, runs of agents, and two games side by side."""

from __future__ import annotations

import json
import shutil

import pytest

from dashboard.app_pages.overview.why_messages_fail import reason_key
from evaluation.comparison.prompt_diff import MOST_LINES, is_cut, prompt_diff
from evaluation.store import Store
from evaluation.workflows.iterations import stored_failure_reasons
from evaluation.workflows.scoring import add_evaluated
from tests.app.conftest import HOSTILE, _game
from tests.app.drawn import data_of, drawn, tables


@pytest.fixture(scope="module")
def two_database(tmp_path_factory):
    """Two iterations of three games; the names and prompts of the second are hostile."""
    store = Store(tmp_path_factory.mktemp("two") / "two.duckdb")
    store.iterations.create("Old prompt", prompt_text="Play.\nBe brief.")
    store.iterations.create(HOSTILE, parent="Old prompt", change=HOSTILE, prompt_text=f"Play.\n{HOSTILE}")
    for number in range(3):
        old = _game(f"old{number}", rounds=3 + number)
        add_evaluated(store, old, source_name="a.json", iteration="Old prompt")
        dull = _game(f"new{number}", text="Nothing new", rounds=3 + number)
        add_evaluated(store, dull, source_name="b.json", iteration=HOSTILE)
    store.close()
    return store.path


@pytest.fixture
def two(store, database, two_database):
    """The same for one test, which may change it."""
    store.close()
    shutil.copyfile(two_database, database)
    return store


def test_a_link_keeps_its_two_iterations(open_page, two, hostile) -> None:
    app = open_page()
    assert (app.selectbox(key="iteration").value, app.selectbox(key="against").value) == (hostile, "Old prompt")
    two.iterations.create("Newest", parent=hostile)
    app.run()
    app.selectbox(key="iteration").set_value("Newest").run()
    # Each iteration begins with its own reference.
    assert app.selectbox(key="against").value == hostile
    app.selectbox(key="against").set_value("Old prompt").run()
    assert not app.exception
    linked = open_page(iteration="Newest", against="Old prompt")
    assert linked.selectbox(key="against").value == "Old prompt"


def test_what_changed_with_its_evidence_its_movers_and_its_prompts(open_page, two, words, hostile) -> None:
    app = open_page(panel="Messages")
    assert not app.exception
    assert "Your decision" in words(app)
    rows = data_of(app, "cockpit")["rows"]
    assert len(rows) == 7
    assert "cannot be tested" in {row["texts"]["outcome"] for row in rows}
    assert "Strategic depth" in tables(app)[-1].to_string()
    assert "Holds none of the strategic keywords." in words(app)
    links = [str(link.proto) for link in app.get("page_link") if link.proto.label == "Open the message"]
    assert any("metric=strategic_depth" in link and "message=m" in link for link in links)
    # The prompts line by line, as inert text.
    app = open_page(panel="Prompt")
    assert tables(app)[-1].iloc[:, 0].tolist() == ["  Play.", "\u2212 Be brief.", f"+ {hostile}"]
    assert hostile not in "\n".join(str(element.value) for element in app.markdown)
    # Every game is like its neighbours, so there is no spread, and the page says so instead of calling it worse.
    assert "No test is possible: no spread was seen on either side" in words(open_page(panel="Numbers"))


def test_a_reason_lists_its_messages_of_both_sides(open_page, two, words) -> None:
    reason = next(
        one
        for metric in stored_failure_reasons(two, HOSTILE).metrics
        for one in metric.reasons
        if one.count and metric.metric == "strategic_depth"
    )
    app = open_page(reason=reason_key(reason))
    assert not app.exception
    assert f"Old prompt: {reason.count_before} row" in words(app)
    assert len(tables(app)[-1]) == reason.count


def test_prompts_of_any_length() -> None:
    assert prompt_diff("a\nb", "a\nb") == []
    # Lines 3 and 20 change; two lines around each stay, and dots stand between.
    old = [str(number) for number in range(30)]
    new = [*old[:3], "x", *old[4:20], "y", *old[21:]]
    assert [line.text for line in prompt_diff("\n".join(old), "\n".join(new))] == [
        *("  1", "  2", "- 3", "+ x", "  4", "  5", "..."),
        *("  18", "  19", "- 20", "+ y", "  21", "  22"),
    ]
    assert not is_cut("a\n" * MOST_LINES, "")
    assert is_cut("a\n" * (MOST_LINES + 1), "")


def test_the_words_of_a_prompt_that_differ_are_marked() -> None:
    gone, come, more = prompt_diff("Play to win.", "Play hard to win.\nBe brief.")
    assert [gone.marks, more.marks] == [(), ()]
    assert [come.text[begin:end] for begin, end in come.marks] == [" hard"]
    gone, come = prompt_diff("Say 🙂 yes.", "Say 🙂 no.")
    assert [gone.text[begin:end] for begin, end in gone.marks] == ["yes"]
    assert [come.text[begin:end] for begin, end in come.marks] == ["no"]


def test_runs_of_different_judges_are_never_compared(open_page, two, words, run_of) -> None:
    run_of(two, "alpha", 8, "rules-2")
    run_of(two, "alpha", 3, "small")
    app = open_page("agents", agents="Runs", agent="alpha")
    assert "Run 1 stands apart: judged by scripted: rules-2, not by scripted: small." in words(app)
    assert not any(said in words(app) for said in ("beyond luck", "could be luck", "Game by game"))
    profile = words(open_page("agents", agent="alpha"))
    assert "Run 1 stands apart" in profile
    assert "Since the run before" not in profile
    # Of an agent that another judge scored last, the run of the common judge counts, which is said.
    run_of(two, "michael", 2, "other")
    run_of(two, "bravo", 9, "rules-2")
    ranked = words(open_page("agents", agent="alpha"))
    assert "Of Alpha an earlier run counts here: the latest one has no Adherence by this judge." in ranked
    # One whom only another judge scored is named and not ranked.
    assert "Michael stands apart" in ranked
    (headline,) = [line for line in ranked.splitlines() if "in character" in line]
    assert all(name in headline for name in ("Alpha", "Bravo"))
    assert "Michael" not in headline
    assert "Alpha and Michael stand apart" in words(
        open_page("trends", trends="Cost and behaviour", agents_open="true")
    )


def test_two_evaluation_runs_game_by_game(open_page, two, words, table, run_of) -> None:
    assert "Two completed evaluation runs are needed" in words(open_page("agents", agents="Runs"))
    for score in (6, 3):
        run_of(two, "alpha", score)
    app = open_page("agents", agents="Runs")
    assert not app.exception
    short = tables(app)[0].set_index("Dimension")
    # Ideas and voice distinctness have no score in either run, so they have no row.
    assert list(short.index) == ["Adherence", "Consistency"]
    shown = tables(app)[1].set_index("Dimension")
    # Alpha speaks in six games.
    assert shown.loc["Adherence", "Before"].endswith("(6)")
    assert shown.loc["Fluency", "Verdict"] == "? cannot be tested"
    assert short.loc["Adherence", "What it shows"] in ("✗ worse beyond luck", "– could be luck")
    assert "It is 3." in words(app)
    assert "Open the message" in [link.proto.label for link in app.get("page_link")]
    # Both runs judged the same games.
    assert shown.loc["Adherence", "Paired p"]
    # The runs belong to the agent that is chosen.
    for score in (4, 5, 6):
        run_of(two, "bravo", score)
    app.selectbox(key="chosen_agent").set_value("bravo").run()
    assert not app.exception
    assert app.selectbox(key="run_before").value != app.selectbox(key="run_after").value
    assert len(app.selectbox(key="run_after").options) == 3


def test_two_games_stand_beside_each_other(open_page, filled, words, table, small_game) -> None:
    first, second = small_game("one").id, small_game("four", text="Nothing new").id
    app = open_page("games", transcript=first, beside=second)
    assert not app.exception
    assert "Compared with Game 1 · Baseline prompt, Game 1 · Shorter prompt scores " in words(app)
    before, after = (json.loads(json.loads(one.proto.json)["body"]) for one in drawn(app))
    said = [[row["x"] for row in side["rows"] if row["k"] == "m"] for side in (before, after)]
    assert "Nothing new in four" in said[1]
    assert "I suspect Bravo" in said[0][0]
    # Failing messages carry their badges.
    assert any(badge[1] == 1 for row in after["rows"] for badge in row.get("b", []))
    assert "Strategic depth" in table(app)
    assert "That game is not here." in words(open_page("games", transcript=first, beside="nothing"))


def test_the_overview_leads_to_two_typical_games(open_page, filled, small_game) -> None:
    app = open_page(panel="Games")
    (link,) = [one.proto for one in app.get("page_link") if one.proto.label == "Two typical games side by side"]
    assert small_game("four", text="Nothing new").id in str(link)
    assert not app.exception
