"""What is no change: a score that scrambled copies reach, and scores by two judges."""

import asyncio
import math
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from dashboard.app_pages.overview.cockpit_data import cockpit_of, sentence
from dashboard.app_pages.trends import data as trends
from dashboard.shared.charts.metric_charts import trend_figure
from dashboard.shared.formatting import CHANCE, look
from dashboard.shared.queries import score_cell, trend_points
from evaluation.cli.rendering import _SYMBOLS as TERMINAL_SIGNS
from evaluation.cli.rendering import score_cell as terminal_cell
from evaluation.comparison.iterations import compare_iterations, comparison_data
from evaluation.experiments.ab_runner import ABConfig, ExperimentRunner, RunOutcome, stored_games
from evaluation.experiments.tables import comparison_cells
from evaluation.iterations.board import Board, make_board
from evaluation.iterations.game_tests import Game, mean_scores, score_controls
from evaluation.iterations.iteration import Fate, Iteration, RecordedDecision
from evaluation.iterations.keep_or_revert import Choice
from evaluation.judged_by import JudgedBy, apart_words, have_one_judge
from evaluation.ratings import Rating
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.verdict import MetricScore, VerdictStatus, judge_scores, marked_status, shown_status
from evaluation.rubric_judge.reading_decisions import RowDecision
from evaluation.score import AT_CHANCE, RowVerdict, Status
from evaluation.statistics.comparison import Outcome
from evaluation.statistics.words import difference_data, difference_sentences, directions_words
from evaluation.store import Store
from evaluation.validity import trust_words
from evaluation.workflows.iterations import stored_board, stored_comparison, stored_failure_reasons
from evaluation.workflows.scoring import add_evaluated
from tests.games import game_of, scores_of

TARGET = "personality_diversity"
LABEL = DEFINITIONS[TARGET].label


def controlled(score: float, chance: float) -> MetricScore:
    beside = {"name": "voice_distance", "value": score / 100, "chance": 0.1, "difference": score / 100 - 0.1, "p": 0.5}
    p = 0.01 if score - chance > 5 else 0.5
    control = {"chance": chance, "difference": score - chance, "p": p, "reason": None, "companion": beside}
    return scores_of({TARGET: score})[TARGET]._replace(control=control)


def games(*scores: tuple[float, float], rated: bool = True) -> list[Game]:
    """Games that pass everything, with these scores of the target beside those of its scrambled copies."""
    others = scores_of({name: None if name == "engagement" and not rated else 90.0 for name in DEFINITIONS})
    return [
        Game(f"{place}-{score}", f"Game {place}", others | {TARGET: controlled(score, chance)}, 1.0)
        for place, (score, chance) in enumerate(scores)
    ]


def board(before: list[Game], after: list[Game]) -> Board:
    found = Iteration("v1", 1, is_baseline=True), Iteration("v2", 2, target_metric=TARGET)
    return make_board(found, {"v1": before, "v2": after})


RISEN = board(
    games((60.0, 20.0), (62.0, 20.0), (64.0, 20.0)),
    games((99.0, 99.0), (100.0, 100.0), (98.0, 97.5)),
)


def test_a_rise_into_what_scrambled_copies_score_is_no_rise() -> None:
    pair = compare_iterations(RISEN, "v1", "v2")
    assert pair.comparison[TARGET].welch.p < 0.01
    not_shown = f"Not shown to be better or worse than v1 (the baseline). {LABEL} +37.0 points, {AT_CHANCE}."
    assert sentence(RISEN, RISEN["v2"], pair) == not_shown
    long = replace(RISEN["v2"], iteration=replace(RISEN["v2"].iteration, change="Told them so. " * 30))
    assert sentence(RISEN, long, pair).startswith(f"{not_shown} Changed: Told them so.")
    assert len(sentence(RISEN, long, pair)) < 255, "two lines beside the navigation at 1280 pixels"
    assert f"{AT_CHANCE.capitalize()}, so nothing is concluded." in difference_sentences(pair.comparison[TARGET])
    (told,) = [one for one in comparison_data(pair)["metrics"] if one["name"] == TARGET]
    assert (told["outcome"], told["control"]["after"]["is_at_chance"]) == (AT_CHANCE, True)
    # The gate does not fail by it, and says that it can tell nothing.
    assert (pair.regressions, pair.at_chance_words) == ((), f"{AT_CHANCE.capitalize()}: {LABEL}.")
    row = next(row for row, _ in cockpit_of(RISEN, "v2", "v1") if row["label"] == LABEL)
    # The score has come to its end; its companion may still tell the sides apart.
    assert (row["status"], row["texts"]["outcome"]) == (f"≈ {CHANCE}", "voice distance 0.6 to 1")
    assert f"The rule says keep, but {LABEL} is {AT_CHANCE}." in RISEN.decision_words("v2")
    # A side with a verdict of its own says that it is the other.
    fallen = board(list(RISEN["v2"].games), list(RISEN["v1"].games))
    row = next(row for row, _ in cockpit_of(fallen, "v2", "v1") if row["label"] == LABEL)
    assert row["texts"]["outcome"].endswith(f"≈ reference {CHANCE}")


