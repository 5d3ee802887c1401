"""Two games side by side on the Compare page."""

from __future__ import annotations

import json

from tests.app.drawn import drawn

BASE, NEW = "Baseline prompt", "Shorter prompt"
SIDES = {"before": BASE, "after": NEW}


def payloads(app) -> list[str]:
    return [one.proto.json for one in drawn(app)]


def test_the_two_games_that_moved_most_stand_beside_each_other(open_page, filled, words, table) -> None:
    app = open_page("compare", of="Two games", **SIDES)
    assert not app.exception
    assert [one.label for one in app.selectbox][-2:] == ["Game before", "Game after"]
    assert "These two games are typical" in words(app)
    before, after = (json.loads(json.loads(one)["body"]) for one in payloads(app))
    said = [[row["x"] for row in side["rows"] if row["k"] == "m"] for side in (before, after)]
    assert "Nothing new in four" in said[1]
    assert "I suspect Bravo" in said[0][0]
    # Failing messages carry their badges.
    assert any(badge[1] == 1 for row in after["rows"] for badge in row.get("b", []))
    assert "Strategic depth" in table(app)


def test_a_chosen_game_stands_in_the_address(open_page, filled, small_game) -> None:
    app = open_page("compare", of="Two games", game_before=small_game("one").id, **SIDES)
    assert not app.exception
    assert "in one" in payloads(app)[0]
    assert app.query_params["game_before"] == small_game("one").id
