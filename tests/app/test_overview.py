"""The Overview: iterations against thresholds, what to keep, what is missing, what to change next."""

from __future__ import annotations

from pathlib import Path

from dashboard.app_pages.rate.desk_state import DeskState, next_game
from dashboard.shared.comparison_tables import METRIC_LABELS
from evaluation.ratings import Rating
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.verdict import shown_status
from evaluation.statistics.words import evidence_words
from evaluation.validity import MetricTrust, Trust, metric_trust, trust_sentence
from evaluation.workflows.iterations import stored_board, stored_comparison
from evaluation.workflows.scoring import add_evaluated
from tests.app.drawn import data_of, tables


def test_a_store_with_games_is_left_alone_on_the_first_start(open_page, filled, monkeypatch) -> None:
    monkeypatch.setenv("DRAMATURG_LOAD_SAMPLES", "1")
    open_page()
    assert filled.jobs.list() == []


def test_the_current_iteration_is_shown_with_means_decision_and_checklist(open_page, filled, words, table) -> None:
    app = open_page()
    assert not app.exception
    said = words(app)
    assert "Iteration 2 of 2" in said
    assert "Shorter · higher than Baseline prompt (the baseline) on " in said
    assert "Games without a rating: 3 of 5" in [one.label for one in app.expander]
    assert "Only 1 game of 3" in said
    (listed,) = [one for one in tables(app) if "Decision" in one.columns]
    assert listed["Decision"].tolist() == ["baseline", "cannot be decided yet"]
    assert "Conversation coherence, the target" in said
    assert "3 consecutive tests pass" in said


def test_another_iteration_is_chosen_by_the_url(open_page, filled, words) -> None:
    app = open_page(iteration="Baseline prompt")
    said = words(app)
    assert "Iteration 1 of 2" in said
    # Two games are rated with 4 and 2: their mean is 3.0, and the third game is counted as pending.
    assert "mean of 2 games, 2.0 to 4.0, 1 pending" in said
    assert "There is nothing before it to compare it with." in said


def test_the_cockpit_says_what_the_board_says(open_page, filled) -> None:
    app = open_page(iteration="Shorter prompt")
    board = stored_board(filled)
    shown, reference = board["Shorter prompt"], board["Baseline prompt"]
    assert app.title[0].value == "cannot be decided yet"
    assert [one.key for one in app.button if one.proto.type == "primary"] == ["rate_next"]
    cockpit = data_of(app, "cockpit")
    assert cockpit["history"] == "last 2 iterations"
    rows = cockpit["rows"]
    assert [row["label"] for row in rows] == [definition.label for definition in DEFINITIONS.values()]
    for row, (name, mean) in zip(rows, shown.means.items(), strict=True):
        scale = DEFINITIONS[name].scale
        assert row["threshold"] == scale.share(mean.threshold)
        for key, score in (("after", mean.score), ("before", reference.means[name].score)):
            assert row[key] == (None if score is None else scale.share(score)), (name, key)
        assert row["status"]["name"] == ("pending" if name == "engagement" else shown_status(mean))
        assert len(row["games"]) == len(mean.values)
        assert [one["place"] is None for one in row["history"]] == [
            one.means[name].score is None for one in board.iterations
        ]
    assert [row["label"] for row in rows if row["isTarget"]] == ["Conversation coherence"]


def test_the_overview_gives_the_same_evidence_as_the_page_that_compares(open_page, filled, small_game, words) -> None:
    for name in ("five", "six"):
        dull = small_game(name, text="Nothing new")
        add_evaluated(filled, dull, source_name=f"{name}.json", iteration="Shorter prompt")
    found = stored_comparison(filled, "Baseline prompt", "Shorter prompt")
    evidence = evidence_words(found.comparison.differences, METRIC_LABELS)
    assert evidence
    assert f"{evidence[0].upper()}{evidence[1:]}." in words(open_page(iteration="Shorter prompt"))
    compared = words(open_page("compare", before="Baseline prompt", after="Shorter prompt"))
    assert f"Shorter prompt against Baseline prompt, 3 games against 3: {evidence}." in compared


