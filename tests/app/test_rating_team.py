"""The Team view for leads, what raters see of it at the desk."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluation.ratings import Rating
from evaluation.store import Store
from tests.app.drawn import data_of, drawn, tables


def team(open_page: Any, **parameters: str) -> Any:
    app = open_page("team", rater="Lea", **parameters)
    assert not app.exception
    return app


def choose(app: Any, game: str, rater: str) -> Any:
    app.selectbox(key="team_game").set_value(game)
    app.selectbox(key="team_rater").set_value(rater)
    app.run()
    assert not app.exception
    return app


def test_a_lead_assigns_an_iteration_and_raters_get_it_first(open_page, filled: Store, words, small_game) -> None:
    app = team(open_page, team_of="Baseline prompt")
    app.text_area(key="team_names").set_value("Ann\nBob\n Cleo ").run()
    # At first the game that waits, by two raters.
    assert "2 new assignments for 1 game" in words(app)
    app.radio(key="team_scope").set_value("All 3 games").run()
    said = words(app)
    # Three games with two raters each; Grace has rated two of them already.
    assert "4 new assignments for 3 games" in said
    app.button(key="team_assign").click().run()
    assert not app.exception
    assert "4 assignments stored." in words(app)
    assert "Nothing to assign: every game has 2 raters or more." in words(app)
    assert {one.who for one in filled.rating_assignments.current()} == {"Lea"}
    mine = [one for one in filled.rating_assignments.current() if one.rater == "Ann"]
    desk = data_of(open_page("rate", rater="Ann"), "rating_desk")
    assert desk["progress"] == f"Game 1 of {len(mine)} assigned to you"


def test_the_first_line_says_what_waits_for_a_rating(open_page, filled: Store, words, small_game) -> None:
    app = team(open_page)
    first = "Shorter prompt waits for the rating of 1 game, and nobody is asked to rate it. "
    assert f"{first}2 other games are not rated either." in words(app)
    assert tables(app)[0]["Game"].tolist()[0] == "Game 1 · Shorter prompt"
    # The way to have that one rated stands beside it.
    app.text_area(key="team_names").set_value("Ann\nBob").run()
    app.button(key="team_assign").click().run()
    four = small_game("four", text="Nothing new").id
    asked = {(one.transcript_id, one.rater) for one in filled.rating_assignments.current()}
    assert asked == {(four, "Ann"), (four, "Bob")}
    assert "Shorter prompt waits for the rating of 1 game, which somebody is asked to rate." in words(app)
    filled.ratings.add(Rating(four, "Grace", 4))
    told = "2 games wait for a rating, and nobody is asked to rate them; all of Shorter prompt are rated."
    assert told in words(team(open_page))


def test_a_dispute_is_decided_and_the_decision_undone(open_page, filled: Store, words, small_game) -> None:
    key = small_game("one").id
    filled.ratings.add(Rating(key, "Ann", 1))
    filled.close()
    app = choose(team(open_page), key, "Grace")
    app.segmented_control(key="team_decided_score").set_value(2)
    app.text_input(key="team_decision_reason").set_value("Ann read it to the end.")
    app.button(key="team_decide_button").click().run()
    assert not app.exception
    assert "2 of 5 counts for Game 1 · Baseline prompt." in words(app)
    assert filled.results.load(key)["engagement"].score == 2.0
    assert "2.00, decided" in tables(app)[1].to_string()
    app.button(key="team_undo_decision").click().run()
    assert filled.results.load(key)["engagement"].score == 2.5


def test_a_single_game_is_assigned_and_withdrawn(open_page, filled: Store, small_game) -> None:
    key = small_game("loose").id
    app = choose(team(open_page), key, "Grace")
    app.button(key="team_assign_one").click().run()
    assert [(one.transcript_id, one.rater) for one in filled.rating_assignments.current()] == [(key, "Grace")]
    app.button(key="team_assign_one").click().run()
    assert filled.rating_assignments.current() == []


def test_assignments_end_with_thanks_and_more_games_on_request(open_page, filled: Store, words, small_game) -> None:
    filled.rating_assignments.add([(small_game("three").id, "Grace")], who="Lea")
    filled.ratings.add(Rating(small_game("three").id, "Grace", 3))
    filled.close()
    app = open_page("rate", rater="Grace")
    assert "You have done all 1 game that were assigned" not in words(app)
    assert "You have done the game that was assigned to you." in words(app)
    app.button(key="go_on").click().run()
    assert data_of(app, "rating_desk")["progress"].startswith("Game 4 of 5")


def test_what_others_gave_is_hidden_from_a_rater_who_has_not_rated_the_game(open_page, filled, table, words) -> None:
    shown = table(open_page("team", rater="Lea"), 1)
    assert "✓ 4" in shown
    filled.ratings.add(Rating(filled.transcripts.ids()[2], "Dana", 3))
    app = open_page("team", rater="Dana")
    assert not app.exception
    shown = table(app, 1)
    assert "✓ 3" in shown
    assert "✓ 4" not in shown
    assert "hidden" in shown
    assert "hidden from you until you have rated it" in words(app)


def test_a_name_in_other_letters_is_the_rater_who_rated_before(open_page, filled, words) -> None:
    app = open_page("rate")
    app.text_input[0].set_value("grace")
    next(one for one in app.button if one.label == "Start").click().run()
    assert not app.exception
    assert app.session_state["rater"] == "Grace"


def test_agreement_hides_what_others_gave_a_game_that_the_rater_has_not_rated(open_page, filled, words) -> None:
    one, two, three = filled.transcripts.ids()[:3]
    for game, rater, score in ((one, "Bob", 1), (two, "Bob", 5), (three, "Dana", 3)):
        filled.ratings.add(Rating(game, rater, score))
    assert "Bob 1, Grace 4" in words(open_page("team", team="Agreement", rater="Lea"))
    said = words(open_page("team", team="Agreement", rater="Dana"))
    assert "Bob 1, Grace 4" not in said
    assert "2 games that you have not rated yet: what others gave is hidden from you." in said
    # Nor do the figures rest on these: of what is left, Dana alone rated.
    assert "So far: 1 rating by 1 rater" in said


def test_the_list_of_games_and_the_gaps_hide_it_too(open_page, filled, words) -> None:
    one, two, three = filled.transcripts.ids()[:3]
    for game, rater, score in ((one, "Bob", 1), (two, "Bob", 5), (three, "Dana", 3)):
        filled.ratings.add(Rating(game, rater, score))

    def engagement(rater: str) -> list[str]:
        app = open_page("games", rater=rater)
        assert not app.exception
        (listed,) = [json.loads(one.proto.json)["rows"] for one in drawn(app) if '"cells"' in one.proto.json]
        return [row["cells"][-1]["text"] for row in listed]

    assert sum("of 5" in text for text in engagement("Lea")) == 3
    shown = engagement("Dana")
    assert sum("of 5" in text for text in shown) == 1
    assert "hidden until you rate it" in shown
    # Neither do filters tell it, nor the Overview.
    for query, told in (({"overview": "All iterations"}, "Success checklist"), ({"panel": "Games"}, "Tests of three")):
        assert told not in words(open_page(rater="Dana", **query))
        assert told in words(open_page(rater="Lea", **query))
    assert "No game matches" in words(open_page("games", rater="Dana", failing="Engagement"))
    assert "No game matches" not in words(open_page("games", rater="Lea", failing="Engagement"))
    gaps = words(open_page("team", team="Agreement", rater="Dana", differ="Metrics differ from raters"))
    assert "that you have not rated yet: what others gave is hidden from you." in gaps
    assert "1 rater gave 3.00, the metrics" in gaps
    assert "gave 5.00" not in gaps


def test_the_page_of_a_game_and_its_ledger_hide_it_until_the_rater_has_rated_the_game(open_page, filled, words) -> None:
    one, two = filled.transcripts.ids()[:2]
    for game, rater, score in ((one, "Bob", 5), (two, "Dana", 3)):
        filled.ratings.add(Rating(game, rater, score))
    rated = words(open_page("games", transcript=two, rater="Dana", scores="true"))
    assert "Engagement hidden" not in rated
    assert "are hidden from you" not in rated
    for view in ("Conversation", "Ledger"):
        shown = words(open_page("games", transcript=one, rater="Dana", scores="true", show=view, metric="engagement"))
        assert "are hidden from you until you have rated it." in shown
        assert "Engagement hidden" in shown
        assert "of 5" not in shown.replace("3 of 5", "")
        assert "Bob" not in shown
    assert "4.5 of 5" in words(open_page("games", transcript=one, rater="Lea"))


def test_the_overview_hides_it_from_that_rater_alone(open_page, filled) -> None:
    def engagement(**query: str) -> dict:
        app = open_page(**query)
        assert not app.exception
        (shown,) = [json.loads(one.proto.json)["rows"] for one in drawn(app) if '"isTarget"' in one.proto.json]
        return shown[-1]

    filled.ratings.add(Rating(filled.transcripts.ids()[0], "Bob", 5))
    iteration = "Baseline prompt"
    before = engagement(iteration=iteration, rater="Lea")
    assert before["games"]
    filled.ratings.add(Rating(filled.transcripts.ids()[-1], "Dana", 3))
    hidden = engagement(iteration=iteration, rater="Dana")
    assert (hidden["after"], hidden["games"], hidden["texts"]["current"]) == (None, [], "hidden")
    # Nor does any other text of a row beside its reference, such as the range of the change.
    beside = engagement(iteration="Shorter prompt", rater="Dana")["texts"]
    assert not any(text for name, text in beside.items() if name not in ("threshold", "before", "after", "current"))
    assert engagement(iteration="Shorter prompt", rater="Lea")["texts"]["range"]
    # What was drawn for one person is shared with the next.
    assert engagement(iteration=iteration, rater="Lea")["games"]


@pytest.mark.parametrize(("page", "query"), [("trends", {}), ("overview", {"panel": "Numbers"})])
def test_trends_and_the_overview_leave_it_out_for_that_rater_alone(open_page, filled, words, page, query) -> None:
    one, other = filled.transcripts.ids()[0], filled.transcripts.ids()[-1]
    filled.ratings.add(Rating(one, "Bob", 5))
    filled.ratings.add(Rating(other, "Dana", 3))
    hidden = "Engagement is hidden from you until you have rated"
    for rater, is_hidden in (("Lea", False), ("Dana", True), ("Lea", False)):
        app = open_page(page, rater=rater, **query)
        assert not app.exception
        shown = words(app)
        assert (hidden in shown) is is_hidden
        # Neither the picture, nor the numbers, nor the files below it.
        picture = (
            [one.proto.json for one in drawn(app)] if page == "trends" else [one.to_string() for one in tables(app)]
        )
        beside = shown.replace(hidden, "") + " ".join(picture)
        beside += " ".join(str(one.proto.spec) for one in app.get("plotly_chart"))
        assert ("Engagement" in beside) is not is_hidden


def test_who_decides_without_rating_sees_engagement_and_is_not_asked_to_rate_any_more(open_page, filled, words) -> None:
    games = filled.transcripts.ids()
    for game in games[:3]:
        filled.ratings.add(Rating(game, "Bob", 4))
    filled.ratings.add(Rating(games[3], "Dana", 4))
    app = open_page(rater="Dana")
    assert "Engagement is hidden from you until you have rated" in words(app)
    app.button(key="show_ratings").click().run()
    assert not app.exception
    assert "Engagement is hidden from you" not in words(app)
    assert {one.transcript_id for one in filled.discards.of("Dana")} >= {*games[:3]}
