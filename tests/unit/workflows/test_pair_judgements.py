"""Blind judgements of two games: sides and order of each rater, answers that are only added, and the win rate."""

from __future__ import annotations

import pytest

from evaluation.errors import ConflictError, NotFoundError
from evaluation.rating_desk.game_pairs import GamePair, PairChoice, game_pairs
from evaluation.store import Store
from evaluation.transcript import Message, Player, Transcript
from evaluation.workflows.ratings.pair_judgements import (
    judge_pair,
    judgement_table,
    judgements_between,
    pair_to_judge,
    win_rate_of,
)

OLD, NEW = "v1", "v2"


def game(name: str, **metadata: str) -> Transcript:
    said = (Message(id="m0", index=0, round=1, speaker="Ann", text=f"Hello from {name}"),)
    return Transcript(
        game_id=name, source_format="native", players=(Player(name="Ann"),), messages=said, metadata=metadata
    )


@pytest.fixture
def store() -> Store:
    made = Store(":memory:")
    made.iterations.create(OLD)
    made.iterations.create(NEW, parent=OLD)
    for iteration in (OLD, NEW):
        made.transcripts.add_many([(game(f"{iteration} {n}"), f"{n}.json") for n in range(4)], iteration=iteration)
    return made


def judge_all(store: Store, rater: str, better: str | None) -> list[str]:
    """Judges every pair so that the game of one iteration is the better one; returns the ids."""
    given = []
    while (pair := pair_to_judge(store, rater, OLD, NEW)) is not None:
        choice = PairChoice.NO_DIFFERENCE
        if better is not None:
            choice = PairChoice.LEFT if pair.left in store.transcripts.ids(better) else PairChoice.RIGHT
        given.append(judge_pair(store, rater, OLD, NEW, pair, choice))
    return given


def test_each_rater_has_sides_and_an_order_of_their_own_that_stay() -> None:
    before, after = [f"a{n}" for n in range(40)], [f"b{n}" for n in range(40)]
    ann, bob = (game_pairs(name, before, after) for name in ("Ann", "Bob"))
    assert ann == game_pairs("Ann", before, after) != bob
    # Every game is in one pair, always against one of the other side, and neither side is always on the left.
    assert sorted(one for pair in ann for one in pair.games) == sorted([*before, *after])
    assert all(pair.left[0] != pair.right[0] for pair in ann)
    assert 8 < sum(pair.left in before for pair in ann) < 32


def test_games_of_one_scenario_are_judged_against_each_other(store: Store) -> None:
    for iteration in (OLD, NEW):
        store.transcripts.add(game(f"{iteration} harbour", scenario="harbour"), source_name="h", iteration=iteration)
    pair = pair_to_judge(store, "Ann", OLD, NEW)
    assert pair.games == {game("v1 harbour", scenario="harbour").id, game("v2 harbour", scenario="harbour").id}
    judge_pair(store, "Ann", OLD, NEW, pair, PairChoice.LEFT)
    assert pair_to_judge(store, "Ann", OLD, NEW) is None


def test_the_win_rate_counts_decided_judgements_with_wilsons_interval(store: Store) -> None:
    assert win_rate_of(store, OLD, NEW).words == "No judgement yet: no win rate."
    judge_all(store, "Ann", NEW)
    judge_all(store, "Bob", OLD)
    judge_all(store, "Cem", NEW)
    judge_all(store, "Dee", None)
    found = win_rate_of(store, OLD, NEW)
    assert (found.better, found.worse, found.no_difference, found.raters) == (8, 4, 4, 4)
    # Wilson, 8 of 12: centre (8 + 1.92) / (12 + 3.84) = 0.626, half width 0.235.
    assert found.win_rate == pytest.approx(2 / 3)
    assert (found.interval.low, found.interval.high) == pytest.approx((0.391, 0.862), abs=0.001)
    assert found.words.startswith(
        "After was better in 8 of 12 decided judgements, 67 % (95 % interval 39 to 86 %); 4 of no difference. 4 raters"
    )
    assert win_rate_of(store, NEW, OLD).win_rate == pytest.approx(1 / 3)


def test_undo_withdraws_a_judgement_and_keeps_the_row(store: Store) -> None:
    first, *_ = judge_all(store, "Ann", NEW)
    with pytest.raises(NotFoundError):
        store.pair_judgements.withdraw(first, "Bob")
    store.pair_judgements.withdraw(first, "Ann")
    assert len(judgements_between(store, OLD, NEW)) == 3
    table = judgement_table(store)
    assert (len(table), int(table["withdrawn_at"].notna().sum())) == (4, 1)
    assert set(table["left_iteration"]) | set(table["right_iteration"]) == {OLD, NEW}
    with pytest.raises(NotFoundError):
        store.pair_judgements.withdraw(first, "Ann")
    assert pair_to_judge(store, "Ann", OLD, NEW) is not None


def test_two_games_are_judged_once_by_a_rater_and_only_as_they_were_shown(store: Store) -> None:
    pair = pair_to_judge(store, "Ann", OLD, NEW)
    judge_pair(store, "Ann", OLD, NEW, pair, PairChoice.LEFT)
    with pytest.raises(ConflictError, match="have judged"):
        judge_pair(store, "Ann", OLD, NEW, pair, PairChoice.RIGHT)
    with pytest.raises(ConflictError, match="moved"):
        judge_pair(store, "Ann", OLD, NEW, GamePair(pair.right, pair.left), PairChoice.RIGHT)
    assert len(store.pair_judgements.list()) == 1


def test_a_judgement_counts_while_both_games_are_stored(store: Store) -> None:
    judge_all(store, "Ann", NEW)
    gone = store.transcripts.ids(NEW)[0]
    deletion = store.deletions.delete([gone], who="Ann")
    assert win_rate_of(store, OLD, NEW).judged == 3
    store.deletions.undo(deletion.id, who="Ann")
    assert win_rate_of(store, OLD, NEW).judged == 4
