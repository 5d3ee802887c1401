"""Two iterations compared: pairs, keep or revert, and what moved the scores, down to messages."""

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from evaluation.comparison.iterations import compare_iterations, comparison_data, paired_games, typical_pair
from evaluation.comparison.movers import biggest_movers, failure_reasons
from evaluation.iterations.board import make_board
from evaluation.iterations.game_tests import Game, reserve_words
from evaluation.iterations.iteration import Iteration
from evaluation.iterations.keep_or_revert import Choice
from evaluation.ratings import Rating
from evaluation.score import RowVerdict, Status
from evaluation.statistics.comparison import Outcome
from evaluation.statistics.words import difference_sentences
from evaluation.store import Store
from evaluation.transcript import Transcript
from evaluation.workflows.iterations import stored_comparison
from evaluation.workflows.scoring import add_evaluated
from tests.games import discussion, scores_of

LINES = [
    ("Ann", "I suspect Ben, because he changed his story about the vote"),
    ("Ben", "Ann, why?"),
    ("Ann", "Fish."),
    ("Ben", "Soup."),
]


def game(name: str, **scores: float | None) -> Game:
    return Game(name, name, scores_of(scores))


def row(*, after: bool, counts: bool, reason: str, player: str | None = None) -> dict[str, object]:
    side = "new" if after else "old"
    where = {"is_after": after, "transcript_id": side, "game": f"{side} game", "message_id": "m1"}
    counted = {"numerator": float(counts), "denominator": 1.0, "reason": reason}
    return where | {"metric": "coherence", "player": player} | counted


def test_games_that_share_both_pair_first_then_by_scenario_then_by_seed() -> None:
    before = {"a": ("market", "1"), "b": ("market", "2"), "c": ("fair", None), "d": (None, "5"), "e": ("inn", "6")}
    after = {"v": ("market", "9"), "w": ("market", "1"), "x": ("fair", "5"), "y": ("tower", "5"), "z": (None, "6")}
    # a and w share both, though v waits before it; b and v, c and x share a scenario. x is then taken, so d (scenario
    # not known) has its seed with y, and e with z.
    assert paired_games(before, after) == [("a", "w"), ("b", "v"), ("c", "x"), ("d", "y"), ("e", "z")]


def test_a_seed_of_another_scenario_and_what_is_not_known_pair_nothing() -> None:
    # Seed 7 of the market and of the fair are different games; no scenario and no scenario are not one scenario.
    assert paired_games({"a": ("market", "7")}, {"v": ("fair", "7")}) == []
    assert paired_games({"a": (None, "1"), "b": ("market", None)}, {"v": (None, "2"), "w": ("fair", None)}) == []


def test_a_comparison_with_pairs_and_a_decision() -> None:
    iterations = [Iteration("old", is_baseline=True), Iteration("new", 1, target_metric="coherence")]
    games = {
        "old": [game(f"a{n}", coherence=value) for n, value in enumerate([50.0, 55.0, 60.0])],
        "new": [game(f"b{n}", coherence=value) for n, value in enumerate([63.0, 70.0, 66.0, None])],
    }
    board = make_board(iterations, games)
    found = compare_iterations(board, "old", "new", [("a0", "b0"), ("a1", "b1"), ("a2", "b2")])
    coherence = found.comparison["coherence"]
    assert (coherence.before.n, coherence.after.n) == (3, 3)
    assert coherence.paired.difference == pytest.approx(34 / 3)
    # 55 to 66.3, Welch p 0.03: tested alone, as the target. Adjusted with others it would show nothing.
    assert (coherence.is_primary, coherence.outcome) == (True, Outcome.BETTER)
    assert math.isnan(coherence.p_holm)
    assert found.decision is board["new"].decision
    assert found.decision.choice is Choice.NOT_YET
    backwards = compare_iterations(board, "new", "old")
    assert backwards.decision is found.decision
    assert backwards.other_pair == "It is about new against its reference, old."
    assert found.comparison["engagement"].outcome is Outcome.UNTESTABLE
    json.dumps(comparison_data(found), allow_nan=False)


