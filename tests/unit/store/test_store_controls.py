"""Controls in the store: beside their results, with their versions, missing ones found again."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.labelled_games import load_games
from evaluation.engines.scoring import evaluate_transcript
from evaluation.rubric.controls import CONTROLLED
from evaluation.rubric.link_strength import link_strengths
from evaluation.store import Store
from evaluation.workflows.reevaluation import completed, compute_missing
from tests.games import game_of

GAME = load_games()[0][1]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = Store(tmp_path / "store.duckdb")
    opened.transcripts.add(GAME, source_name="game")
    opened.results.save([evaluate_transcript(GAME)])
    return opened


def test_a_result_is_pending_until_its_control_is_computed(store: Store) -> None:
    assert store.results.load(GAME.id)["coherence"].as_dict()["control"] == {"status": "pending"}
    assert store.controls.missing() == [GAME.id]
    assert compute_missing(store, store.controls.missing()) == 1
    results = store.results.load(GAME.id)
    assert all(results[name].control for name in CONTROLLED)
    assert store.controls.missing() == []
    assert results == completed(None, evaluate_transcript(GAME)).metrics | {"engagement": results["engagement"]}


def test_coherence_rows_carry_their_link_strength(store: Store) -> None:
    compute_missing(store, [GAME.id])
    rows = {row.message_id: row for row in store.results.load(GAME.id)["coherence"].ledger}
    links = [link for link in link_strengths(GAME) if link.strength is not None]
    assert len(links) > 20
    for link in links:
        assert rows[link.message_id].details["link_strength"] == link.strength
        assert rows[link.message_id].details["link_words"] == list(link.words)


def test_a_game_without_links_is_read_with_its_controls(tmp_path: Path) -> None:
    """One public message answers nothing: there is no link, and none is stored."""
    alone = game_of([("Ann", "Is anybody here?")])
    opened = Store(tmp_path / "alone.duckdb")
    opened.transcripts.add(alone, source_name="alone")
    opened.results.save([evaluate_transcript(alone)])
    compute_missing(opened, [alone.id])
    assert opened.results.load(alone.id)["coherence"].control is not None


def test_a_control_of_another_version_does_not_stand_beside_the_score(store: Store) -> None:
    compute_missing(store, [GAME.id])
    with store.unit(write=True) as cursor:
        cursor.execute("UPDATE controls SET version = '0' WHERE metric = 'coherence'")
    assert store.results.load(GAME.id)["coherence"].control is None
    assert store.controls.missing() == [GAME.id]