def test_a_comparison_over_several_versions_says_which_changes_are_in_it() -> None:
    low, high = games((60.0, 20.0), (62.0, 20.0)), games((70.0, 20.0), (72.0, 20.0))
    gone = RecordedDecision(Fate.REVERTED, "Lea", datetime.now(UTC))
    first = Iteration("v1", 1, is_baseline=True)
    later = [Iteration(f"v{number}", number, change=f"Change {number}.") for number in range(2, 7)]

    def told(before: str, after: str, *changed: Iteration) -> str:
        known = {one.name: one for one in (first, *later, *changed)}
        drawn = make_board([*known.values()], {before: low, after: high})
        return sentence(drawn, drawn[after], compare_iterations(drawn, before, after))

    def said(against: str, change: str) -> str:
        return f"Better than {against} on {LABEL} (+10.0 points), beyond luck. Changed: {change}"

    assert told("v3", "v4") == said("v3", "Change 4.")
    assert told("v1", "v3") == said("v1 (the baseline) with the changes of v2 between", "Change 3.")
    assert told("v1", "v4") == said("v1 (the baseline) with the changes of v2 and v3 between", "Change 4.")
    assert told("v1", "v6") == said("v1 (the baseline) with the changes of 4 versions, v2 to v5 between", "Change 6.")
    # What was reverted, or is not among the parents, is not in it; nor is there a way from a later one.
    assert told("v1", "v4", replace(later[1], recorded=gone)) == (
        said("v1 (the baseline) with the changes of v2 between", "Change 4.")
    )
    assert told("v1", "v4", replace(later[2], parent="v1")) == said("v1 (the baseline)", "Change 4.")
    assert told("v4", "v2") == said("v4", "Change 2.")


def test_of_several_games_most_must_lie_above_their_copies() -> None:
    # The means lie 5 and 4 points above: one game of three alone makes the difference.
    few, most = ((95.0, 94.0), (96.0, 94.0), (98.0, 86.0)), ((95.0, 94.0), (100.0, 94.0), (98.0, 92.0))
    for scores, is_told in ((few, True), (most, False)):
        found = board(games((60.0, 20.0), (62.0, 20.0), (64.0, 20.0)), games(*scores))
        mean = mean_scores(found["v2"].games)[TARGET]
        assert (shown_status(mean) == AT_CHANCE) == is_told
        failed = replace(mean, status=Status.FAILED)
        assert look(marked_status(TARGET, failed)).word == ("failed, at chance" if is_told else "failed")
        assert (AT_CHANCE in score_controls(TARGET, found["v2"].games).words) == is_told


