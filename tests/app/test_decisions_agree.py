"""One question has one answer: iterations, compare, the Overview and the API decide alike and say on what it rests."""

import json
import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dashboard.shared.comparison_tables import TEST_COLUMNS
from dashboard.shared.formatting import decided_words, look
from evaluation import stored_board
from evaluation.cli.main import app as command_line
from evaluation.engines.scoring import Evaluation
from evaluation.errors import InputError
from evaluation.iterations.board import Board, make_board
from evaluation.iterations.game_tests import Game
from evaluation.iterations.iteration import Fate, Iteration, RecordedDecision
from evaluation.iterations.keep_or_revert import Choice
from evaluation.ratings import Rating
from evaluation.rubric.advice import troubleshooting
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT
from evaluation.rubric.verdict import MetricScore, compute_verdict
from evaluation.score import LedgerRow, MetricResult, RowVerdict, Status, status_of, summarise
from evaluation.store import Store
from evaluation.transcript import Cost, Transcript, Vote
from evaluation.workflows.iterations import record_decision
from evaluation.workflows.scoring import add_evaluated
from tests.app.drawn import data_of, tables
from tests.games import game_of
from tests.long import mostly_long

WHEN = datetime(2026, 3, 1, tzinfo=UTC)
AUTOMATIC = [name for name in DEFINITIONS if name != ENGAGEMENT.name]
Scores = Mapping[str, float | None]
"""By metric; ``None`` where it does not apply, and for engagement where nobody rated."""


def scores_of(draw: random.Random) -> dict[str, float | None]:
    found: dict[str, float | None] = {name: round(draw.uniform(30, 100), 1) for name in AUTOMATIC}
    if draw.random() < 0.1:
        found["role_consistency"] = None
    found[ENGAGEMENT.name] = None if draw.random() < 0.08 else float(draw.choice([2, 3, 3, 4, 4, 5, 5]))
    return found


def history_of(draw: random.Random) -> tuple[list[Iteration], dict[str, list[tuple[Scores, float | None]]]]:
    """Up to 8 iterations with parents anywhere, people's decisions, and up to 5 games each."""
    count = draw.randint(1, 8)
    iterations, games = [], {}
    baseline = draw.randrange(count)
    for place in range(count):
        name = f"v{place}"
        parent = draw.choice([None, None, *(f"v{other}" for other in range(count) if other < place)])
        fate = draw.choice([None, None, Fate.KEPT, Fate.REVERTED])
        recorded = RecordedDecision(fate, "Ada", WHEN, "why", "note") if fate and place else None
        target = draw.choice([None, *DEFINITIONS])
        one = Iteration(name, place, parent, target_metric=target, is_baseline=place == baseline, recorded=recorded)
        iterations.append(one)
        usd = [draw.choice([None, 0.9, 1.5, 1.9, 3.5 if draw.random() < 0.2 else 1.0]) for _ in range(5)]
        games[name] = [(scores_of(draw), cost) for cost in usd[: draw.choice([0, 1, 2, 3, 3, 3, 4, 5])]]
    return iterations, games


def scored(name: str, score: float | None) -> MetricScore:
    definition = DEFINITIONS[name]
    missing = Status.PENDING if name == ENGAGEMENT.name else Status.NOT_APPLICABLE
    status = missing if score is None else status_of(score, definition.threshold)
    return MetricScore(status, score, definition.threshold)


def choices(board: Board) -> dict[str, tuple[str, str] | None]:
    return {
        one.iteration.name: one.decision and (str(one.decision.choice), one.decision.reference)
        for one in board.iterations
    }


def assert_same(shown: dict[str, Any] | None, decision: tuple[str, str] | None) -> None:
    assert (shown and (shown["choice"], shown["reference"])) == decision
    assert shown is None or shown.keys() >= {"choice", "reference", "baseline", "reasons", "recorded"}


def result(name: str, score: float | None) -> MetricResult:
    definition = DEFINITIONS[name]
    if score is None:
        return summarise(definition, [], not_applicable="nothing to score")
    row = LedgerRow(
        f"{name}:m0", "message", RowVerdict.COUNTS, "as drawn", "m0", "Ann", numerator=score, denominator=100.0
    )
    return summarise(definition, [row])


