"""What moved the scores: reasons, sides, players, messages, and the words of the prompt."""

import pandas as pd
import pytest

from evaluation.comparison.iterations import MOST_LINES, is_cut, length_words, prompt_diff
from evaluation.comparison.movers import FailureReason, MetricFailures, failure_reasons, find_losses
from evaluation.errors import NotFoundError
from evaluation.statistics.comparison import Measure, compare
from evaluation.store import Store
from evaluation.transcript import Transcript
from evaluation.workflows.iterations import stored_failing_messages, stored_failure_reasons, stored_losses
from evaluation.workflows.scoring import add_evaluated
from tests.games import game_of

SIDES = {("g", "Ann"): "mafia", ("g", "Ben"): "town", ("g", "Cid"): "town"}


def row(
    reason: str,
    player: str = "Ann",
    *,
    after: bool = True,
    game: str = "g",
    number: int = 0,
    lost: float = 1.0,
    weight: float = 1.0,
) -> dict[str, object]:
    where = {"is_after": after, "transcript_id": game, "game": f"game {game}", "message_id": f"m{number}"}
    counted = {"numerator": weight - lost, "denominator": weight, "reason": reason}
    return where | {"metric": "coherence", "player": player} | counted


def found_in(rows: list[dict[str, object]], *, has_reference: bool = True) -> MetricFailures:
    [found] = failure_reasons(pd.DataFrame(rows), has_reference=has_reference)
    return found


def test_reasons_that_differ_in_names_numbers_and_quotations_are_one() -> None:
    # 10 judged rows after, 5 before. "Shares" fails 3 of 10 now (30 %) and 1 of 5 before (20 %): 10 points more.
    rows = [row(f'Shares only "word{number}" with the {number} before.', number=number) for number in range(3)]
    rows += [row("Says it again.", number=number) for number in range(3, 5)]
    rows += [row("Answers.", lost=0.0, number=number) for number in range(5, 10)]
    rows += [row('Shares only "other" with the 7 before.', after=False)]
    rows += [row("Answers.", after=False, lost=0.0, number=number) for number in range(1, 5)]
    found = found_in(rows)
    assert (found.metric, found.judged, found.failing) == ("coherence", 10, 5)
    shares, again = found.reasons
    assert (shares.label, shares.count, shares.share) == ("Shares only certain words with the N before.", 3, 0.3)
    assert (shares.count_before, shares.share_before) == (1, 0.2)
    assert shares.change == pytest.approx(10.0)
    assert (again.label, again.share, again.share_before, again.change) == ("Says it again.", 0.2, 0.0, 20.0)


LIKE = "Most like Ann, 70.1 of 100: from 70 on a player's language does not count as their own."
SHOWN = 'Both say "i find" and "why". Described as suspicious; the text shows it in "trust" and 2 more.'
BEFORE = "with the 3 messages of others before it, takes up no player of theirs and opens with no reply."
ONCE = "only the first use counts."
LABELS = {
    f"{LIKE} {SHOWN}": "Sounds like another player, though its words fit its description (suspicious).",
    f"{LIKE} Described as analytical; the text shows no mark of it.": (
        "Sounds like another player, and no word fits its description (analytical)."
    ),
    LIKE: "Sounds like another player.",
    "The record shows Ann voting for Ben in round 1 and Cid in round 2, not for Dan.": (
        "The record shows another vote than the one named."
    ),
    '"They said so" is too vague: no speaker can be identified.': "Too vague: no speaker can be identified.",
    f'Ann uses "i think that" 5 times in 4 of 20 messages; {ONCE}': f"Repeats a phrase in several messages; {ONCE}",
    f'Ann uses "i think that" 15 times in 14 of 20 messages, which sounds repetitive; {ONCE}': (
        f"Repeats a phrase until it sounds repetitive; {ONCE}"
    ),
    f'Ann uses "i think that" 2 times in one message; {ONCE}': f"Repeats a phrase within one message; {ONCE}",
    f'Shares only "vote", no keyword, {BEFORE}': f"Shares too few keywords {BEFORE}",
}