def test_a_companion_that_falls_beyond_luck_is_said_beside_the_rise_of_its_score() -> None:
    def voices(name: str, scores: tuple[float, ...], *distances: float) -> list[Game]:
        drawn = games(*((score, 0.0) for score in scores))
        for game, distance in zip(drawn, distances, strict=True):
            one = game.metrics[TARGET]
            companion = one.control["companion"] | {"value": distance}
            game.metrics[TARGET] = one._replace(control=one.control | {"companion": companion})
        return [replace(game, transcript_id=f"{name}-{place}") for place, game in enumerate(drawn)]

    low, high = (60.0, 62.0, 64.0), (90.0, 92.0, 94.0)
    # 6.4 to 0.8 with standard errors of 0.81 and 0.16: the interval is about -9.2 to -2.0.
    fell = board(voices("old", low, 8.0, 5.5, 5.6), voices("new", high, 0.9, 0.45, 0.95))
    words = "voice distance fell beyond luck, 6.4 to 0.8"
    pair = compare_iterations(fell, "v1", "v2")
    shown = f"Better than v1 (the baseline) on {LABEL} (+30.0 points), beyond luck, but its {words}."
    assert sentence(fell, fell["v2"], pair) == shown
    row = next(row for row, _ in cockpit_of(fell, "v2", "v1") if row["label"] == LABEL)
    assert row["texts"]["outcome"] == f"▼ {words}; score ▲ better beyond luck"
    # One low game of three may be luck.
    varied = board(voices("old", low, 8.0, 0.5, 8.0), voices("new", high, 8.0, 0.4, 0.9))
    assert "voice distance" not in sentence(varied, varied["v2"], compare_iterations(varied, "v1", "v2"))
    row = next(row for row, _ in cockpit_of(varied, "v2", "v1") if row["label"] == LABEL)
    assert row["texts"]["outcome"] == "▲ better beyond luck"


def test_a_fall_from_what_meant_something_is_one_wherever_it_ends() -> None:
    fallen = compare_iterations(
        board(games(*[(90.0 + n, 20.0) for n in range(3)]), games(*[(55.0 + n, 60.0) for n in range(3)])), "v1", "v2"
    )
    assert str(fallen.comparison[TARGET].outcome) == "worse"
    assert len(fallen.regressions) == 1


def test_it_is_counted_among_no_passing_metrics() -> None:
    decision = RISEN["v2"].decision
    assert (decision.choice, decision.passed_before, decision.passed_after) == (Choice.KEEP, 6, 6)
    assert f"{AT_CHANCE.capitalize()}, so not counted: {LABEL} (v2)." in decision.explanation
    assert any(line.startswith("Of 6 metrics, ") for line in decision.explanation)
    [game, *_] = games((99.0, 99.0))
    verdict = judge_scores(game.metrics, 1.0)
    # The rubric's rule asks for thresholds alone.
    assert (verdict.status, verdict.passed_count, verdict.at_chance_count) == (VerdictStatus.PASSED, 6, 1)
    assert f"6 of 7 metrics pass, and 1 more, {AT_CHANCE}" in verdict.reasons[0]
    assert score_cell(TARGET, game.metrics[TARGET]).startswith("≈ 99.0")
    assert terminal_cell(TARGET, game.metrics[TARGET]) == "99.0 ≈"
    # What is not compared yet has no better mark than what was.
    waits = game.metrics[TARGET]._replace(control=None)
    assert score_cell(TARGET, waits).startswith("… 99.0")
    assert terminal_cell(TARGET, waits) == "99.0 …"
    # A mean is compared once one of its games is.
    held = [Game(str(at), str(at), {TARGET: one}) for at, one in enumerate((waits, waits, game.metrics[TARGET]))]
    assert terminal_cell(TARGET, mean_scores(held[:2])[TARGET]) == "99.0 …"
    assert terminal_cell(TARGET, mean_scores(held)[TARGET]) == "99.0 ≈"
    assert {status: look(status).symbol for status in TERMINAL_SIGNS} == TERMINAL_SIGNS
    assert score_cell(TARGET, waits._replace(status=Status.FAILED)).startswith("✗ 99.0")
    assert score_cell(TARGET, waits._replace(control=controlled(99.0, 20.0).control)).startswith("✓ 99.0")
    assert look(marked_status(TARGET, waits)).color == look("pending").color
    assert look(AT_CHANCE).color == "gray"


def test_trust_has_four_words_and_raters_are_trusted_as_far_as_they_agree() -> None:
    assert {trust_words(name) for name in DEFINITIONS} <= {"high trust", "some trust", "low trust", "rated by people"}
    assert trust_words("engagement") == "rated by people"


