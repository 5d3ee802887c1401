"""Planted faults, meaningless changes and the report on both."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import planted_faults
from benchmarks.labelled_games import load_games
from benchmarks.planted_faults import CHANGES, FAULTS, Noticed, breaks, fault_table, noticed, paired_auc
from benchmarks.validity import is_human_game, length_correlations, pass_rates
from evaluation.engines.scoring import SCORERS
from evaluation.rubric.controls import deal_speakers
from evaluation.transcript import Transcript
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
