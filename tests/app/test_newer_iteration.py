"""One current iteration on every page: a newer one with too few games is named in one line, with a link."""

from __future__ import annotations

import pytest

from evaluation.workflows.scoring import add_evaluated


@pytest.fixture
def grown(filled, small_game):
    """Beside the two iterations that have games: v5 with two and v6 with one."""
    for name, games in (("v5", 2), ("v6", 1)):
        filled.iterations.create(name, parent="Shorter prompt")
        for number in range(games):
            add_evaluated(filled, small_game(f"{name}-{number}"), source_name=f"{name}-{number}.json", iteration=name)
    return filled


@pytest.mark.parametrize("page", ["overview", "compare", "trends", "team"])
def test_every_page_shows_the_newest_with_a_game_and_names_a_newer_one(open_page, grown, words, page) -> None:
    app = open_page(page)
    assert not app.exception
    assert "is newer" not in words(app)
    # The one with a single game is the current one.
    if page == "overview":
        assert app.selectbox(key="iteration").value == "v6"
    if page == "compare":
        assert app.selectbox(key="compare_after").value == "v6"
    grown.iterations.create("v7", parent="Shorter prompt")
    app = open_page(page)
    assert "v7 is newer: 0 of 3 games." in words(app)
    assert "Add games" in [one.proto.label for one in app.get("page_link")]


def test_an_older_iteration_says_which_is_newer(open_page, grown, words) -> None:
    assert "v6 is newer: 1 of 3 games." in words(open_page("overview", iteration="v5"))
    assert "v6 is newer: 1 of 3 games." in words(open_page("compare", before="Shorter prompt", after="v5"))
    assert "v6 is newer: 1 of 3 games." in words(open_page("team", rater="Lea", team_of="v5"))


def test_the_form_of_an_ab_test_begins_with_the_current_iteration_and_its_reference(open_page, grown) -> None:
    app = open_page("experiments", experiments_view="A/B tests", start_ab="true")
    begin = next(one for one in app.selectbox if one.label == "Begin with")
    begin.set_value("Your current iteration and its reference").run()
    assert not app.exception
    text = app.text_area(key="ab_text").value
    assert "v6" in text
    assert "Shorter prompt" in text
    assert "v5" not in text