def test_trends_say_what_got_better_over_all_versions_without_chance_and_without_what_was_reverted() -> None:
    low, high = games((60.0, 20.0), (62.0, 20.0), (64.0, 20.0)), games((70.0, 20.0), (72.0, 20.0), (74.0, 20.0))
    kept, gone = (RecordedDecision(fate, "Lea", datetime.now(UTC)) for fate in (Fate.KEPT, Fate.REVERTED))
    named = [Iteration("v1", 1, is_baseline=True), Iteration("v2", 2, recorded=kept), Iteration("v3", 3, recorded=gone)]
    found = make_board(named, {"v1": low, "v2": high, "v3": low}).iterations
    assert trends.ends(found) == ("v1", "v2")
    held = make_board(named, {"v1": low, "v2": high, "v3": low})
    head, said, [sizes] = trends.sentence(found, compare_iterations(held, "v1", "v2"))
    assert head == "v1 to v2: 1 metric better, none worse beyond luck"
    assert said.startswith(f"Better beyond luck: {LABEL} (+10.0 points, true change +")
    assert "; cannot be tested (no spread" in said
    assert said.endswith(". Reverted and left out: v3.")
    assert sizes.text == "3 games against 3"
    # Step by step, each against its own reference.
    pairs = trends.step_pairs(held, found)
    assert pairs == [("v1", "v2"), ("v2", "v3")]
    steps = {pair: compare_iterations(held, *pair) for pair in pairs}
    rows = [(row["Iteration"], row["Against"], row["Beyond luck"]) for row in trends.step_rows(found, steps)]
    fell, rose = f"▼ {LABEL} \u221210.0 points", f"▲ {LABEL} +10.0 points"
    assert rows == [("v3", "v2", fell), ("v2", "v1", rose), ("v1", "", "")]
    # A rise into what scrambled copies score is chance, and one version alone shows nothing.
    head, said, _ = trends.sentence(RISEN.iterations, compare_iterations(RISEN, "v1", "v2"))
    assert head == "v1 to v2: no metric better, none worse beyond luck"
    assert f"; the other {AT_CHANCE}." in said
    assert trends.ends(found[:1]) is None
    assert trends.sentence(found[2:], None)[0].startswith("Nothing to compare yet")


def test_an_a_b_test_names_no_winner_by_it() -> None:
    runs = {"old": [60.0, 61.0, 62.0], "new": [98.0, 99.0, 100.0]}

    async def run(config: dict[str, Any], seed: int) -> RunOutcome:
        score = float(config["run"])
        return RunOutcome({TARGET: score}, scored={TARGET: controlled(score, 20.0 if score < 90 else score)})

    config = ABConfig.model_validate(
        {"name": "x", "base": {}, "variants": {name: {"runs": list(map(str, values))} for name, values in runs.items()}}
        | {"source": "transcripts", "measures": {TARGET: "higher"}, "primary": TARGET, "checks": False}
    )
    result = asyncio.run(ExperimentRunner(config, run).run_ab_test())
    assert (result.winner, result.recommendation) == (None, f"No winner: {LABEL} is {AT_CHANCE}.")
    assert comparison_cells(result.comparisons[0], is_only_pair=True)["Better"] == f"≈ {AT_CHANCE}"


def test_a_game_that_only_waits_for_its_rating_is_no_further_game() -> None:
    rated = [scores_of({"engagement": value})["engagement"] for value in (3.0, 3.5, 4.0, 3.5)]
    open_rating = MetricScore(Status.PENDING, None, 3.0)

    def side(name: str, *scores: MetricScore) -> list[Game]:
        return [Game(f"{name}{n}", name, {"engagement": one}) for n, one in enumerate(scores)]

    found = board(side("old", *rated[:3]), side("new", rated[2], rated[3], open_rating))
    one = compare_iterations(found, "v1", "v2").comparison["engagement"]
    needed = one.games_needed
    assert needed is not None
    said = " ".join(difference_sentences(one))
    assert f"({needed - 3} more on each side)" in said


def test_short_counts_tell_why_four_passes_may_be_enough() -> None:
    [game, *_] = games((99.0, 99.0))
    assert judge_scores(game.metrics, 1.0).passes == "6 of 7, 1 at chance"
    [other, *_] = games((99.0, 20.0))
    assert judge_scores(other.metrics, 1.0).passes == "7 of 7"


def test_a_coming_keep_of_such_a_target_says_so() -> None:
    before = games((60.0, 20.0), (62.0, 20.0), (64.0, 20.0))
    [open_one] = games((99.0, 99.0), rated=False)
    for scores, said in (((99.0, 99.0), f"keep, but {LABEL} is {AT_CHANCE};"), ((99.0, 20.0), "keep;")):
        after = [*games(scores, scores), replace(open_one, metrics=open_one.metrics | {TARGET: controlled(*scores)})]
        decision = board(before, after)["v2"].decision
        assert decision is not None
        assert f"the rule will say {said}" in decision.outlook


