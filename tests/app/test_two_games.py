"""Two games side by side on the Compare page, and blind judgements of pairs on it and on the Review page."""

from __future__ import annotations

import json

import pytest

from evaluation.rating_desk.game_pairs import PairChoice
from evaluation.workflows.ratings.pair_judgements import judge_pair, pair_to_judge
from tests.app.drawn import drawn

BASE, NEW = "Baseline prompt", "Shorter prompt"
SIDES = {"before": BASE, "after": NEW}


def payloads(app) -> list[str]:
    return [one.proto.json for one in drawn(app)]


def test_the_two_games_that_moved_most_stand_beside_each_other(open_page, filled, words, table) -> None:
    app = open_page("compare", of="Two games", **SIDES)
    assert not app.exception
    assert [one.label for one in app.selectbox][-2:] == ["Game before", "Game after"]
    assert "whose scores lie farthest apart" in words(app)
    before, after = (json.loads(json.loads(one)["body"]) for one in payloads(app))
    said = [[row["x"] for row in side["rows"] if row["k"] == "m"] for side in (before, after)]
    assert "Nothing new in four" in said[1]
    assert "I think Bravo is suspicious" in said[0][0]
    # Failing messages carry their badges.
    assert any(badge[1] == 1 for row in after["rows"] for badge in row.get("b", []))
    assert "Strategic depth" in table(app)


def test_a_chosen_game_stands_in_the_address(open_page, filled, small_game) -> None:
    app = open_page("compare", of="Two games", game_before=small_game("one").id, **SIDES)
    assert not app.exception
    assert "in one" in payloads(app)[0]
    assert app.query_params["game_before"] == small_game("one").id


@pytest.mark.parametrize("page", ["compare", "review"])
def test_a_pair_is_judged_blind_and_undone(open_page, filled, words, page) -> None:
    where = {"of": "Judged by people", "judged": "Judge pairs", **SIDES} if page == "compare" else {}
    app = open_page(page, rater="Ada", desk="Which was better?", **where)
    assert not app.exception
    (sent,) = payloads(app)
    hidden = (BASE, NEW, "mafia", "doctor", *filled.transcripts.ids())
    assert [word for word in hidden if word in sent] == []
    if page == "review":
        assert [word for word in (BASE, NEW) if word in words(app)] == []
    next(one for one in app.button if one.label == "The left one").click().run()
    assert not app.exception
    (given,) = filled.pair_judgements.list()
    assert (given.rater, given.choice) == ("Ada", PairChoice.LEFT)
    # One game of the new prompt makes one pair.
    assert "No pair is left." in words(app)
    iteration = NEW if given.better in filled.transcripts.ids(NEW) else BASE
    assert (f"The better one was of: {iteration}" in words(app)) is (page == "compare")
    app.button(key="pair_undo").click().run()
    (withdrawn,) = filled.pair_judgements.list()
    assert withdrawn.withdrawn_at is not None
    assert "Which was better to watch?" in words(app)


def test_leads_read_the_win_rate_with_interval_and_count(open_page, filled, words, table) -> None:
    where = {"of": "Judged by people", **SIDES}
    assert "Nobody has judged these two iterations yet." in words(open_page("compare", **where))
    for rater in ("Ada", "Bob", "Cem"):
        pair = pair_to_judge(filled, rater, BASE, NEW)
        side = PairChoice.LEFT if pair.left in filled.transcripts.ids(NEW) else PairChoice.RIGHT
        judge_pair(filled, rater, BASE, NEW, pair, side)
    app = open_page("compare", **where)
    assert not app.exception
    assert [one.value for one in app.metric][:2] == ["100\u00a0%", "3"]
    # Wilson, 3 of 3: from 3 / (3 + 1.96 ** 2) = 0.4385 to 1.
    assert "3 of 3 decided judgements, 100 % (95 % interval 44 to 100 %). 3 raters" in words(app)
    assert list(app.dataframe[0].value["Better"]) == ["after"] * 3


def test_a_page_without_a_second_iteration_has_no_pairs(open_page, store, words) -> None:
    store.iterations.create("Only one")
    app = open_page("review", rater="Ada", desk="Which was better?")
    assert not app.exception
    assert "There are no pairs of games to judge yet" in words(app)