@pytest.mark.parametrize(("reason", "label"), LABELS.items(), ids=range(len(LABELS)))
def test_a_reason_without_its_particulars_is_still_a_sentence(reason: str, label: str) -> None:
    assert [one.label for one in found_in([row(reason)]).reasons] == [label]


def test_a_reference_in_which_nothing_was_judged_shows_no_trend() -> None:
    [only] = found_in([row("No.")]).reasons
    assert (only.share_before, only.change) == (None, None)


def test_examples_are_three_from_several_games_and_all_rows_are_kept() -> None:
    rows = [row("No.", number=number) for number in range(4)] + [row("No.", game=game, number=9) for game in "hi"]
    [reason] = found_in(rows).reasons
    assert [(one.transcript_id, one.message_id) for one in reason.examples] == [("g", "m0"), ("h", "m9"), ("i", "m9")]


def test_an_excluded_row_is_not_judged_and_the_order_never_depends_on_that_of_the_rows() -> None:
    rows = [row("B."), row("A."), row("C.", weight=0.0, lost=0.0)]
    for order in (rows, rows[::-1]):
        found = found_in(order)
        assert found.judged == 2
        assert [one.label for one in found.reasons] == ["A.", "B."]


ONE = {"coherence": 1}


def test_the_side_the_players_and_the_messages_that_lose_most() -> None:
    # 10 rows: Mafia (Ann) loses 3 of 4, town 1 of 6 (Ben). Each row weighs 10 points.
    rows = [row("so", "Ann", lost=float(number > 0), number=number) for number in range(4)]
    rows += [row("so", "Ben", lost=float(number == 4), number=number) for number in range(4, 8)]
    rows += [row("so", "Cid", lost=0.0, number=number) for number in range(8, 10)]
    [losses] = find_losses(pd.DataFrame(rows), SIDES, ONE).values()
    assert (losses.side.name, losses.side.lost, losses.side.score) == ("mafia", 30.0, 25.0)
    assert [(one.name, one.lost) for one in losses.players] == [("Ann", 30.0), ("Ben", 10.0)]
    assert losses.words == "Most is lost by Mafia, which reaches 25 %, and by Ann (30.0 points) and Ben (10.0 points)."
    assert [example.message_id for example in losses.examples] == ["m1", "m2", "m3"]


def test_every_game_weighs_the_same_and_the_points_add_up_to_what_the_mean_lacks() -> None:
    # Scores of 50 and 100 of 100, and one of 100 without a row: the mean is 83.3, and Ann loses the rest.
    rows = [row("so", "Ann", lost=float(number < 2), number=number) for number in range(4)]
    rows += [row("so", "Ben", game="h", lost=0.0)]
    [losses] = find_losses(pd.DataFrame(rows), {}, {"coherence": 3}).values()
    assert [(one.name, one.lost) for one in losses.players] == [("Ann", pytest.approx(100 - 83.333, abs=0.001))]


def test_without_sides_or_losses_nothing_is_named() -> None:
    rows = pd.DataFrame([row("so"), row("so", lost=0.0)])
    assert find_losses(rows, {}, ONE)["coherence"].side is None
    # One side alone has nothing to be compared with.
    assert find_losses(rows, SIDES, ONE)["coherence"].side is None
    assert find_losses(pd.DataFrame([row("so", lost=0.0)]), SIDES, ONE) == {}
    assert find_losses(rows.iloc[:0], SIDES, ONE) == {}


def game(name: str, *texts: str) -> Transcript:
    names = ("Ann", "Bob", "Cid")
    return game_of([(names[number % 3], text) for number, text in enumerate(texts)], names, game_id=name)


def depth(found: tuple[MetricFailures, ...]) -> FailureReason:
    [of_depth] = [one for one in found if one.metric == "strategic_depth"]
    return of_depth.reasons[0]