def repeated(*games: tuple[float, float | None]) -> list[Game]:
    """Games with this anti-repetition and this rate of repetition within windows of one length."""
    others = scores_of(dict.fromkeys(DEFINITIONS, 90.0))
    found = []
    for place, (score, rate) in enumerate(games):
        beside = {"name": "repetition_rate", "value": rate, "chance": None, "difference": None, "p": None}
        control = {"chance": None, "difference": None, "p": None, "reason": "no chance level", "companion": beside}
        own = scores_of({"anti_repetition": score})["anti_repetition"]._replace(control=control)
        found.append(Game(f"{place}-{score}", f"Game {place}", others | {"anti_repetition": own}, 1.0))
    return found


def test_short_games_that_repeat_less_are_not_better_by_it() -> None:
    before = repeated((95.0, 2.0), (95.5, 1.9), (96.0, 2.1))
    for after, outcome in (
        (((99.0, 0.1), (99.5, 0.0), (100.0, 0.2)), Outcome.BETTER),
        (((99.0, 2.0), (99.5, 2.1), (100.0, 1.8)), Outcome.AT_EQUAL_LENGTH),
        (((99.0, None), (99.5, None), (100.0, 0.0)), Outcome.LOW_EVIDENCE),
    ):
        one = compare_iterations(board(before, repeated(*after)), "v1", "v2").comparison["anti_repetition"]
        assert one.outcome is outcome
        told = "a measure that their length does not move could differ by luck."
        assert (told in " ".join(difference_sentences(one))) == (outcome is Outcome.AT_EQUAL_LENGTH)
        assert (difference_data(one)["outcome"], one.words) == (str(outcome), outcome.words)
        assert (one.games_needed is None) == (outcome is not Outcome.BETTER), "more games do not cure it"


DEPTH, COHERENCE = "strategic_depth", "coherence"
APART = "by rules in 3 games and by gpt-4o-mini in 3 games"
LINES = [
    ("Ann", "I suspect Ben, because he changed his story about the vote"),
    ("Ben", "Ann, why?"),
    ("Ann", "Fish."),
    ("Ben", "Soup."),
]