def add_game(store: Store, name: str, iteration: str, scores: Scores, usd: float | None) -> None:
    """Stores a game with these scores, and a rating where there is one."""
    cost = None if usd is None else Cost(total_usd=usd, input_tokens=10, cache_hit_rate=0.8)
    transcript = game_of([("Ann", f"The game called {name}")], ("Ann", "Ben"), game_id=name, cost=cost)
    metrics = {key: result(key, scores[key]) for key in AUTOMATIC}
    with store.unit(write=True):
        store.transcripts.add(transcript, source_name=f"{name}.json", iteration=iteration)
        store.results.save([Evaluation(transcript, metrics, compute_verdict(metrics, transcript.cost))])
        rating = scores[ENGAGEMENT.name]
        if rating is not None:
            store.ratings.add(Rating(transcript.id, "Grace", int(rating)))


def run(database: Path, *arguments: str) -> Any:
    done = CliRunner().invoke(command_line, [*arguments, "--db", str(database)])
    assert done.exit_code == 0, done.output
    return done


def decision_in(database: Path, name: str) -> dict[str, Any] | None:
    board = json.loads(run(database, "iterations", "--format", "json").stdout)
    return next(one["decision"] for one in board["iterations"] if one["name"] == name)


@pytest.mark.parametrize("seed", mostly_long(range(25)))
def test_commands_and_pages_give_the_same_decision_for_stored_histories(
    seed: int, store: Store, database: Path, open_page: Any, words: Any
) -> None:
    draw = random.Random(1000 + seed)
    iterations, games = history_of(draw)
    for one in iterations:
        store.iterations.create(one.name, parent=one.parent, target_metric=one.target_metric)
        for place, (scores, usd) in enumerate(games[one.name]):
            add_game(store, f"{one.name}-{place}", one.name, scores, usd)
    for one in iterations:
        if one.is_baseline:
            store.iterations.promote(one.name)
        if one.recorded and stored_board(store)[one.name].decision:
            record_decision(store, one.name, one.recorded.fate, who="Ada", reason="why", note="note")
    expected = choices(stored_board(store))
    for name, decision in expected.items():
        assert_same(decision_in(database, name), decision)
    name = draw.choice(list(expected))
    decision = expected[name]
    app = open_page(iteration=name)
    answer = stored_board(store)[name].answer
    if not any(games.values()):
        return
    assert f"{answer[0].upper()}{answer[1:]}" in words(app).split("\n")
    assert app.selectbox(key="against").value == (decision[1] if decision else "nothing")
    others = [other for other in expected if other != name]
    if others:
        other = draw.choice(others)
        later_name = max(name, other)
        later = expected[later_name]
        assert_same(json.loads(run(database, "compare", other, name, "--format", "json").stdout)["decision"], later)
        page = open_page(iteration=later_name, against=min(name, other))
        if games[name] and games[other]:
            own = later and f"that is against its own reference, {later[1]}." in words(page)
            assert bool(own) == (later is not None and later[1] != min(name, other))
    for one in stored_board(store).iterations:
        wanted = expected[one.iteration.name]
        assert (one.decision.reference if one.decision else None) == (wanted[1] if wanted else None)
        recorded = one.iteration.recorded
        made = f"{look(recorded.fate).symbol} {recorded.fate_words}" if recorded else ""
        said = made or (one.decision.words if one.decision else "")
        assert decided_words(one).removesuffix("baseline").removesuffix(", ").removeprefix("rule: ") == said


GOOD: dict[str, float | None] = dict.fromkeys(AUTOMATIC, 95.0) | {ENGAGEMENT.name: 4.0}
Games = Sequence[tuple[Scores, float | None]]


def fill(store: Store, games: Mapping[str, Games], *, target: str | None = None) -> None:
    """A chain of iterations, each changed from the one before; the last names the target."""
    names = list(games)
    for place, name in enumerate(names):
        store.iterations.create(
            name, parent=names[place - 1] if place else None, target_metric=target if name == names[-1] else None
        )
        for number, (scores, usd) in enumerate(games[name]):
            add_game(store, f"{name}-{number}", name, scores, usd)


def diverse(*values: float) -> Games:
    return [(GOOD | {"personality_diversity": value}, 1.0) for value in values]


