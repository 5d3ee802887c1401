"""How far each metric can be trusted: planted faults, and the words for what was noticed."""

import csv
from pathlib import Path

import numpy as np
import pytest

from benchmarks import planted_faults
from benchmarks.labelled_games import load_games
from benchmarks.planted_faults import CHANGES, FAULTS, Noticed, breaks, fault_table, noticed, paired_auc
from benchmarks.validity import is_human_game, length_correlations, pass_rates
from evaluation.engines.scoring import SCORERS
from evaluation.rubric.controls import deal_speakers
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.transcript import Transcript
from evaluation.validity import Trust, decided_words, measured, metric_trust
from tests.long import mostly_long

GAMES = dict(load_games())
ALL = [game for _, game in load_games()]


def test_ties_count_half() -> None:
    assert paired_auc(5.0, [4.0, 5.0, 6.0, 3.0]) == 0.625
    assert paired_auc(5.0, []) is None


def test_a_planted_fault_changes_what_it_says_and_nothing_else() -> None:
    game = GAMES["llmafia"]
    for fault in FAULTS:
        base = fault.base(game)
        copy = fault.copy(base, np.random.default_rng(1))
        assert copy != base, fault.words
        assert [message.round for message in copy.messages] == [message.round for message in base.messages]
        is_moved = fault.metric in ("coherence", "anti_repetition")
        assert is_moved or [one.text for one in copy.messages] == [one.text for one in base.messages], fault.words


def test_speakers_keep_about_their_number_of_words() -> None:
    speakers, lengths = ["A"] * 30 + ["B"] * 10, [5] * 30 + [5] * 10
    dealt = deal_speakers(speakers, lengths, np.random.default_rng(1))
    assert dealt.count("A") == 30
    assert dealt != speakers


def test_a_game_says_how_often_each_fault_was_noticed_and_says_the_same_again() -> None:
    game = GAMES["llmafia"]
    found = list(noticed("people", game, draws=1))
    assert {one.metric for one in found} >= {"coherence", "role_consistency", "anti_repetition"}
    assert all(one.auc * 2 == pytest.approx(round(one.auc * 2)) for one in found)
    assert found == list(noticed("people", Transcript.from_json(game.to_json()), draws=1))


def test_the_table_pools_games_and_keeps_sources_apart() -> None:
    found = [Noticed("coherence", "score", source, "g", auc) for source, auc in (("a", 1.0), ("a", 0.5), ("b", 0.0))]
    (row,) = fault_table(found)
    assert (row["auc"], row["games"], row["measure"], row["target"]) == (0.5, 3, "score", None)
    assert row["sources"] == {"a": {"auc": 0.75, "games": 2}, "b": {"auc": 0.0, "games": 1}}
    assert 0.0 <= row["low"] <= 0.5 <= row["high"] <= 1.0


@pytest.mark.parametrize("game", mostly_long(sorted(ALL, key=lambda game: game not in GAMES.values()), len(GAMES)))
def test_changes_that_mean_nothing_move_no_score(game: Transcript) -> None:
    assert len(CHANGES) == 3
    assert list(breaks(game)) == []


def test_other_names_stand_everywhere_and_private_chat_is_really_added() -> None:
    game = GAMES["aiwolf"]
    renamed = planted_faults.with_other_names(game)
    assert set(game.player_names).isdisjoint(renamed.player_names)
    # "May dear." may be no name.
    telling = set(game.player_names) - {"May"}
    assert not any(name in message.text for message in renamed.discussion for name in telling)
    longer = planted_faults.with_private_chat(game)
    assert len(longer.messages) == len(game.messages) + 6
    assert longer.discussion[1].text == game.discussion[1].text


def test_human_games_and_length() -> None:
    games = [GAMES["llmafia"], GAMES["aiwolf"]]
    assert [is_human_game(game) for game in games] == [True, False]
    rates = pass_rates(games)
    assert set(rates) == set(SCORERS)
    assert all(total <= 1 for groups in rates.values() for _, total in groups.values())
    assert length_correlations(games)["coherence"] == (None, 2)


OPENINGS = Path("data/labels/openings.csv")
FIGURES = {
    "memory_accuracy": "holds a reference: F1",
    "strategic_depth": "strategic depth: balanced accuracy",
    "coherence": "answers: balanced accuracy",
    "role_consistency": "acts with target: macro F1",
}
SETS = {"known": "kept", "other": "kept source"}
FITTED = "reader fitted without them"


def row_of(metric: str, auc: float, measure: str = "score") -> dict[str, object]:
    return {"metric": metric, "measure": measure, "auc": auc, "games": 4}


def by_name(*faults: dict[str, object]) -> dict[str, Trust]:
    return {one.metric: one.trust for one in metric_trust(faults or None)}


def test_the_worst_of_reading_and_noticing_decides() -> None:
    # Reading: depth 0.90 and 0.77, coherence 0.71 and 0.70, role 0.52 and 0.36.
    found = by_name()
    assert list(found) == list(DEFINITIONS)
    assert found["strategic_depth"] is Trust.WITH_CARE
    assert found["coherence"] is Trust.WITH_CARE
    assert found["role_consistency"] is Trust.HARDLY
    assert found["engagement"] is Trust.RATED
    assert by_name(row_of("coherence", 0.59))["coherence"] is Trust.HARDLY
    assert by_name(row_of("anti_repetition", 0.8))["anti_repetition"] is Trust.YES
    assert by_name(row_of("anti_repetition", 0.79))["anti_repetition"] is Trust.WITH_CARE


def test_other_games_come_first_and_the_shipped_ones_stand_in_where_none_could_be_tested() -> None:
    found = {one.metric: one for one in metric_trust([row_of("coherence", 1.0)])}
    assert "falls in 100 of 100 copies of 4 test games" in found["coherence"].sentences[-1]
    assert "of 26 test games" in " ".join(found["anti_repetition"].sentences)
    assert found["anti_repetition"].trust is Trust.YES


def test_a_companion_is_named_where_it_notices_more() -> None:
    rows = [row_of("coherence", 0.7), row_of("coherence", 0.9, "link_strength")]
    assert "link strength, falls in 90 of 100" in " ".join(metric_trust(rows)[2].sentences)
    rows[1]["auc"] = 0.6
    assert "link strength" not in " ".join(metric_trust(rows)[2].sentences)


@pytest.fixture(scope="module")
def logged() -> dict[tuple[str, str], tuple[str, str]]:
    """The last logged value and words of each set and figure."""
    with OPENINGS.open(encoding="utf-8", newline="") as file:
        return {(row["set"], row["figure"]): (row["value"], row["words"]) for row in csv.DictReader(file)}


def test_the_shipped_figures_are_those_that_the_benchmark_logged(logged: dict) -> None:
    for metric, figure in FIGURES.items():
        for kind, half in SETS.items():
            for who, name in (("reader", FITTED), ("rule", "rule alone")):
                value = float(logged[f"{half}, {name}", figure][0])
                assert measured()["reading"][metric][kind][who] == pytest.approx(value, abs=0.006), (metric, kind, who)
    for kind, half in SETS.items():
        right, all_ = measured()["settled"][kind]
        assert logged[f"{half}, {FITTED}", "settled references: right"][1] == f"{right} of {all_}"


def test_what_the_readers_own_chance_is_worth_is_said_where_it_was_measured() -> None:
    said = {name: decided_words(name) for name in DEFINITIONS}
    right, rows = measured()["decided"]["strategic_depth"]
    assert said["strategic_depth"] == f"right in {right} of {rows} such decisions in other games"
    assert said["coherence"] == ""
