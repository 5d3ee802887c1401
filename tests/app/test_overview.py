"""The Overview: iterations against thresholds, what to keep, what to change next; and their trends."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pandas as pd
import pytest

from dashboard.app_pages.overview.cockpit_data import (
    NextStep,
    blockers,
    chips,
    iteration_means,
    more_games_sentence,
    next_step,
)
from dashboard.app_pages.overview.panel import _merged
from dashboard.app_pages.overview.sections import is_advised
from dashboard.app_pages.rate.desk_state import DeskState, next_game
from dashboard.app_pages.trends import data
from dashboard.shared.comparison_tables import METRIC_LABELS
from dashboard.shared.formatting import look
from evaluation.comparison.iterations import IterationComparison, compare_iterations
from evaluation.comparison.movers import Mover
from evaluation.iterations.board import Board, make_board
from evaluation.iterations.game_tests import Game
from evaluation.iterations.iteration import Description, Fate, Iteration, RecordedDecision
from evaluation.iterations.keep_or_revert import Choice
from evaluation.ratings import Rating
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.verdict import marked_status
from evaluation.score import Status
from evaluation.statistics.comparison import Outcome
from evaluation.statistics.words import evidence_words
from evaluation.text.display import counted
from evaluation.validity import MetricTrust, Trust, trust_sentence
from evaluation.workflows.iterations import stored_board, stored_comparison
from evaluation.workflows.samples import load_samples
from evaluation.workflows.scoring import add_evaluated
from tests.app.drawn import data_of, tables
from tests.games import scores_of


def test_a_store_with_games_is_left_alone_on_the_first_start(open_page, filled, monkeypatch) -> None:
    monkeypatch.setenv("DRAMATURG_LOAD_SAMPLES", "1")
    open_page()
    assert filled.jobs.list() == []


def test_the_cockpit_says_what_the_board_says(open_page, filled, words) -> None:
    app = open_page(iteration="Shorter prompt")
    board = stored_board(filled)
    shown, reference = board["Shorter prompt"], board["Baseline prompt"]
    assert "Cannot be decided yet" in words(app)
    assert [one.key for one in app.button if one.proto.type == "primary"] == ["rate_next"]
    drawn = data_of(app, "cockpit")
    rows = drawn["rows"]
    # Both sides have one name, their own.
    assert (drawn["now"], drawn["legend"][:2]) == (
        "Shorter prompt",
        ["○ Baseline prompt, the reference", "● Shorter prompt, 95 % interval"],
    )
    assert rows[0]["texts"]["before"].startswith("Baseline prompt: ")
    assert [row["label"] for row in rows] == [definition.label for definition in DEFINITIONS.values()]
    for row, (name, mean) in zip(rows, shown.means.items(), strict=True):
        scale = DEFINITIONS[name].scale
        assert row["threshold"] == scale.share(mean.threshold)
        for key, score in (("after", mean.score), ("before", reference.means[name].score)):
            assert row[key] == (None if score is None else scale.share(score)), (name, key)
        assert row["status"] == look("pending" if name == "engagement" else marked_status(name, mean)).label
        assert len(row["games"]) == len(mean.values)
    assert [row["label"] for row in rows if row["isTarget"]] == ["Conversation coherence"]


def test_the_form_says_that_no_target_was_named_and_what_decides_then(open_page, filled, words) -> None:
    assert "No target was named" not in words(open_page())
    held = filled.iterations.get("Shorter prompt")
    filled.iterations.describe(Description(held.name, held.parent, "", held.change, None), who="Ann")
    app = open_page()
    decides = METRIC_LABELS[str(stored_board(filled)[held.name].decision.target)]
    said = words(app)
    assert f"Keep or revert Shorter prompt? No target was named, so the reference's lowest decides: {decides}." in said
    assert f"no target named, decides: {decides}" in said
    # Who must not see the ratings learns nothing by it.
    for game in filled.transcripts.ids(iteration=held.name):
        filled.ratings.add(Rating(game, "Bob", 1))
    filled.ratings.add(Rating(filled.transcripts.ids()[0], "Dana", 3))
    assert "No target was named, so the reference's lowest decides." in words(open_page(rater="Dana"))


def test_the_sentence_the_rows_and_the_numbers_give_the_same_evidence(open_page, filled, small_game, words) -> None:
    for name in ("five", "six"):
        dull = small_game(name, text="Nothing new")
        add_evaluated(filled, dull, source_name=f"{name}.json", iteration="Shorter prompt")
    found = stored_comparison(filled, "Baseline prompt", "Shorter prompt")
    evidence = evidence_words(found.comparison.values(), METRIC_LABELS, "Baseline prompt (the baseline)")
    assert evidence
    app = open_page(iteration="Shorter prompt", panel="Numbers")
    assert f"{evidence}. Changed: " in words(app)
    assert "3 games against 3" in words(app)
    outcomes = [row["texts"]["outcome"].lstrip("▲▼≈ ") for row in data_of(app, "cockpit")["rows"]]
    assert outcomes == [one.words for one in found.comparison.values()]


def test_what_moved_the_scores_is_an_index_by_metric_whose_chosen_row_shows_its_messages(
    open_page, filled, words
) -> None:
    app = open_page(iteration="Shorter prompt", panel="Messages")
    components = [json.loads(one.proto.json or "{}") for one in app.get("bidi_component")]
    above, below = [one for one in components if one.get("groups")]
    groups, rows = (above[part] + below[part] for part in ("groups", "rows"))
    found = stored_comparison(filled, "Baseline prompt", "Shorter prompt")
    reasons = [one for one in found.movers if one.kind == "reason"]
    assert len(rows) == len(groups) == len(reasons)
    # A metric is named once, and what fell most stands first and is open.
    named = {name for name in groups if name}
    assert len(named) == len({one.metric for one in reasons})
    lowest = min(reasons, key=lambda one: one.change)
    assert rows[0][0][0] == lowest.label
    assert above["atFirst"] == 0
    # Both sides stand beside each other.
    assert all(
        f"{name}: {counted(count, 'message')}" in words(app)
        for name, count in zip(found.names, lowest.counts, strict=True)
    )
    tables = [one["rows"] for one in components if one.get("rows") and "parts" in one["rows"][0]]
    assert [len(rows) for rows in tables] == [len(side) for side in lowest.sides if side]
    shown = zip((one for side in lowest.sides for one in side), (row for rows in tables for row in rows), strict=True)
    assert all(example.text in row["words"] for example, row in shown)


def test_reasons_that_differ_in_what_brackets_say_are_one_row() -> None:
    alike = [
        Mover("metric", "reason", f"It sounds like others ({detail}).", 7.5, 0.0, 2, 0, ()) for detail in ("a", "b")
    ]
    fell = replace(alike[0], before=0.0, after=1.0)
    player = replace(alike[0], kind="player")
    merged = _merged([*alike, fell, player])
    assert [(one.label, one.change, one.before_rows) for one in merged[:2]] == [
        ("It sounds like others.", 15.0, 4),
        ("It sounds like others.", -1.0, 2),
    ]
    assert merged[2] == player


def test_the_fall_of_the_targets_companion_stands_beside_the_rise_of_its_score(open_page, store, words) -> None:
    load_samples(store)
    app = open_page(iteration="Prompt v4", against="Prompt v1")
    told = "voice distance fell beyond luck, 6.4 to 0.8"
    # It was named against Prompt v2: here it is one of seven, and its fall a fact beside the others.
    assert f":red-badge[▼ {told}]" in words(app)
    [row] = [one for one in data_of(app, "cockpit")["rows"] if one["isTarget"]]
    assert row["texts"]["outcome"] == f"▼ {told}"
    assert told not in words(open_page(iteration="Prompt v4", against="Prompt v2"))
    # The status has said that the evidence is low.
    row, *_ = data_of(open_page(iteration="Prompt v2", against="Prompt v1"), "cockpit")["rows"]
    assert (row["status"], row["texts"]["outcome"]) == ("✓ passed, low evidence", "")


def test_the_reserve_of_the_rule_stands_in_the_answer_and_beside_it_before_and_after_the_last_rating(
    open_page, store, words
) -> None:
    load_samples(store)
    board = stored_board(store)
    shown = board["Prompt v4"]
    reserve = "keep, but Personality diversity is no better than scrambled copies"
    assert f"the rule will say {reserve}" in words(open_page(iteration="Prompt v4"))
    for side in (shown, board[shown.decision.reference]):
        for game in side.games:
            if game.metrics["engagement"].score is None:
                store.ratings.add(Rating(game.transcript_id, "Dana", 4))
    assert f"The rule says {reserve}." in stored_board(store).decision_words("Prompt v4")
    app = open_page(iteration="Prompt v4")
    assert words(app).count(f"The rule says {reserve}") == 2
    assert "Not all games are alike" not in words(app)
    alike = "Not all games are alike, which may move a score, too: before 8 to 10 players, after 7 players."
    assert alike in words(open_page(iteration="Prompt v3", against="Prompt v2"))


def test_the_games_of_an_iteration_are_rows_without_what_is_hidden(open_page, filled) -> None:
    def rows(**query):
        return data_of(open_page(iteration="Baseline prompt", panel="Games", **query), "game_rows")["rows"]

    games = rows()
    assert [row["label"] for row in games] == [f"Game {number} · Baseline prompt" for number in (1, 2, 3)]
    assert [row["cells"][-1]["text"] for row in games] == ["✓ 4.0", "✗ 2.0", "…"]
    # Nothing is ticked here, as on the page of games.
    assert {row["ticked"] for row in games} == {None}
    filled.ratings.add(Rating(filled.transcripts.ids()[3], "Dana", 4))
    seen = rows(rater="Dana")
    assert all("hidden until you rate it" in row["cells"][-1]["label"] for row in seen[:2])
    assert "passed" not in {row["verdict"] for row in seen}


def test_how_many_more_games_would_tell_is_said_where_the_target_could_be_luck(filled, small_game) -> None:
    board = stored_board(filled)
    found = stored_comparison(filled, "Baseline prompt", "Shorter prompt")
    shown = board["Shorter prompt"]
    target = shown.decision.target

    def said(outcome: Outcome, needed: int | None, usd: float | None = 0.5) -> str:
        # One game after has a known cost; those before cost twice as much.
        one = found.comparison[target]
        sides = {
            name: replace(getattr(one, name), n=3, mean=mean) for name, mean in (("before", 70.0), ("after", 75.0))
        }
        one = replace(one, **sides, outcome=outcome, games_needed=needed)
        first, *_ = found.after.games
        before = replace(found.before, games=tuple(replace(game, total_usd=1.0) for game in found.before.games))
        after = replace(found.after, games=(replace(first, total_usd=usd), replace(first, total_usd=None)))
        return more_games_sentence(shown, replace(found, before=before, after=after, comparison={one.name: one}))

    assert said(Outcome.NO_EVIDENCE, 37) == (
        "Conversation coherence could be luck: if its change is as large as seen, 37 games on each side would show it, "
        "34 more on each side; about 51.00 USD at 1.00 USD a game of Baseline prompt and 0.50 USD a game "
        "of Shorter prompt (recorded for 1 of 2 games)."
    )
    assert said(Outcome.NO_EVIDENCE, 37, None).endswith("34 more on each side.")
    assert "it would take more than 100 games" in said(Outcome.NO_EVIDENCE, 400)
    assert "it would take more than 100 games" in said(Outcome.NO_EVIDENCE, None)
    assert said(Outcome.BETTER, 37) == ""
    assert more_games_sentence(shown, None) == ""


def test_metrics_that_say_little_by_themselves_are_named(filled) -> None:
    means = stored_board(filled)["Baseline prompt"].means
    scored = [metric for metric, mean in means.items() if mean.score is not None]

    def said(target: str | None, **trust: Trust) -> str:
        return trust_sentence([MetricTrust(one, each, ()) for one, each in trust.items()], scored, target, "The rule")

    hardly = Trust.HARDLY
    # Personality diversity has no score in these games.
    assert said(None, coherence=hardly, personality_diversity=hardly) == "Low trust: Conversation coherence."
    assert said(None, coherence=Trust.WITH_CARE) == ""
    assert said("coherence", role_consistency=hardly, coherence=hardly) == (
        "⚠ The rule rests on Conversation coherence: low trust. Low trust as well: Role consistency."
    )


def test_rating_from_an_iteration_hands_out_its_games_first_and_shows_none_of_it(open_page, filled, words) -> None:
    # Also with a box open, which stands in the address.
    app = open_page(why="true")
    app.button(key="rate_next").click().run()
    assert not app.exception
    app.text_input[0].set_value("Lin")
    app.button[0].click().run()
    assert not app.exception
    assert data_of(app, "rating_desk")["progress"] == "Game 1 of 3 for this decision · Lin"
    assert "Shorter prompt" not in words(app)
    assert not {"iteration", "reference"} & set(app.query_params)


def test_a_game_of_a_decision_that_was_skipped_comes_back_before_any_game_beside_it(filled) -> None:
    filled.rating_queue.hand_over("Lin", "Shorter prompt", "Baseline prompt")
    desk = DeskState("Lin", handed_over=filled.rating_queue.handed_over_left("Lin"))
    assert desk.handed_over == 3
    skipped = next_game(filled, desk)
    filled.rating_queue.skip("Lin", skipped)
    for _ in range(2):
        coming = next_game(filled, desk)
        assert coming != skipped
        filled.ratings.add(Rating(coming, "Lin", 3))
    assert next_game(filled, desk) == skipped
    assert filled.rating_queue.progress("Lin").skipped == 0
    filled.ratings.add(Rating(skipped, "Lin", 3))
    assert next_game(filled, desk) not in (None, skipped)


def test_all_iterations_leave_engagement_open_while_a_game_is_not_rated(open_page, filled, small_game) -> None:
    add_evaluated(filled, small_game("new"), source_name="new.json", iteration="Baseline prompt")
    table = next(one for one in tables(open_page(overview="All iterations")) if "Metric" in one)
    mean = stored_board(filled)["Baseline prompt"].means["engagement"]
    assert mean.waiting
    assert mean.score is not None
    assert table.set_index("Metric").loc["Engagement, of 5", "Baseline prompt"] == f"… {mean.score:.1f}"


def test_only_what_changed_beyond_luck_is_marked_in_all_iterations(filled, small_game) -> None:
    board = stored_board(filled)
    for shown in board.iterations:
        cells = iteration_means(board, shown)
        pair = shown.decision and compare_iterations(board, shown.decision.reference, shown.iteration.name).comparison
        for name, cell in zip(shown.means, cells.values(), strict=True):
            outcome = pair[name].outcome if pair and name in pair else None
            assert (cell[0] == "▲", cell[0] == "▼") == (outcome == "better", outcome == "worse")
            status = marked_status(name, shown.means[name])
            assert cell.endswith(", low evidence") == status.endswith("_low_evidence")
            assert cell.endswith(", at chance") == (status == "failed_at_chance")


def test_cost_and_a_settled_answer_stand_on_the_decision_as_in_the_terminal() -> None:
    good = {name: 4.0 if name == "engagement" else definition.threshold + 2 for name, definition in DEFINITIONS.items()}
    robotic = 'robotic: "stay calm" stands in 18 of 53 messages, 30 % or more'

    def games(side: str, usd: tuple[float, ...], **changed: float | None) -> list[Game]:
        scores = scores_of(good | changed, Status.PENDING)
        if side == "new":
            failed = scores["anti_repetition"]._replace(status=Status.FAILED, reason=robotic)
            scores |= {"anti_repetition": failed}
        return [Game(f"{side} {place}", f"Game {place}", scores, one) for place, one in enumerate(usd)]

    def of(usd: tuple[float, ...], recorded: RecordedDecision | None = None) -> tuple[Board, IterationComparison]:
        new = Iteration("new", 1, target_metric="coherence", recorded=recorded)
        after = games("new", usd, coherence=71.0, engagement=None)
        board = make_board(
            [Iteration("old", 0, is_baseline=True), new], {"old": games("old", (1.7, 1.75, 1.8)), "new": after}
        )
        return board, compare_iterations(board, "old", "new")

    board, pair = of((2.1, 2.15, 2.2))
    assert pair.cost_words == "1.75 to 2.15 USD a game, above the goal of 2 USD"
    assert of((0.1, 2.2, 5.0))[1].cost_words == "1.75 to 2.43 USD a game, could be luck, above the goal of 2 USD"
    one = Iteration("new", 1, target_metric="coherence")
    pair_of_two = make_board([Iteration("old", 0), one], {"old": games("old", (1.7,)), "new": games("new", (2.1,))})
    assert compare_iterations(pair_of_two, "old", "new").cost_words == (
        "1.70 to 2.10 USD a game, could be luck, above the goal of 2 USD"
    )
    shown = board["new"]
    facts = [one.text for one in chips(shown, pair)]
    assert facts[:2] == ["3 games against 3: 0 higher, 1 lower, none beyond luck", pair.cost_words]
    assert board.directions_words("new") == facts[0]
    # No rating changes the answer, so none is asked for, and none is missing.
    assert shown.decision is not None
    assert shown.decision.foregone is Choice.REVERT
    assert (next_step(board, shown), blockers(shown, is_hidden=False)) == (NextStep.RECORD, [])
    assert f"Anti-repetition fails whatever its score in 3 of 3 games: {robotic}." in shown.decision.reasons
    # Nor is anything once a person has decided.
    decided, _ = of((1.0, 1.0, 1.0), RecordedDecision(Fate.KEPT, "Ada", datetime(2026, 3, 1, tzinfo=UTC), "why", ""))
    assert blockers(decided["new"], is_hidden=False) == []


def test_no_change_is_advised_for_a_metric_that_passes() -> None:
    for above, is_given in ((1, False), (-1, True)):
        scores = scores_of({name: definition.threshold + above for name, definition in DEFINITIONS.items()})
        board = make_board([Iteration("v1", 1)], {"v1": [Game("one", "Game 1", scores)]})
        assert is_advised(board["v1"], None) is is_given


COHERENCE = 4
"""The trace of its games: two traces a metric, games and means."""


def figure(app, index: int = 0) -> dict:
    return json.loads(app.get("plotly_chart")[index].proto.spec)


def test_costs_of_the_last_iteration_stand_beside_those_of_the_first_with_what_could_be_luck() -> None:
    rows = [("v1", 1, 3.0), ("v1", 1, 3.2), ("v3", 2, 9.0), ("v4", 3, 1.4), ("v4", 3, 1.6)]
    costs = pd.DataFrame(rows, columns=["iteration", "position", "score"]).assign(metric="cost_usd")
    between = ("v1", "v4")

    def said(points: pd.DataFrame, between: tuple[str, str] | None = between) -> list[str]:
        told = data.cost_sentence(points, between, data.figure_differences(points, between) if between else {})
        return [one.replace("\u00a0", " ") for one in told]

    assert said(costs) == [
        "v4 costs 1.50 USD a game, 1.60 USD less than v1, beyond luck",
        "2 of 2 games are below the goal of 2 USD, none above 3 USD, which fails a game.",
    ]
    apart = costs.assign(score=[3.0, 0.6, 9.0, 1.4, 1.8])
    assert said(apart)[0] == "v4 costs 1.60 USD a game, 0.20 USD less than v1, could be luck"
    assert said(costs, None)[0] == "v4 costs 1.50 USD a game"
    unknown = costs.assign(score=costs["score"].where(costs["iteration"] != "v4"))
    partly = pd.concat([costs, costs.tail(1).assign(score=float("nan"))])
    assert "v4 costs 1.50 USD a game, known of 2 of 3 games," in said(partly)[0]
    assert said(unknown)[0] == "The cost of v4 is not recorded."
    assert said(costs.head(0))[0] == "These games belong to no iteration."


def test_behaviour_stands_in_the_rows_of_the_chart_of_costs(open_page, filled, words) -> None:
    app = open_page("trends", trends="Cost and behaviour")
    titles = [one["text"] for one in figure(app)["layout"]["annotations"]]
    assert {"Cost per game", "Words per game", "Others that a player addresses"} <= set(titles)
    assert " addresses " not in words(app)
    assert "Calls to models" not in words(app)


def test_games_of_no_iteration_are_shown_on_request(open_page, filled) -> None:
    app = open_page("trends")
    assert len(figure(app)["data"][COHERENCE]["text"]) == 4
    app.toggle[0].set_value(True).run()
    assert len(figure(app)["data"][COHERENCE]["text"]) == 5


def test_an_opened_metric_shows_the_games_of_both_sides_lowest_first_and_what_they_lose(
    open_page, filled, words
) -> None:
    app = open_page(iteration="Shorter prompt", of_metric="strategic_depth")
    assert not app.exception
    shown = [table for table in tables(app) if "Loses points" in table]
    names = ("Baseline prompt", "Shorter prompt")
    assert [len(table) for table in shown] == [len(stored_board(filled)[name].games) for name in names]
    for name in names:
        assert f"{name}: " in words(app)
    board = stored_board(filled)
    for table, name in zip(shown, names, strict=True):
        scores = sorted(one.metrics["strategic_depth"].score for one in board[name].games)
        assert [float(cell.lstrip("✓✗≈… ").split()[0]) for cell in table["Score"]] == pytest.approx(scores, abs=0.05)
    said = [cell for table in shown for cell in table["Loses points"]]
    assert any(": " in one for one in said if one != "no message")
    # Engagement has ratings in place of messages; alone, an iteration stands by itself.
    ratings = next(table for table in tables(open_page(of_metric="engagement")) if "Rated by" in table)
    assert ratings["Rated by"].str.fullmatch(r"\d+ raters?").all()
    alone = open_page(iteration="Baseline prompt", against="nothing", of_metric="coherence")
    assert not alone.exception
    assert len([table for table in tables(alone) if "Loses points" in table]) == 1
    # A name that is none shows the decision.
    assert "Keep or revert" in words(open_page(iteration="Shorter prompt", of_metric="nothing"))