def test_a_decision_that_no_open_rating_can_change_follows_the_rule_or_departs_from_it(store: Store) -> None:
    fill(store, {"v1": diverse(60, 61, 62), "v2": [(GOOD | {ENGAGEMENT.name: None}, 1.0)] * 3}, target="coherence")
    decision = stored_board(store)["v2"].decision
    assert decision is not None
    assert (decision.choice, decision.answer) == (Choice.NOT_YET, Choice.REVERT)
    with pytest.raises(InputError, match="The rule says revert, not kept"):
        record_decision(store, "v2", Fate.KEPT, who="Lin", reason="Reads better")
    assert record_decision(store, "v2", Fate.REVERTED, who="Lin", reason="No gain").recorded.rule == "revert"


def test_a_person_keeps_a_change_and_the_next_is_compared_with_it(
    store: Store, database: Path, open_page: Any, words: Any
) -> None:
    fill(store, {"v1": diverse(60, 61, 62), "v2": diverse(90, 91, 92)}, target="personality_diversity")
    app = open_page()
    assert app.radio(key="fate_of_1_0").value is None
    app.button(key="decide_now_1_0").click().run()
    assert {"✗ Choose one of the two.", "✗ Say why.", "✗ Enter your name."} <= set(words(app).split("\n"))
    app.radio(key="fate_of_1_0").set_value(Fate.KEPT)
    app.text_input(key="why_1_0").set_value("Reads better")
    app.text_input(key="decided_by_1_0").set_value("Lin")
    app.button(key="decide_now_1_0").click().run()
    assert not app.exception
    recorded = store.iterations.get("v2").recorded
    assert recorded is not None
    assert (recorded.fate, recorded.reference, recorded.rule) == (Fate.KEPT, "v1", "keep")
    assert "Kept" in words(app).split("\n")
    store.iterations.create("v3")
    add_game(store, "v3-0", "v3", GOOD, 1.0)
    decision = decision_in(database, "v3")
    assert decision is not None
    assert (decision["reference"], decision["baseline"]) == ("v2", "v1")
    app = open_page(iteration="v2")
    app.button(key="promote_kept_1").click().run()
    assert store.iterations.get("v2").is_baseline
    app = open_page(iteration="v2")
    app.button(key="undecide_1_1").click().run()
    assert "✗ Enter your name." in words(app).split("\n")
    assert store.iterations.get("v2").recorded is not None
    app.text_input(key="decided_by_1_1").set_value("Lin")
    app.button(key="undecide_1_1").click().run()
    assert store.iterations.get("v2").recorded is None
    assert "Lin took back that it was kept" in words(open_page(iteration="v2"))


def test_a_recorded_decision_is_shown_and_undone_where_nothing_is_left_to_compare_with(
    store: Store, database: Path, open_page: Any, words: Any
) -> None:
    fill(store, {"v1": diverse(60, 61, 62), "v2": diverse(90, 91, 92)}, target="personality_diversity")
    record_decision(store, "v2", Fate.KEPT, who="Ada", reason="Reads better")
    store.deletions.delete_iteration("v1", who="Ada")
    listed = json.loads(run(database, "iterations", "--format", "json").stdout)["iterations"][0]
    assert listed["decision"] is None
    assert (listed["recorded"]["choice"], listed["recorded"]["reference"]) == ("kept", "v1")
    assert "Ada kept it on" in run(database, "iterations").stdout
    app = open_page(iteration="v2")
    assert "Ada kept it on" in words(app)
    app.text_input(key="decided_by_0_1").set_value("Ben")
    app.button(key="undecide_0_1").click().run()
    assert not app.exception
    assert store.iterations.get("v2").recorded is None


CHAIN = [Iteration("v1", is_baseline=True), Iteration("v2", 1, "v1", target_metric="coherence")]


def games_of(side: str, metric: str, values: Sequence[float | None]) -> list[Game]:
    """Good games with these values of one metric."""
    scores = [GOOD | {metric: value} for value in values]
    return [
        Game(f"{side}{place}", f"{side}{place}", {key: scored(key, value) for key, value in one.items()}, 1.0)
        for place, one in enumerate(scores)
    ]


