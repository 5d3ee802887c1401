"""The Agreement page: empty with one rater, disagreements first with links, alpha with its words."""

import json
import re
from typing import Any

import pytest

from dashboard.app_pages.team.agreement import coefficient_row
from evaluation.ratings import MAX_COMMENT_LENGTH, Rating
from evaluation.rubric_judge.reading_decisions import RowDecision
from evaluation.score import RowVerdict
from evaluation.workflows.ratings import stored_agreement
from evaluation.workflows.scoring import add_evaluated
from tests.app.drawn import tables


@pytest.fixture
def rated(filled, small_game, hostile):
    """Grace gave 4 and 2; a second rater with a hostile name gave 1 and 2, and rated a third game."""
    for name, score in (("one", 1), ("two", 2), ("three", 5)):
        filled.ratings.add(Rating(small_game(name).id, hostile, score, (True, True, False, None, True)))
    return filled


def test_disagreements_open_the_game_and_lead_to_no_desk(open_page, rated, words, small_game) -> None:
    app = open_page("team", team="Agreement", numbers="true", differ="Raters differ")
    assert not app.exception
    said = words(app)
    assert "2 games rated by two or more" in said
    assert "18 more such games may tell" in said
    # Of two games nothing is told, in no place of the page.
    assert "Too few games to tell whether the two raters agree on the score." in said
    marks = tables(open_page("team", team="Agreement", differ="Questions"))[0]["Do raters agree?"]
    assert set(marks) == {"? too few games to tell"}
    links = [json.dumps(str(link.proto)) for link in app.get("page_link")]
    assert any(small_game("one").id in link for link in links)
    # No way to the desk from beside the scores of others.
    assert not any("ate" in one.proto.label for one in app.get("page_link"))


def test_what_raters_gave_stands_side_by_side_and_changes_after_others_are_counted(
    open_page, rated, words, small_game, hostile
) -> None:
    game = small_game("one").id
    app = open_page("team", team="Agreement")
    assert "changed after another" not in words(app)
    rated.ratings.add(Rating(game, "Grace", 2, (False, True, None, None, True), "Slow."))
    app = open_page("team", team="Agreement", differ="Raters differ")
    assert "1 of 5 ratings was changed after another rater's score of the game could be seen" in words(app)
    beside = next(table for table in tables(app) if "Rater" in table)
    assert beside["Score"].tolist() == ["1", "2"]
    assert "Grace: Slow." in words(app)
    assert beside["Rater"].tolist()[1] == "Grace"


def test_who_gives_less_than_the_others_is_named_first_and_against_each(open_page, filled, words) -> None:
    for game in filled.transcripts.ids()[:4]:
        for rater, score in (("Ann", 2), ("Bob", 4), ("Cleo", 4)):
            filled.ratings.add(Rating(game, rater, score))
    app = open_page("team", team="Agreement", differ="Rater by rater")
    assert not app.exception
    assert "Ann gives " not in words(app)
    assert "that takes 20 games that a rater shares with others, so far at most 4." in words(app)
    assert set(tables(app)[0]["Lies apart?"]) == {"? too few games to tell"}
    assert tables(app)[0].iloc[0, 0].startswith("Ann gives ")
    app.selectbox(key="differs_from").set_value("Ann").run()
    assert "Ann gives 2.0 points less than Bob on 4 games." in tables(app)[0].iloc[:, 0].tolist()


def test_a_lead_takes_and_brings_ratings_on_the_page_of_agreement_without_a_name(open_page, rated, words) -> None:
    assert not open_page("team", team="Agreement").get("download_button")
    assert "`rater`, `score` and `game` (or `transcript_id`) are enough" in words(
        open_page("team", team="Agreement", sheets="true")
    )
    app = open_page("team", team="Agreement", sheets="true", rater="Lea")
    assert "columns; `score` and `game` (or `transcript_id`) are enough" in words(app)
    app = open_page("team", team="Agreement", sheets="true")
    labels = [one.proto.label for one in app.get("download_button")]
    assert labels == ["All ratings (CSV)", "All ratings (JSON)"]
    sheet = b"game,rater,score\nthree,Nora,3\nthree,,4\n"
    app.file_uploader(key="sheet").set_value(("s.csv", sheet, "text/csv")).run()
    assert "1 mistake: nothing of the sheet was stored." in words(app)


def test_the_table_of_agreement_has_a_row_for_each_item_and_plain_cells(rated) -> None:
    rows = [*map(coefficient_row, stored_agreement(rated).items)]
    assert [row["Item"] for row in rows] == ["Score 1 to 5", *(f"Question {number}" for number in range(1, 6))]
    # The score has no AC1. Of two games, one was rated the same by both.
    assert (rows[0]["AC1"], rows[0]["Same answer (%)"], rows[0]["Games"]) == ("", "50", 2)
    assert {type(cell) for row in rows for cell in row.values()} <= {str, int}
    assert rows[0]["Reading"] == "from too few games"


