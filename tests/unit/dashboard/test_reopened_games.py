"""A long game that was open before opens again without its rows being drawn anew, unless they changed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import generate
from dashboard.shared import queries
from dashboard.shared.chat import conversation as drawing
from evaluation.readers import read_uploads
from evaluation.score import RowVerdict
from evaluation.store import Store
from evaluation.transcript import Transcript
from evaluation.workflows.scoring import add_evaluated

PACE = 8


def game(seed: int, pace: int = 1) -> Transcript:
    [document] = generate.generate(1, seed=seed, pace=pace)
    [result] = read_uploads([("game.json", json.dumps(document).encode())])
    assert result.transcript is not None
    return result.transcript


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "d.duckdb")
    add_evaluated(made, game(1, PACE), source_name="long.json")
    return made


def test_another_games_arrival_leaves_the_drawn_conversation_as_it_is(store: Store) -> None:
    [long] = store.transcripts.ids()
    before = queries.open_transcript(store, long)
    drawn = before.conversation(roles_hidden=False)
    add_evaluated(store, game(2), source_name="other.json")
    after = queries.open_transcript(store, long)
    assert after.results == before.results
    assert after.conversation(roles_hidden=False) is drawn
    assert after.conversation(roles_hidden=True).version != drawn.version


def test_another_verdict_another_name_and_a_deletion_are_seen_at_once(store: Store) -> None:
    [long] = store.transcripts.ids()
    before = queries.open_transcript(store, long)
    drawn = before.conversation(roles_hidden=False)
    row = next(one for one in before.results["coherence"].ledger if one.message_id and one.numerator)
    changed = replace(
        before.results["coherence"],
        ledger=tuple(
            replace(one, verdict=RowVerdict.DOES_NOT_COUNT, numerator=0.0) if one is row else one
            for one in before.results["coherence"].ledger
        ),
    )
    concerning = drawing.rows_by_message({**before.results, "coherence": changed})
    assert drawing.Conversation.of(before.transcript, concerning, roles_hidden=False).version != drawn.version
    store.transcripts.rename(long, "Another name")
    assert queries.open_transcript(store, long).name == "Another name"
    listed = queries.transcript_list(store)
    store.deletions.delete([long], who="Ada")
    assert len(listed) == 1
    assert queries.transcript_list(store).empty