def test_a_change_that_only_repeated_games_show_is_not_beyond_luck() -> None:
    iterations = [Iteration("old", is_baseline=True), Iteration("new", 1, target_metric="coherence")]
    old = [game(f"a{n}", coherence=value) for n, value in enumerate([50.0, 55.0, 60.0])]
    # By scipy Welch's p is 0.022, and 0.117 without the last game.
    new = [game(f"b{n}", coherence=value) for n, value in enumerate([64.0, 72.0, 72.0])]
    repeat = "Games that repeat others nearly word for word are not evidence of their own"
    again = [new[0], new[1], replace(new[2], original="b1")]
    found = compare_iterations(make_board(iterations, {"old": old, "new": new}), "old", "new")
    assert (found.comparison["coherence"].words, found.reserve) == ("better beyond luck", "")
    board = make_board(iterations, {"old": old, "new": again})
    found = compare_iterations(board, "old", "new")
    told = found.comparison["coherence"]
    assert (told.outcome, told.words) == (Outcome.ON_REPEATS, "on repeated games")
    assert (told.after.n, told.welch.p) == (3, pytest.approx(0.02206, abs=1e-5))
    assert found.reserve == f"{repeat}: 1 of 6 (b2)."
    assert "Rests on repeated games, so nothing is concluded." in " ".join(difference_sentences(told))
    # The same where the game that is repeated stands on the other side, and no test is left.
    across = make_board(
        iterations,
        {"old": old, "new": [replace(one, original=two.transcript_id) for one, two in zip(new, old, strict=True)]},
    )
    found = compare_iterations(across, "old", "new")
    assert (found.comparison["coherence"].words, comparison_data(found)["reserve"]) == (
        "on repeated games",
        f"{repeat}: 3 of 6 (b0 and 2 more).",
    )


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ([(8, "native"), (10, "native")], [(10, "native"), (8, "native")], ""),
        ([(8, "native"), (10, "native")], [(7, "native")], "before 8 to 10 players, after 7 players"),
        ([(7, "native")], [(7, "native"), (9, "native")], "before 7 players, after 7 to 9 players"),
        (
            [(7, "native")],
            [(7, "aiwolf"), (7, "native")],
            "before 7 players (native), after 7 players (aiwolf and native)",
        ),
        ([(0, "")], [(7, "native")], ""),
    ],
)
def test_games_of_another_kind_are_named(before, after, words) -> None:
    sides = [[replace(game("one"), players=count, source=source) for count, source in side] for side in (before, after)]
    assert reserve_words(*sides) == (words and f"Not all games are alike, which may move a score, too: {words}.")


def test_a_game_that_repeats_another_of_its_players_is_found_whichever_is_longer(tmp_path) -> None:
    store = Store(tmp_path / "s.duckdb")
    store.iterations.create("v1")

    def talk(name: str, changed: int = 0, length: int = 10) -> Transcript:
        said = [(("Ann", "Ben")[at % 2], f"{name} says for the {at}th time that Ben lied.") for at in range(length)]
        return discussion([(who, "Something else was said by me.") for who, _ in said[:changed]] + said[changed:])

    games = [talk("first", length=5), talk("second"), talk("first"), talk("second", 2), talk("second", 3)]
    keys = [store.transcripts.add(one, source_name="s", iteration="v1").transcript_id for one in games]
    # The third begins as the first does; of the last, seven of nine messages are those of the second.
    assert store.transcripts.originals() == {keys[2]: keys[0], keys[3]: keys[1]}
    # Before they are stored, and among each other, too.
    new = [talk("second", 1), talk("new"), talk("new", 1), talk("first", length=4)]
    found = store.transcripts.originals(beside=new)
    assert {game.id: found.get(game.id) for game in new} == dict(
        zip([game.id for game in new], [keys[1], None, new[1].id, None], strict=True)
    )
    short = [discussion([("Ann", said), ("Ben", "I vote for nobody at all.")]) for said in ("Yes.", "No.")]
    store.transcripts.add_many([(one, "s") for one in short], iteration="v1")
    assert len(store.transcripts.originals()) == 2
    store.close()


def test_the_pair_nearest_to_the_means_difference_is_taken_over_all_shared_metrics() -> None:
    before = [game("a", coherence=50, strategic_depth=50), game("b", coherence=90, strategic_depth=70)]
    after = [game("c", coherence=60, strategic_depth=60), game("d", coherence=20, strategic_depth=80)]
    # The means move by -30 and +10; a-c is 40 and 0 away from that, a-d 0 and 20, b-c 0 and 20, b-d 40 and 0.
    assert typical_pair(before, after) == ("a", "d")
    # With a third game whose coherence is higher the means move by -10 and +10: a-c is 20 and 0 away from that.
    assert typical_pair(before, [*after, game("e", coherence=100, strategic_depth=70)]) == ("a", "c")