def test_a_game_is_decided_where_it_is_listed_and_nobody_decides_without_a_name(
    open_page, rated, words, small_game
) -> None:
    game = small_game("one").id
    app = open_page("team", team="Agreement", differ="Raters differ")
    app.segmented_control(key=f"team_decided_score_{game}").set_value(3)
    app.text_input(key=f"team_decision_reason_{game}").set_value("Read it twice")
    app.button(key=f"team_decide_button_{game}").click().run()
    assert not rated.engagement_decisions.current()
    app.text_input(key=f"team_decider_{game}").set_value("Lea")
    app.button(key=f"team_decide_button_{game}").click().run()
    assert not app.exception
    assert [(one.who, one.score) for one in rated.engagement_decisions.current().values()] == [("Lea", 3)]
    # The list stays, with what became of it; the name makes no rater.
    assert "3 of 5 counts for " in words(app)
    assert "Talk about the moment" in words(app)
    assert "rater" not in app.query_params
    assert f"team_decide_button_{game}" not in [one.key for one in app.button]
    app.button(key=f"team_undo_decision_{game}").click().run()
    assert [one.undone_by for one in rated.engagement_decisions.list()] == ["Lea"]
    assert f"team_decide_button_{game}" in [one.key for one in app.button]


def test_a_refusal_stands_below_its_form_and_undo_beside_what_was_stored(open_page, rated, words, small_game) -> None:
    game = small_game("one").id
    app = open_page("team", team="Agreement", differ="Raters differ")
    reason = app.text_input(key=f"team_decision_reason_{game}")
    assert reason.label == "Why? (required)"
    app.segmented_control(key=f"team_decided_score_{game}").set_value(3)
    app.text_input(key=f"team_decider_{game}").set_value("Lea")

    def decide() -> list[str]:
        """Clicks, and returns the keys of buttons and the refusals in the order of the page."""
        app.button(key=f"team_decide_button_{game}").click().run()
        assert not app.exception
        shown = [getattr(one, "key", None) or getattr(one, "value", "") for one in app.main]
        return [one for one in shown if one in (f"team_decide_button_{game}", "Say why.", "Nothing was stored.")]

    assert decide() == ["Say why.", f"team_decide_button_{game}"]
    app.text_input(key=f"team_decision_reason_{game}").set_value("x" * (MAX_COMMENT_LENGTH + 1))
    assert decide() == [f"team_decide_button_{game}", "Nothing was stored."]
    app.text_input(key=f"team_decision_reason_{game}").set_value("Read it twice")
    decide()
    assert [one.score for one in rated.engagement_decisions.current().values()] == [3]
    app.button(key="team_undo_told").click().run()
    assert not app.exception
    assert not rated.engagement_decisions.current()
    assert "count again." in words(app)


def test_a_decision_that_another_tab_overtook_is_refused_and_says_so(open_page, rated, words, small_game) -> None:
    game = small_game("one").id
    first, second = (open_page("team", team="Agreement", differ="Raters differ") for _ in range(2))

    def decide(tab, who: str, score: float) -> None:
        tab.segmented_control(key=f"team_decided_score_{game}").set_value(score)
        tab.text_input(key=f"team_decision_reason_{game}").set_value("Read it twice")
        tab.text_input(key=f"team_decider_{game}").set_value(who)
        tab.button(key=f"team_decide_button_{game}").click().run()

    decide(first, "Lea", 3)
    # The second click of a double click: nothing else is stored, and what was said stays.
    first.run()
    assert "3 of 5 counts for " in words(first)
    decide(second, "Max", 4)
    assert not second.exception
    assert "Lea decided 3 of 5 in the meantime: Read it twice" in words(second)
    assert [(one.who, one.score) for one in rated.engagement_decisions.list()] == [("Lea", 3)]


def test_overridden_rows_open_the_message(open_page, rated, words, small_game) -> None:
    game = small_game("one").id
    row = rated.results.load(game)["strategic_depth"].ledger[0]
    rated.overrides.add(game, "strategic_depth", row.id, RowVerdict.EXCLUDED, author="Ada", reason="Off topic.")
    app = open_page("team", team="Agreement", differ="Rule, judge and person differ")
    assert not app.exception
    assert "Person: Off topic." in words(app)
    [link] = [str(link.proto) for link in app.get("page_link") if link.proto.label == "Open the message"]
    assert "message=m0" in link


def test_every_row_with_different_verdicts_can_be_opened_page_by_page(open_page, store, small_game, words) -> None:
    game = small_game("one", rounds=6)
    add_evaluated(store, game, source_name="one.json")
    results = store.results.load(game.id)
    opposite = dict.fromkeys(RowVerdict, RowVerdict.EXCLUDED) | {RowVerdict.EXCLUDED: RowVerdict.COUNTS}
    store.decisions.save(
        RowDecision(game.id, metric, one.id, opposite[one.verdict], "", "No.", 0.9, (), "judge", "m", one.id)
        for metric in ("strategic_depth", "coherence")
        for one in results[metric].ledger
    )

    def opened(number: int, row: int | None = None) -> Any:
        place = {"rows_page": str(number)} | ({} if row is None else {"row": str(row)})
        app = open_page("team", team="Agreement", differ="Rule, judge and person differ", **place)
        assert not app.exception
        return app

    def rows(app) -> int:
        return sum(len(one) for one in tables(app) if "Latest reason" in one)

    assert [rows(opened(number)) for number in (1, 2)] == [20, 4]
    # A page or row that is not there any more is not an error.
    assert rows(opened(9))
    assert rows(opened(2, 9)) == 4
    both = opened(1, 3)
    assert rows(both) == 20
    links = [str(link.proto) for link in both.get("page_link") if link.proto.label == "Open the message"]
    [metric] = [re.search(r"message=\w+&metric=(\w+)", link)[1] for link in links]
    assert metric in ("strategic_depth", "coherence")
    assert "Judge: No." in words(both)
    assert f"{12 + 12} rows with different verdicts" in words(both)