def test_a_decision_counts_passes_as_the_verdict_of_the_same_games_does() -> None:
    sides = {"v1": games_of("a", ENGAGEMENT.name, (4, 4, 4)), "v2": games_of("b", ENGAGEMENT.name, (4, 5, None))}
    board = make_board(CHAIN, sides)
    decision, verdict = board["v2"].decision, board["v2"].verdict
    assert decision is not None
    assert verdict is not None
    # The mean of the two ratings would pass, but engagement is pending while the third is missing.
    assert (decision.passed_before, decision.passed_after) == (7, 6)
    assert decision.passed_after == verdict.passed_count


def test_advice_begins_with_what_is_worse_beyond_luck(store: Store, open_page: Any, words: Any) -> None:
    deep = [[(GOOD | {"strategic_depth": value}, 1.0) for value in side] for side in ((90, 91, 92), (70, 71, 72))]
    fill(store, {"v1": deep[0], "v2": deep[1]}, target="personality_diversity")
    app = open_page(panel="Advice")
    # Equal games have no interval, which the row says.
    drawn = {row["label"]: row["texts"]["threshold"].endswith("no spread") for row in data_of(app, "cockpit")["rows"]}
    assert [label for label, is_equal in drawn.items() if not is_equal] == ["Strategic depth"]
    said = words(app).split("\n")
    assert "▼ worse beyond luck, 91.0 % to 71.0 %." in said
    assert [one.value for one in app.subheader] == ["Strategic depth"]
    assert [one.value for one in app.code] == [troubleshooting()["strategic_depth"][0]]
    # Where there is nothing to advise on there is no such tab.
    assert "Advice" in [one.label for one in app.tabs]
    assert "Advice" not in [one.label for one in open_page(iteration="v1").tabs]


# One reference that the record settles, and one that it cannot.
SAID = [("Ann", "Ben voted for Cid in round 1."), ("Ben", "Cid voted for Ann in round 2, didn't he."), ("Cid", "Well.")]


def a_game(name: str) -> Transcript:
    said = [(who, f"{text} {name}.") for who, text in SAID]
    players = {key: {"role": "villager", "alignment": "town"} for key in ("Ann", "Ben", "Cid")}
    return game_of(said, players, game_id=name, round=3, votes=(Vote(round=1, voter="Ben", target="Cid"),))


def test_one_text_beside_every_score(store: Store, database: Any, open_page: Any, words: Any, table: Any) -> None:
    store.iterations.create("v1")
    store.iterations.create("v2", parent="v1")
    for number in range(3):
        for name in ("v1", "v2"):
            add_evaluated(store, a_game(f"{name}-{number}"), source_name="x.json", iteration=name)
    game = a_game("v2-0")
    one = store.results.load(game.id)["memory_accuracy"].coverage.words
    assert one.startswith("1 of 2 references to the past settled")
    assert one.endswith("low evidence")
    three = "3 of 6 references to the past settled, low evidence"
    cell = open_page("games", transcript=game.id).button(key="metric_memory_accuracy").label
    assert cell.endswith("≥ 80\u00a0% · low evidence")
    assert one in words(open_page("games", transcript=game.id, show="Ledger", metric="memory_accuracy"))
    assert "6 of 12 references to the past settled" in words(open_page("trends"))
    *_, limits, tests, reasons = tables(open_page(panel="Numbers"))
    assert [*reasons] == ["Reasons of the rule"]
    # Columns of which every cell is empty are not there.
    assert [*tests] == ["Metric", *(one for one in TEST_COLUMNS if one not in ("Paired p", "Would show from"))]
    own = limits.set_index("Metric").loc["Memory accuracy"]
    assert own["What limits it"].startswith("low evidence")
    assert f"{own['Counted, v1']} references to the past settled, low evidence" == three
    assert own["Counted, v2"] == own["Counted, v1"]
    run = CliRunner()
    expected = {("iterations",): three, ("compare", "v1", "v2"): three, ("show", game.id): one}
    for arguments, words_of_it in expected.items():
        assert words_of_it in run.invoke(command_line, [*arguments, "--db", str(database)]).stdout
    board = json.loads(run.invoke(command_line, ["iterations", "--format", "json", "--db", str(database)]).stdout)
    assert board["iterations"][1]["means"]["memory_accuracy"]["coverage"] == {
        "settled": 3,
        "considered": 6,
        "is_low_evidence": True,
    }