def test_a_metric_without_a_score_on_one_side_stays_out() -> None:
    before = [game("a", coherence=50, engagement=1.0), game("b", coherence=40, engagement=5.0)]
    after = [game("c", coherence=64, engagement=None)]
    # By coherence alone the means move by 19, a-c by 14 and b-c by 24: the first of equal pairs.
    assert typical_pair(before, after) == ("a", "c")


def test_where_games_share_a_scenario_only_these_are_taken() -> None:
    before, after = (
        [game("a", coherence=0), game("b", coherence=50)],
        [game("c", coherence=100), game("d", coherence=60)],
    )
    # The means move by 55, a-d by 60, b-c by 50, a-c by 100, b-d by 10.
    assert typical_pair(before, after) == ("a", "d")
    assert typical_pair(before, after, [("a", "c"), ("b", "d")]) == ("a", "c")


def test_the_losses_of_reasons_add_up_to_the_change_of_the_score() -> None:
    fine = [row(after=after, counts=True, reason="fine") for after in (False, False, True, True, True)]
    lost = [
        row(after=False, counts=False, reason='Shares only "fish" with Ben.', player="Ann"),
        row(after=False, counts=False, reason='Shares only "soup", "egg" with Ann.', player="Ben"),
        row(after=True, counts=False, reason='Shares only "egg" with Ann.', player="Ben"),
    ]
    movers = biggest_movers(pd.DataFrame(fine + lost), {"coherence": (1, 1)})
    # 2 of 4 rows lost before: 50 points; 1 of 4 after: 25 points.
    reasons = [one for one in movers if one.kind == "reason"]
    assert [(one.before, one.after, one.change) for one in reasons] == [(50.0, 25.0, 25.0)]
    assert reasons[0].label == "Shares only certain words with someone."
    # Ann lost 25 points before and none after; Ben 25 both times, which moved nothing.
    assert [(one.label, one.change) for one in movers if one.kind == "player"] == [("Ann", 25.0)]
    assert {example.transcript_id for example in reasons[0].examples} == {"old"}


def test_a_metric_that_fell_is_there_however_many_reasons_others_rose_by_and_every_row_of_five_is_an_example() -> None:
    gone = [row(after=False, counts=False, reason=f"Shares nothing at all, {'x' * one}") for one in range(13)] * 5
    fell = row(after=True, counts=False, reason="Says little.") | {"metric": "strategic_depth"}
    rows = [*gone, row(after=True, counts=True, reason="r"), fell, *([fell | {"numerator": 1, "is_after": False}] * 9)]
    movers = biggest_movers(pd.DataFrame(rows), {"coherence": (1, 1), "strategic_depth": (1, 1)})
    assert "Says little." in {one.label for one in movers if one.change < 0}
    assert {len(one.examples) for one in movers if one.kind == "reason" and one.change > 0} == {5}


def test_every_game_weighs_the_same_in_what_a_reason_costs() -> None:
    # Three games after, of which one has a score without a row; the shorter one loses half, the longer one a quarter.
    shorter = [row(after=True, counts=counts, reason="r") for counts in (True, False)]
    longer = [row(after=True, counts=place > 0, reason="r") | {"transcript_id": "long"} for place in range(4)]
    fine = [row(after=False, counts=True, reason="r")]
    (mover,) = [
        one
        for one in biggest_movers(pd.DataFrame(fine + shorter + longer), {"coherence": (1, 3)})
        if one.kind == "reason"
    ]
    # The mean falls from 100 to (50 + 75 + 100) / 3.
    assert (mover.before, mover.after) == (0.0, 25.0)


