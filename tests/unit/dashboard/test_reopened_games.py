"""A game that was open before opens again without its rows being drawn anew, unless something about it changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from dashboard.shared import queries
from evaluation.store import Store
from evaluation.workflows.scoring import add_evaluated
from tests.games import game_of


def add_game(store: Store, name: str) -> None:
    game = game_of(
        [("Ann", f"I suspect Ben in {name}."), ("Ben", "Why me?")], {"Ann": {"role": "seer"}, "Ben": {}}, game_id=name
    )
    add_evaluated(store, game, source_name=name)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "d.duckdb")
    add_game(made, "opened")
    return made


def test_another_games_arrival_leaves_the_drawn_conversation_as_it_is(store: Store) -> None:
    [opened] = store.transcripts.ids()
    before = queries.open_transcript(store, opened)
    drawn = before.conversation(roles_hidden=False)
    add_game(store, "another")
    after = queries.open_transcript(store, opened)
    assert after.results == before.results
    assert after.conversation(roles_hidden=False) == drawn
    assert after.conversation(roles_hidden=True).version != drawn.version


def test_another_name_and_a_deletion_are_seen_at_once(store: Store) -> None:
    [opened] = store.transcripts.ids()
    queries.open_transcript(store, opened)
    store.transcripts.rename(opened, "Another name")
    assert queries.open_transcript(store, opened).name == "Another name"
    assert len(queries.transcript_list(store)) == 1
    store.deletions.delete([opened], who="Ada")
    assert queries.transcript_list(store).empty