def test_metrics_that_say_little_by_themselves_are_named_with_the_way_to_why(open_page, filled, words) -> None:
    means = stored_board(filled)["Baseline prompt"].means
    scored = [metric for metric, mean in means.items() if mean.score is not None]

    def said(target: str | None, **trust: Trust) -> str:
        return trust_sentence([MetricTrust(one, each, ()) for one, each in trust.items()], scored, target, "The rule")

    hardly = Trust.HARDLY
    # Personality diversity has no score in these games.
    assert said(None, coherence=hardly, personality_diversity=hardly) == "Conversation coherence says little by itself."
    assert said(None, coherence=Trust.WITH_CARE) == ""
    assert said("coherence", role_consistency=hardly, coherence=hardly) == (
        "⚠ The rule rests on Conversation coherence, which says little by itself. "
        "Role consistency says little by itself, too."
    )
    # The decision is made on two pages.
    for app, target in (
        (open_page(iteration="Baseline prompt"), None),
        (open_page(iteration="Shorter prompt"), "coherence"),
        (open_page("compare", before="Baseline prompt", after="Shorter prompt"), "coherence"),
    ):
        assert trust_sentence(metric_trust(), scored, target, "The rule") in words(app)
        assert "Can you trust it?" in [one.proto.label for one in app.get("page_link")]


def test_new_data_appears_at_once(open_page, filled, words, small_game) -> None:
    app = open_page(iteration="Baseline prompt")
    filled.ratings.add(Rating(small_game("three").id, "Grace", 5))
    app.run()
    # (4 + 2 + 5) / 3 = 3.67
    assert "3.7 of 5" in words(app)


def test_a_damaged_database_is_explained(open_page, database: Path, words) -> None:
    database.write_bytes(b"this is not a database")
    app = open_page()
    assert not app.exception
    said = words(app)
    assert "The database cannot be used" in said
    assert str(database) in said
    assert [button.label for button in app.button] == ["Try again"]
    assert "Restore a backup" in [one.proto.label for one in app.get("page_link")]
    assert not app.file_uploader


def test_rating_from_an_iteration_hands_out_its_games_first_and_shows_none_of_it(open_page, filled, words) -> None:
    # Also with a box open, which stands in the address.
    app = open_page(why="true")
    app.button(key="rate_next").click().run()
    assert not app.exception
    app.text_input[0].set_value("Lin")
    app.button[0].click().run()
    assert not app.exception
    assert data_of(app, "rating_desk")["progress"] == "Game 1 of 3 for this decision"
    assert "Shorter prompt" not in words(app)
    assert not {"iteration", "reference"} & set(app.query_params)


def test_a_game_of_a_decision_that_was_skipped_comes_back_before_any_game_beside_it(filled) -> None:
    filled.rating_queue.hand_over("Lin", "Shorter prompt", "Baseline prompt")
    desk = DeskState("Lin", handed_over=filled.rating_queue.handed_over_left("Lin"))
    assert desk.handed_over == 3
    skipped = next_game(filled, desk)
    desk.skipped = (skipped,)
    for _ in range(2):
        coming = next_game(filled, desk)
        assert coming != skipped
        filled.ratings.add(Rating(coming, "Lin", 3))
    assert next_game(filled, desk) == skipped
    assert desk.skipped == ()
    filled.ratings.add(Rating(skipped, "Lin", 3))
    assert next_game(filled, desk) not in (None, skipped)


def test_a_reference_that_waits_for_ratings_is_handed_out_too(open_page, filled) -> None:
    [four] = filled.transcripts.ids("Shorter prompt")
    filled.ratings.add(Rating(four, "Grace", 4))
    app = open_page(iteration="Shorter prompt")
    assert "rate_next" in [button.key for button in app.button]