def test_reasons_of_phrases_are_counted_in_uses_as_their_score_is() -> None:
    def used(times: float, *, counts: bool) -> dict[str, object]:
        weights = {"metric": "anti_repetition", "numerator": times * counts, "denominator": times}
        return row(after=True, counts=counts, reason="uses it again") | weights

    [found] = failure_reasons(
        pd.DataFrame([used(90.0, counts=True), used(6.0, counts=False), used(4.0, counts=False)]), has_reference=False
    )
    assert (found.judged, found.failing) == (100, 10)
    assert [(one.count, one.share) for one in found.reasons] == [(10, 0.1)]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with three games of "old" and two of "new", to be copied."""
    path = tmp_path_factory.mktemp("compared") / "games.duckdb"
    store = Store(path)
    store.iterations.create("old")
    store.iterations.create("new", parent="old")
    for name, number in (("old", 3), ("new", 2)):
        for seed in range(number):
            said = [
                *LINES[: 4 if name == "old" else 2],
                ("Ann", f"Ben defended {name} {seed}, so his vote was planned"),
            ]
            game = discussion(said).model_copy(update={"metadata": {"seed": seed}})
            add_evaluated(store, game, source_name=f"{name}{seed}.json", iteration=name)
    store.close()
    return path


@pytest.fixture
def compared(played: Path, tmp_path: Path) -> Store:
    return Store(shutil.copy(played, tmp_path))


def test_from_the_store(compared: Store) -> None:
    found = stored_comparison(compared, "old", "new")
    assert [len(side.games) for side in (found.before, found.after)] == [3, 2]
    assert len(found.pairs) == 2
    depth = [one for one in found.movers if (one.metric, one.kind) == ("strategic_depth", "reason")]
    # Before, 3 of 5 messages do not argue (why, fish, soup), after 1 of 3: 60 - 33.3 points.
    assert depth[0].change == pytest.approx(60 - 100 / 3)
    # One example from each of the three games before a second from one of them.
    assert len({example.transcript_id for example in depth[0].examples}) == 3
    assert {example.text for example in depth[0].examples} <= {"Ann, why?", "Fish.", "Soup."}


def test_what_people_overrode_counts_as_they_decided(compared: Store) -> None:
    old = stored_comparison(compared, "old", "new").before.games
    for each in old:
        for ledger_row in compared.results.load(each.transcript_id)["strategic_depth"].ledger:
            place = (each.transcript_id, "strategic_depth", ledger_row.id)
            if ledger_row.verdict is RowVerdict.DOES_NOT_COUNT:
                compared.overrides.add(*place, RowVerdict.COUNTS, author="A", reason="b")
    found = stored_comparison(compared, "old", "new")
    assert found.comparison["strategic_depth"].before.mean == 100.0
    depth = [one for one in found.movers if (one.metric, one.kind) == ("strategic_depth", "reason")]
    assert depth[0].before == 0.0


def test_ratings_change_no_mover_also_beside_a_decided_row(compared: Store) -> None:
    """No stored ledger has ratings; those of a game with an override must not become the movers of its iteration."""
    first, *_ = stored_comparison(compared, "old", "new").before.games
    [ledger_row, *_] = compared.results.load(first.transcript_id)["strategic_depth"].ledger
    place = (first.transcript_id, "strategic_depth", ledger_row.id)
    compared.overrides.add(*place, RowVerdict.COUNTS, author="A", reason="b")
    before = stored_comparison(compared, "old", "new")
    for name in compared.transcripts.ids():
        compared.ratings.add(Rating(name, "Ada", 2 if name == first.transcript_id else 5))
    after = stored_comparison(compared, "old", "new")
    assert before.movers
    assert after.movers == before.movers
    assert after.comparison["engagement"].before.mean != before.comparison["engagement"].before.mean


def test_only_what_got_worse_beyond_luck_fails_a_gate(compared: Store) -> None:
    found = stored_comparison(compared, "old", "new")
    one = found.comparison["coherence"]
    passes = found.before.means["coherence"].status is Status.PASSED

    def reasons(outcome: Outcome, *, is_primary: bool) -> tuple[str, ...]:
        changed = replace(one, outcome=outcome, is_primary=is_primary)
        return replace(found, comparison={changed.name: changed}).regressions

    assert not any("beyond luck" in reason for reason in reasons(Outcome.NO_EVIDENCE, is_primary=True))
    (told,) = [reason for reason in reasons(Outcome.WORSE, is_primary=True) if "beyond luck" in reason]
    assert told.startswith("Conversation coherence, the target, fell beyond luck: ")
    assert any("fell beyond luck" in reason for reason in reasons(Outcome.WORSE, is_primary=False)) is passes
