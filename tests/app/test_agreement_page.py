"""The Agreement page: empty with one rater, disagreements first with links, alpha and ceilings with their words."""

from __future__ import annotations

import json
import re

import pytest

from evaluation.ratings import Rating
from evaluation.rubric_judge.reading_decisions import RowDecision
from evaluation.score import RowVerdict
from evaluation.workflows.scoring import add_evaluated


@pytest.fixture
def rated(filled, small_game, hostile):
    """Grace gave 4 and 2; a second rater with a hostile name gave 1 and 2, and rated a third game."""
    for name, score in (("one", 1), ("two", 2), ("three", 5)):
        filled.ratings.add(Rating(small_game(name).id, hostile, score, (True, True, False, None, True)))
    return filled


def test_one_rater_is_not_enough(open_page, filled, words) -> None:
    app = open_page("team", team="Agreement")
    assert not app.exception
    said = words(app)
    assert "At least two raters are needed" in said
    assert "So far: 2 ratings by 1 rater" in said
    # What a single rater allows is shown all the same.
    assert "of the raters" in said


def test_disagreements_come_first_and_open_the_game(open_page, rated, words, table, small_game, hostile) -> None:
    app = open_page("team", team="Agreement", numbers="true")
    assert not app.exception
    said = words(app)
    assert "This page shows what other raters gave" in said
    assert app.subheader[0].value == "So far the two raters do not agree on the score."
    assert app.subheader[1].value == "Look at these first"
    assert "2 games rated by two or more; 20 such games are needed to be sure." in said
    assert "1 of 2 games" in table(app)
    assert f"3 points apart: {' '.join(hostile.split())[:59]}" in said
    links = [json.dumps(str(link.proto)) for link in app.get("page_link")]
    assert any(small_game("one").id in link for link in links)
    # No way to the desk from beside the scores of others.
    labels = [one.proto.label for one in app.get("page_link")]
    assert "Open the game" in labels
    assert not any("ate" in label for label in labels)
    assert len(app.get("download_button")) == 2


def test_a_question_is_chosen_by_the_url(open_page, rated, words) -> None:
    app = open_page("team", team="Agreement", item="Question 2")
    assert not app.exception
    assert "Did you find yourself curious" in words(app)


# Addresses with the view's earlier names keep working.
@pytest.mark.parametrize("view", ["Rule, judge and person differ", "Overridden by people", "Overruled by people"])
def test_overridden_rows_open_the_message(open_page, rated, words, small_game, view: str) -> None:
    game = small_game("one").id
    row = rated.results.load(game)["strategic_depth"].ledger[0]
    rated.overrides.add(game, "strategic_depth", row.id, RowVerdict.EXCLUDED, author="Ada", reason="Off topic.")
    app = open_page("team", team="Agreement", differ=view)
    assert not app.exception
    assert "person: Off topic." in words(app)
    [link] = [str(link.proto) for link in app.get("page_link") if link.proto.label == "Open the message"]
    assert "message=m0" in link
    # Another view can still be chosen.
    app = next(one for one in app.segmented_control if one.key == "differ").set_value("Raters differ").run()
    assert "Off topic." not in words(app)


def test_every_row_with_different_verdicts_can_be_opened_page_by_page(open_page, store, small_game, words) -> None:
    game = small_game("one", rounds=6)
    add_evaluated(store, game, source_name="one.json")
    results = store.results.load(game.id)
    store.decisions.save(
        RowDecision(game.id, metric, one.id, RowVerdict.EXCLUDED, "", "No.", 0.9, (), "judge", "m", one.id)
        for metric in ("strategic_depth", "coherence")
        for one in results[metric].ledger
        if one.verdict is not RowVerdict.EXCLUDED
    )

    def linked(app) -> set[tuple[str, ...]]:
        assert not app.exception
        links = [str(link.proto) for link in app.get("page_link") if link.proto.label == "Open the message"]
        return {re.search(r"message=(\w+)&metric=(\w+)", link).groups() for link in links}

    def page(number: int) -> set[tuple[str, ...]]:
        return linked(open_page("team", team="Agreement", rows_of="Strategic depth", rows_page=str(number)))

    pages = [page(number) for number in (1, 2, 3)]
    assert [len(page) for page in pages] == [5, 5, 2]
    assert set.union(*pages) == {(f"m{place}", "strategic_depth") for place in range(12)}
    # A page that is not there any more is not an error.
    assert page(9)
    both = open_page("team", team="Agreement")
    assert len(linked(both)) == 5
    assert f"{12 + 11} rows with different verdicts" in words(both)
