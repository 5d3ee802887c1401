"""The Team view for leads, and that no page tells a rater what others gave a game that they have not rated."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dashboard.app_pages.rate import desk_state
from dashboard.app_pages.rate.rating_desk import RATE
from dashboard.shared.identity import identity
from evaluation.rating_desk.assignments import DiscardReason
from evaluation.ratings import Rating
from evaluation.store import Store
from evaluation.workflows.ratings import rating_habits, rating_rows
from tests.app.drawn import data_of, sent, tables


def team(open_page: Any, **parameters: str) -> Any:
    app = open_page("team", rater="Lea", **parameters)
    assert not app.exception
    return app


def test_a_lead_assigns_an_iteration_and_raters_get_it_first(open_page, filled: Store, words, small_game) -> None:
    app = team(open_page, team_of="Baseline prompt")
    app.text_area(key="team_names").set_value("Ann\nBob\n Cleo ")
    app.number_input(key="team_common").set_value(0).run()
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
    # A wrong plan is taken back in one press, also later and after other changes, and stays on record; nothing else is.
    filled.rating_assignments.add([(filled.transcripts.ids()[3], "Ann")], who="Max")
    filled.rating_assignments.add([(filled.transcripts.ids()[4], "Ann")], who="Lea")
    filled.rating_assignments.withdraw([(filled.transcripts.ids()[4], "Ann")], who="Lea")
    app = team(open_page, team_of="Baseline prompt")
    assert "and not begun: " in words(app)
    app.button(key="team_undo_batch").click().run()
    assert "4 assignments taken back." in words(app)
    assert [one.who for one in filled.rating_assignments.current()] == ["Max"]
    assert [one.withdrawn_by for one in filled.rating_assignments.list()] == [*["Lea"] * 4, None, "Lea"]
    assert "team_undo_batch" not in [one.key for one in app.button]
    filled.rating_assignments.withdraw([(filled.transcripts.ids()[3], "Ann")], who="Max")
    app.text_area(key="team_names").set_value("Ann\nBob\nCleo")
    app.number_input(key="team_common").set_value(0).run()
    app.radio(key="team_scope").set_value("All 3 games").run()
    app.button(key="team_assign").click().run()
    # What somebody has begun is not taken back.
    begun = next(one for one in filled.rating_assignments.current() if one.rater == "Bob")
    token = filled.ratings.token("Bob", begun.transcript_id)
    filled.drafts.save(token, 1, {})
    app.run()
    assert app.button(key="team_undo_batch").label == "Take back 3 assignments"
    mine = [one for one in filled.rating_assignments.current() if one.rater == "Ann"]
    desk = data_of(open_page("rate", rater="Ann"), "rating_desk")
    assert desk["progress"] == f"Game 1 of {len(mine)} assigned to you · Ann"


def test_games_that_one_person_rated_get_a_second_and_a_skipped_game_says_so(open_page, filled: Store, words) -> None:
    games = [game for game in filled.transcripts.ids() if game not in filled.ratings.rater_counts()]
    single = [game for game, raters in filled.ratings.rater_counts().items() if raters == 1]
    app = team(open_page)
    app.text_area(key="team_names").set_value("Ann\nBob")
    app.number_input(key="team_common").set_value(0)
    app.radio(key="team_scope").set_value(f"{len(single)} games that only one person rated").run()
    assert f"{len(single)} new assignments for {len(single)} games" in words(app)
    assert "Rated by others, to have games in common" not in words(app)
    app.button(key="team_assign").click().run()
    assert {one.transcript_id for one in filled.rating_assignments.current()} == {*single}
    filled.rating_assignments.add([(game, "Ann") for game in games], who="Lea")
    filled.rating_queue.skip("Ann", games[0])
    filled.discards.add(games[1], "Ann", DiscardReason.LANGUAGE)
    app = team(open_page)
    (cells,) = [table for table in tables(app) if "Score" in table]
    (ann,) = [name for name in cells if name.startswith("Ann")]
    held = dict(zip(cells["Game"], cells[ann], strict=True))
    names = filled.transcripts.game_names()
    assert [held[names[game]] for game in games[:3]] == ["» skipped", "✗ cannot be rated", "○ assigned"]
    assert "» skipped by the rater" in words(app)
    assert "✗ out of the rater's queue" in words(app)


def test_a_new_rater_gets_games_in_common_and_a_wrong_number_is_a_sentence(open_page, filled: Store, words) -> None:
    games = filled.transcripts.ids()
    for game in games[:3]:
        for rater in ("Ann", "Bob"):
            filled.ratings.add(Rating(game, rater, 3))
    app = team(open_page)
    app.text_area(key="team_names").set_value("Ann\nBob\nCleo").run()
    # Three in common would be three of the five games, for everybody.
    assert "1 in common: at most a third of the 5 games above." in words(app)
    assert "Cleo: 1 game to rate" in words(app)
    shared = next(
        line for line in words(app).split("\n") if line.startswith("Rated by others, to have games in common")
    )
    assert sum(filled.transcripts.game_names()[game] in shared for game in games[:3]) == 1
    assert "The raters then have 1 game in common" in words(app)
    app.number_input(key="team_common").set_value(0).run()
    assert "whether they agree cannot be told" in words(app)
    for wrong in (0, 99):
        app.number_input(key="team_overlap").set_value(wrong).run()
        assert f"{wrong} raters per game cannot be chosen from 3 named raters. Ask for 1 to 3" in words(app)
        assert "overlap:" not in words(app)


def test_what_may_say_that_games_were_not_read_is_told_as_a_fact(open_page, filled: Store, words, small_game) -> None:
    games = filled.transcripts.ids()
    for place, game in enumerate(games[:4]):
        token = filled.ratings.token("Ann", game)
        at = datetime.now(UTC) + timedelta(seconds=2 if place < 3 else 50)
        filled.ratings.add(Rating(game, "Ann", 3 + place % 2, (True,) * 5, created_at=at, token=token))
    # One from a sheet has no time at the desk, and six that are alike say nothing yet.
    (found,) = rating_habits(filled).values()
    quick = "3 of 4 games rated faster than they can be skimmed (10 words a second)"
    assert found.words == quick
    # Exactly these are listed, and no other.
    assert sorted((one.transcript_id, round(took.seconds)) for one, took in found.ratings) == [
        (key, 2) for key in sorted(games[:3])
    ]
    sizes = {one.transcript_id: took.words for one, took in found.ratings}
    assert sizes == {
        game: sum(len(one.text.split()) for one in filled.transcripts.get(game).messages) for game in games[:3]
    }
    rows = {row["transcript_id"]: row["desk_seconds"] for row in rating_rows(filled) if row["rater"] == "Ann"}
    assert list(rows.values()) == [2, 2, 2, 50]
    for name in ("sixth", "seventh"):
        filled.transcripts.add(small_game(name), source_name=f"{name}.json")
    for place, game in enumerate(filled.transcripts.ids()[5:]):
        filled.ratings.add(Rating(game, "Ann", 1 + place, (True,) * 5))
    assert next(iter(rating_habits(filled).values())).words == quick
    filled.ratings.add(Rating(games[4], "Ann", 5, (True,) * 5))
    # A revision comes to the desk filled in.
    filled.ratings.add(Rating(games[3], "Ann", 4, (True,) * 5, token=filled.ratings.token("Ann", games[3])))
    told = f"{quick}, the same answers in 7 of 7"
    (found,) = rating_habits(filled).values()
    assert found.words == told
    assert [took and round(took.seconds) for _, took in found.ratings] == [2, 2, 2, 50, *[None] * 3]
    assert rating_habits(filled, games) == {}
    app = team(open_page, habits="true")
    assert f"Ann: {told}." in words(app)
    names = filled.transcripts.game_names()
    assert tables(app)[0]["Game"].tolist() == [names[one.transcript_id] for one, _ in found.ratings]
    assert tables(app)[0]["Seconds"].tolist() == ["2", "2", "2", "50", "", "", ""]
    assert tables(app)[0]["Words"].tolist()[:3] == [str(sizes[one.transcript_id]) for one, _ in found.ratings[:3]]
    said = words(team(open_page, team_game=games[0], team_rater="Ann"))
    assert f"rated 2 s after the game came to the desk, {sizes[games[0]]} words" in said
    assert "first rated 50 s after" in words(team(open_page, team_game=games[3], team_rater="Ann"))
    assert "rated from a sheet" in words(team(open_page, team_game=games[4], team_rater="Ann"))
    # Who sees a part is told so, and who is asked to rate hears nothing of others.
    for game in games[:3]:
        filled.ratings.add(Rating(game, "Max", 2 if game == games[0] else 4))
    app = open_page("team", rater="Max", team_of="Baseline prompt", habits="true")
    assert f"Of the games that you may see:\nAnn: 3 of 3{quick.removeprefix('3 of 4')}." in words(app)
    assert "the same answers" not in words(app)
    assert len(tables(app)[0]) == 3
    assert "after the game came" not in words(open_page("team", rater="Max", team_game=games[3], team_rater="Ann"))
    filled.rating_assignments.add([(games[4], "Max")], who="Lea")
    assert "skimmed" not in words(open_page("team", rater="Max"))


def test_the_same_answers_are_told_from_a_share_of_them(filled: Store, small_game) -> None:
    for name in ("sixth", "seventh", "eighth"):
        filled.transcripts.add(small_game(name), source_name=f"{name}.json")
    for place, game in enumerate(filled.transcripts.ids()):
        filled.ratings.add(Rating(game, "Cleo", 1 + place / 2, (place > 0, True, True, True, False)))
        filled.ratings.add(Rating(game, "Dan", 1 + place / 2, (place > 1, True, True, True, False)))
        filled.ratings.add(Rating(game, "Eve", 1 + place / 2))
    (found,) = rating_habits(filled).items()
    assert (found[0], found[1].words, len(found[1].ratings)) == ("Cleo", "the same answers in 7 of 8", 7)


def test_the_overview_tells_haste_of_what_counts_there_and_who_decided(open_page, filled: Store, words) -> None:
    one, two, three = filled.transcripts.ids("Baseline prompt")
    (other,) = {*filled.transcripts.ids()} - {one, two, three, *filled.transcripts.ids("Shorter prompt")}
    at = datetime.now(UTC) + timedelta(seconds=1)
    for game in (two, three, other):
        filled.ratings.add(Rating(game, "Ann", 3, created_at=at, token=filled.ratings.token("Ann", game)))
    page = {"iteration": "Baseline prompt", "rater": "Lea"}
    assert "Ann: 2 of 2 games rated faster" in words(open_page(**page))
    differing = next(game for game in (two, three) if len(filled.ratings.latest(game)) > 1)
    filled.engagement_decisions.add(differing, 3.5, who="Lea", reason="It drags.")
    said = words(open_page(**page))
    assert "Engagement: 1 of 3 scores decided by Lea; raters differ on 1 game." in said
    assert "Ann: 1 of 1 game rated faster" in said
    assert "Engagement: 1 of" in words(open_page(iteration="Shorter prompt", rater="Lea"))


def test_who_gave_no_name_is_told_that_nothing_is_hidden_and_has_seen_it(open_page, filled: Store, words) -> None:
    app = open_page("team")
    assert "Enter your name under Rate first" in words(app).replace("*", "")
    assert app.session_state["ratings_seen"] == {*filled.ratings.rater_counts()}
    assert "who you are" not in words(team(open_page))


@pytest.mark.usefixtures("session")
def test_a_rating_after_a_look_at_what_others_gave_is_told_apart(open_page, filled: Store, words, small_game) -> None:
    rated, unrated = small_game("one").id, small_game("three").id
    identity.note_ratings_seen([rated, unrated])
    for game, is_told, handed_over in ((rated, True, 0), (rated, False, 2), (unrated, False, 0)):
        desk = desk_state.DeskState("Ada", handed_over=handed_over)
        desk_state.take(filled, desk, game, "", RATE)
        assert bool(desk.data["seen"]) == is_told
    for game in (rated, unrated):
        desk_state.take(filled, desk, game, "", RATE)
        form = {"token": desk.data["token"], "score": 4, "answers": [None] * 5, "comment": "", "rev": 1}
        desk_state.submit(filled, desk, form)
    assert {one.transcript_id: one.is_informed for one in filled.ratings.by_rater("Ada")} == {
        rated: True,
        unrated: False,
    }
    said = words(open_page("team", team="Agreement"))
    assert "1 of 4 ratings was given after its rater had seen scores or ratings of the game: not blind." in said


VIEWS = [
    ("overview", {}),
    ("overview", {"iteration": "Baseline prompt"}),
    ("overview", {"overview": "All iterations"}),
    *(("overview", {"panel": panel}) for panel in ("Games", "Numbers", "Advice")),
    ("games", {}),
    ("games", {"failing": "Engagement"}),
    ("games", {"transcript": "{one}"}),
    ("games", {"transcript": "{one}", "show": "Ledger", "metric": "engagement"}),
    ("games", {"transcript": "{one}", "beside": "{two}"}),
    ("team", {}),
    ("team", {"team": "Agreement", "numbers": "true"}),
    ("team", {"team": "Agreement", "differ": "Rater by rater"}),
    ("team", {"team": "Agreement", "differ": "Metrics differ from raters"}),
    ("trends", {}),
]


@pytest.mark.parametrize(("page", "query"), VIEWS)
def test_a_view_is_the_same_whatever_others_gave_to_a_rater_who_has_not_rated_it(
    open_page, filled, page, query
) -> None:
    """``tests/faults/test_hidden_ratings.py`` says the same of what can be downloaded."""
    one, two, other = filled.transcripts.ids()[:3]
    filled.ratings.add(Rating(other, "Dana", 3))
    # The current iteration, whose decision waits for ratings alone until one of them is a critical failure.
    current = filled.transcripts.ids(iteration="Shorter prompt")
    seen: dict[str, list[list[str]]] = {"Dana": [], "Lea": []}
    for score in (5, 1):
        for game in (one, *current):
            filled.ratings.add(Rating(game, "Bob", score))
        # What was drawn for one person is shared with the next. Lea rates nothing.
        for rater, views in seen.items():
            app = open_page(page, rater=rater, **{name: text.format(one=one, two=two) for name, text in query.items()})
            assert not app.exception
            views.append(sent(app))
    (hidden, still_hidden), (shown, otherwise) = seen.values()
    assert hidden == still_hidden
    assert shown != otherwise


def test_who_decides_without_rating_sees_engagement_and_is_not_asked_to_rate_any_more(open_page, filled, words) -> None:
    games = filled.transcripts.ids()
    for game in games[:3]:
        filled.ratings.add(Rating(game, "Bob", 4))
    filled.ratings.add(Rating(games[3], "Dana", 4))
    filled.rating_assignments.add([(games[0], "Dana")], who="Lea")
    app = open_page(rater="Dana")
    assert "Engagement is hidden from you until you have rated" in words(app)
    assert "3 games, 1 of them assigned to you, leave your queue for good" in words(app)
    assert filled.discards.of("Dana") == []
    app.button(key="show_ratings").click().run()
    assert not app.exception
    assert "Engagement is hidden from you" not in words(app)
    assert {one.transcript_id for one in filled.discards.of("Dana")} >= {*games[:3]}


def test_a_decision_is_open_to_who_must_not_see_its_ratings_and_is_told_to_who_decides(
    open_page, filled, words
) -> None:
    for game in filled.transcripts.ids(iteration="Shorter prompt"):
        filled.ratings.add(Rating(game, "Bob", 1))
    filled.ratings.add(Rating(filled.transcripts.ids()[0], "Dana", 3))
    app = open_page(rater="Dana")
    assert "Hidden until you have rated these games" in words(app)
    assert "1 game here, 3 games in the reference" in words(app), "what no rating changes is still said"
    app.button(key="show_ratings").click().run()
    assert "The rule says revert" in words(app)


def test_agreement_says_that_ratings_are_hidden_and_not_that_there_are_none(open_page, filled, words) -> None:
    for rater in ("Bob", "Cleo"):
        filled.ratings.add(Rating(filled.transcripts.ids()[0], rater, 4))
    filled.ratings.add(Rating(filled.transcripts.ids()[2], "Dana", 4))
    said = words(open_page("team", team="Agreement", rater="Dana"))
    assert "Hidden until you have rated these games" in said
    assert "At least two raters are needed" not in said


def test_a_cell_leads_to_where_the_raters_of_its_game_differ(open_page, filled, words) -> None:
    far, near = [game for game in filled.transcripts.ids() if game not in filled.ratings.rater_counts()][:2]
    for game, scores in ((far, (1, 5)), (near, (3, 4))):
        for rater, score in zip(("Bob", "Cleo"), scores, strict=True):
            filled.ratings.add(Rating(game, rater, score))
    said = words(open_page("team", team="Agreement", differ="Raters differ"))
    assert said.index("4 points apart") < said.index("1 point apart")
    app = team(open_page, team_game=near, team_rater="Bob")
    app.button(key="team_differ").click().run()
    said = words(app)
    assert said.index("1 point apart") < said.index("4 points apart")


def test_a_decided_game_is_nothing_to_look_at_first(open_page, filled, words) -> None:
    split, other = filled.transcripts.ids()[:2]
    for game in (split, other):
        for rater, score in (("Bob", 1), ("Cleo", 5)):
            filled.ratings.add(Rating(game, rater, score))
    before = words(open_page("team", team="Agreement", differ="Raters differ"))
    filled.engagement_decisions.add(split, 3, who="Lea", reason="It drags.")
    after = words(open_page("team", team="Agreement", differ="Raters differ"))
    assert (before.count("4 points apart"), after.count("4 points apart")) == (2, 1)