def test_a_stored_iteration_against_its_reference_with_the_messages_themselves(store: Store) -> None:
    said = {"v1": ("Hello.", "I trust Ann because she defended Cid."), "v2": ("Hello.", "Well, fine.")}
    for name, texts in said.items():
        store.iterations.create(name, parent="v1" if name == "v2" else None)
        add_evaluated(store, game(name, *texts), source_name=f"{name}.json", iteration=name)
    found = stored_failure_reasons(store, "v2")
    assert found.reference == "v1"
    reason = depth(found.metrics)
    assert (reason.count, reason.count_before) == (2, 1)
    assert [one.text for one in reason.examples] == ["Hello.", "Well, fine."]
    before, messages = stored_failing_messages(store, "v2", "strategic_depth", reason.label)
    assert [(one.game, one.text) for one in before] == [("Game 1 · v1", "Hello.")]
    assert [(one.game, one.message_id, one.player, one.text) for one in messages] == [
        ("Game 1 · v2", "m0", "Ann", "Hello."),
        ("Game 1 · v2", "m1", "Bob", "Well, fine."),
    ]
    assert stored_failure_reasons(store, "v1").reference is None
    store.iterations.create("empty")
    assert stored_failure_reasons(store, "empty").metrics == ()
    with pytest.raises(NotFoundError):
        stored_failure_reasons(store, "v3")


def test_what_fails_in_a_stored_iteration(store: Store) -> None:
    lines = [
        ("Ann", "The weather is nice"),
        ("Ben", "I suspect Ann, because her story about the vote changed twice"),
    ] * 3
    store.iterations.create("v1")
    add_evaluated(store, game_of(lines, game_id="dull"), source_name="dull.json", iteration="v1")
    losses = stored_losses(store, "v1")
    assert "anti_repetition" in losses
    depth = losses["strategic_depth"]
    # Three of six messages hold no keyword, all of them Ann's.
    assert [(one.name, one.lost) for one in depth.players] == [("Ann", pytest.approx(50.0))]
    assert {example.text for example in depth.examples} == {"The weather is nice"}
    assert all(example.game.startswith("Game 1 · ") for example in depth.examples)


def test_prompts_of_any_length() -> None:
    assert prompt_diff("a\nb", "a\nb") == []
    # Lines 3 and 20 change; two lines around each stay, and dots stand between.
    old = [str(number) for number in range(30)]
    new = [*old[:3], "x", *old[4:20], "y", *old[21:]]
    assert [line.text for line in prompt_diff("\n".join(old), "\n".join(new))] == [
        *("  1", "  2", "- 3", "+ x", "  4", "  5", "..."),
        *("  18", "  19", "- 20", "+ y", "  21", "  22"),
    ]
    assert not is_cut("a\n" * MOST_LINES, "")
    assert is_cut("a\n" * (MOST_LINES + 1), "")


def test_the_words_of_a_prompt_that_differ_are_marked() -> None:
    gone, come, more = prompt_diff("Play to win.", "Play hard to win.\nBe brief.")
    assert [gone.marks, more.marks] == [(), ()]
    assert [come.text[begin:end] for begin, end in come.marks] == [" hard"]
    gone, come = prompt_diff("Say 🙂 yes.", "Say 🙂 no.")
    assert [line.text[begin:end] for line in (gone, come) for begin, end in line.marks] == ["yes", "no"]


def test_a_changed_length_is_told_and_much_of_it_may_move_scores() -> None:
    shorter = compare({"words": Measure([20.0, 22.0, 24.0], [3.0, 3.0, 4.5])})["words"]
    assert length_words(shorter) == "Words a message: 22.0 to 3.5, beyond luck. Length alone can move scores."
    alike = compare({"words": Measure([20.0, 22.0, 24.0], [21.0, 23.0, 25.0])})["words"]
    assert length_words(alike) == "Words a message: 22.0 to 23.0, could be luck."
    assert length_words(compare({"words": Measure([], [3.0])})["words"]) == ""