def read(store: Store, game: str, model: str = "gpt-4o-mini") -> None:
    """Has a model decide every row of strategic depth: one counts, the next does not, and so on."""
    verdicts = cycle((RowVerdict.COUNTS, RowVerdict.DOES_NOT_COUNT))
    said = ("a plan", "It says what to do.", None, (), "live", model, "no such judgement")
    rows = store.results.load(game)[DEPTH].ledger
    store.decisions.save(RowDecision(game, DEPTH, row.id, next(verdicts), *said) for row in rows)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three games by rules in v1, and three in v2 of which a model read the strategic depth: all are rated."""
    path = tmp_path_factory.mktemp("apart") / "games.duckdb"
    store = Store(path)
    store.iterations.create("v1")
    store.iterations.create("v2", parent="v1", target_metric=COHERENCE)
    for number in range(6):
        said = [*LINES, ("Ann", f"Vote {number}")] + [("Ben", "Yes, Ann.")] * (number % 3)
        iteration = "v1" if number < 3 else "v2"
        add_evaluated(store, game_of(said, game_id=f"g{number}"), source_name=f"{number}.json", iteration=iteration)
    for game in store.transcripts.ids():
        store.ratings.add(Rating(game, "ann", 4))
    for game in store.transcripts.ids("v2"):
        read(store, game)
    store.close()
    return path


@pytest.fixture(scope="module")
def apart(path: Path) -> Store:
    """For tests that only read."""
    return Store(path)


def test_scores_of_one_judge_compare_and_words_name_the_others() -> None:
    first, second = (JudgedBy("gpt-4o-mini", version) for version in ("1", "2"))
    unknown, other = JudgedBy("gpt-4o-mini"), JudgedBy("llama")
    assert have_one_judge([])
    assert have_one_judge([(), ()])
    assert have_one_judge([(first,), (unknown,)])
    assert not have_one_judge([(first,), (unknown,), (second,)])
    assert not have_one_judge([(), (first,)])
    assert not have_one_judge([(first,), (first, other)])
    assert apart_words([(first,), (first,)]) == ""
    assert apart_words([(), (first,), (first,)]) == "by rules in 1 game and by gpt-4o-mini in 2 games"
    assert apart_words([(first,), (second,)]) == "by gpt-4o-mini (1) in 1 game and by gpt-4o-mini (2) in 1 game"
    assert apart_words([(first, other), ()]) == "by gpt-4o-mini with llama in 1 game and by rules in 1 game"


def test_a_metric_of_two_judges_is_neither_better_nor_worse(apart: Store) -> None:
    found = stored_comparison(apart, "v1", "v2")
    depth = found.comparison[DEPTH]
    assert (depth.outcome, math.isnan(depth.difference), math.isnan(depth.p)) == (Outcome.UNTESTABLE, True, True)
    assert depth.welch.reason == f"judged {APART}, and verdicts of different judges do not compare"
    assert not math.isnan(depth.before.mean)
    assert not math.isnan(depth.after.mean)
    assert not math.isnan(found.comparison[COHERENCE].difference)
    assert DEPTH not in {one.metric for one in found.movers}
    counted = [one for one in found.comparison.values() if one.name != DEPTH]
    assert stored_board(apart).directions_words("v2") == directions_words(counted, 3, 3)
    board = stored_board(apart)
    assert sentence(board, board["v2"], found).startswith("Not shown to be better or worse than v1")


def test_nothing_is_decided_while_verdicts_are_of_two_judges(path: Path, tmp_path: Path) -> None:
    store = Store(shutil.copy(path, tmp_path))
    decision = stored_board(store)["v2"].decision
    assert decision.choice is Choice.NOT_YET
    assert decision.missing == (
        f"Strategic depth: judged {APART}. Have one judge read all of them, or give its rows back to the rules.",
    )
    assert DEPTH not in {one.metric for one in decision.fell}
    for game in store.transcripts.ids("v1"):
        read(store, game)
    assert stored_board(store)["v2"].decision.choice is not Choice.NOT_YET


def test_reasons_have_no_trend_across_judges(apart: Store) -> None:
    changes = {
        one.metric: {reason.change is None for reason in one.reasons}
        for one in stored_failure_reasons(apart, "v2").metrics
    }
    assert changes[DEPTH] == {True}
    assert changes[COHERENCE] == {False}


def test_the_cockpit_shows_no_change_between_judges(apart: Store) -> None:
    rows = {row["label"]: row for row, _ in cockpit_of(stored_board(apart), "v2", "v1")}
    assert rows["Strategic depth"]["before"] is None
    assert rows["Strategic depth"]["texts"]["change"] == "other judges"
    assert rows["Conversation coherence"]["before"] is not None


def test_a_line_breaks_where_the_judge_changes(apart: Store) -> None:
    points = trend_points(apart)

    def paths() -> list[str]:
        names = [DEPTH, COHERENCE]
        figure = trend_figure(points, {name: DEFINITIONS[name] for name in names}, {}, steps={("v1", "v2"): {}})
        return [shape.path for shape in figure.layout.shapes if shape.type == "path"]

    [coherence] = paths()
    assert "L" in coherence
    held = stored_board(apart)
    _, told, _ = trends.sentence(held.iterations, compare_iterations(held, "v1", "v2"))
    assert f"annot be tested (judged {APART}, and verdicts of different judges do not compare): Strategic depth" in told
    assert trends.figure_differences(points, ("v1", "v2"))[DEPTH].words == "cannot be tested"


def test_an_ab_test_of_stored_games_leaves_it_open_who_is_better(apart: Store) -> None:
    variants = {name: {"runs": apart.transcripts.ids(name)} for name in ("v1", "v2")}
    config = ABConfig(name="t", source="transcripts", variants=variants, measures={DEPTH: "higher"}, primary=DEPTH)

    def load(transcript_id: str) -> tuple:
        scores = apart.results.metric_scores(transcript_id=transcript_id)[transcript_id]
        return apart.transcripts.get(transcript_id), scores, {}, ""

    result = asyncio.run(ExperimentRunner(config, stored_games(load)).run_ab_test())
    assert result.winner is None
    assert "different judges" in result.recommendation
    assert result.comparisons[0].significant is None
    assert math.isnan(result.comparisons[0].difference)
