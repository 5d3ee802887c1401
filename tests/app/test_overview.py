"""The Overview: iterations against thresholds, what to keep, what is missing, what to change next."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dashboard.app_pages.overview.cockpit_data import more_games_sentence
from dashboard.app_pages.rate.desk_state import DeskState, next_game
from dashboard.shared.comparison_tables import METRIC_LABELS
from evaluation.ratings import Rating
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.verdict import shown_status
from evaluation.statistics.comparison import Comparison, Outcome
from evaluation.statistics.words import evidence_words
from evaluation.validity import MetricTrust, Trust, metric_trust, trust_sentence
from evaluation.workflows.iterations import stored_board, stored_comparison
from evaluation.workflows.scoring import add_evaluated
from tests.app.drawn import data_of, tables


def test_a_store_with_games_is_left_alone_on_the_first_start(open_page, filled, monkeypatch) -> None:
    monkeypatch.setenv("DRAMATURG_LOAD_SAMPLES", "1")
    open_page()
    assert filled.jobs.list() == []


def test_the_current_iteration_is_shown_with_means_decision_and_checklist(open_page, filled, words) -> None:
    app = open_page()
    assert not app.exception
    said = words(app)
    assert "Shorter. Against Baseline prompt (the baseline): " in said
    assert "1 game against 3" in said
    assert "Iteration 2 of 2" in said
    assert "Only 1 game of 3" in words(open_page(panel="Games"))
    app = open_page(overview="All iterations")
    said = words(app)
    assert "Games without a rating: 3 of 5" in [one.label for one in app.expander]
    (listed,) = [one for one in tables(app) if "Decision" in one.columns]
    assert listed["Decision"].tolist() == ["cannot be decided yet", "baseline"]
    assert "3 consecutive tests pass" in said


def test_another_iteration_is_chosen_by_the_url(open_page, filled, words) -> None:
    app = open_page(iteration="Baseline prompt")
    # Two games are rated with 4 and 2: their mean is 3.0, and the third game is counted as pending.
    (row,) = [one for one in data_of(app, "cockpit")["rows"] if one["label"] == "Engagement"]
    assert "mean of 2 games, 2.0 to 4.0, 1 pending" in row["words"]
    assert "There is nothing before it to compare it with." in words(app)
    assert app.selectbox(key="against").value == "nothing"


def test_the_cockpit_says_what_the_board_says(open_page, filled, words) -> None:
    app = open_page(iteration="Shorter prompt")
    board = stored_board(filled)
    shown, reference = board["Shorter prompt"], board["Baseline prompt"]
    assert "Cannot be decided yet" in words(app)
    assert [one.key for one in app.button if one.proto.type == "primary"] == ["rate_next"]
    rows = data_of(app, "cockpit")["rows"]
    assert [row["label"] for row in rows] == [definition.label for definition in DEFINITIONS.values()]
    for row, (name, mean) in zip(rows, shown.means.items(), strict=True):
        scale = DEFINITIONS[name].scale
        assert row["threshold"] == scale.share(mean.threshold)
        for key, score in (("after", mean.score), ("before", reference.means[name].score)):
            assert row[key] == (None if score is None else scale.share(score)), (name, key)
        assert row["status"]["name"] == ("pending" if name == "engagement" else shown_status(mean))
        assert len(row["games"]) == len(mean.values)
    assert [row["label"] for row in rows if row["isTarget"]] == ["Conversation coherence"]


def test_the_sentence_the_rows_and_the_numbers_give_the_same_evidence(open_page, filled, small_game, words) -> None:
    for name in ("five", "six"):
        dull = small_game(name, text="Nothing new")
        add_evaluated(filled, dull, source_name=f"{name}.json", iteration="Shorter prompt")
    found = stored_comparison(filled, "Baseline prompt", "Shorter prompt")
    evidence = evidence_words(found.comparison.differences, METRIC_LABELS)
    assert evidence
    app = open_page(iteration="Shorter prompt", panel="Numbers")
    assert f"Against Baseline prompt (the baseline): {evidence}" in words(app)
    assert "3 games against 3" in words(app)
    outcomes = [row["texts"]["outcome"].lstrip("▲▼ ") for row in data_of(app, "cockpit")["rows"]]
    assert outcomes == [one.outcome.words for one in found.comparison.differences]


def test_how_many_more_games_would_tell_is_said_where_the_target_could_be_luck(filled, small_game) -> None:
    board = stored_board(filled)
    found = stored_comparison(filled, "Baseline prompt", "Shorter prompt")
    shown = board["Shorter prompt"]
    target = shown.decision.target

    def said(outcome: Outcome, needed: int | None, usd: float | None = 0.5) -> str:
        one = found.comparison[target]
        sides = {
            name: replace(getattr(one, name), n=3, mean=mean) for name, mean in (("before", 70.0), ("after", 75.0))
        }
        one = replace(one, **sides, outcome=outcome, games_needed=needed)
        priced = replace(shown, cost_usd=replace(shown.cost_usd, mean=usd))
        return more_games_sentence(priced, replace(found, comparison=Comparison((one,))))

    assert said(Outcome.NO_EVIDENCE, 37) == (
        "Conversation coherence could be luck: if its change is as large as seen, 37 games on each side would show it "
        "(68 more in all, about 34.00 USD)."
    )
    assert said(Outcome.NO_EVIDENCE, 37, None).endswith("(68 more in all).")
    assert "it would take more than 100 games" in said(Outcome.NO_EVIDENCE, 400)
    assert "it would take more than 100 games" in said(Outcome.NO_EVIDENCE, None)
    assert said(Outcome.BETTER, 37) == ""
    assert more_games_sentence(shown, None) == ""


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
    app = open_page(iteration="Shorter prompt")
    assert "target: Conversation coherence, trust it with care" in words(app)
    assert "Can you trust it?" in [one.proto.label for one in app.get("page_link")]
    said = trust_sentence(metric_trust(), scored, "coherence", "The rule")
    assert any(one.proto.help.startswith(said) for one in app.markdown)


def test_new_data_appears_at_once(open_page, filled, words, small_game) -> None:
    app = open_page(iteration="Baseline prompt")
    filled.ratings.add(Rating(small_game("three").id, "Grace", 5))
    app.run()
    # (4 + 2 + 5) / 3 = 3.67
    assert "3.7 of 5" in [row["texts"]["current"] for row in data_of(app, "cockpit")["rows"]]


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
