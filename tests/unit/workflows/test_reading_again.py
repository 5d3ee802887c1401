"""Games stored earlier whose import would differ today are named when they are scored again."""

from __future__ import annotations

from pathlib import Path

from evaluation.readers import read_path, reads_differently
from evaluation.store import Store
from evaluation.transcript import Message, Transcript, build_transcript
from evaluation.workflows.reevaluation import reevaluate
from evaluation.workflows.scoring import add_evaluated
from tests.unit.readers.reading import DATA, lines, read

SAID = lines(
    {"player": "Olga", "message": "Good morning, Per.", "to": "all"},
    {"player": "Per", "message": "We take Rui tonight.", "to": "Olga"},
    {"player": "Rui", "message": "Who was it?", "to": "all"},
)


def all_public(transcript: Transcript) -> Transcript:
    """The game as it was read before recipients decided who hears a message."""
    body = {name: getattr(transcript, name) for name in Transcript.model_fields}
    messages = [
        build_transcript(Message, {name: getattr(one, name) for name in Message.model_fields} | {"channel": "public"})
        for one in transcript.messages
    ]
    return build_transcript(Transcript, body | {"messages": tuple(messages)})


def test_a_game_that_would_be_read_differently_today_is_named(tmp_path: Path) -> None:
    today = read(SAID)
    earlier = all_public(today)
    assert [reads_differently(one) for one in (today, earlier)] == [False, True]
    store = Store(tmp_path / "x.duckdb")
    for game in (today, earlier):
        add_evaluated(store, game, source_name="x", iteration=None)
    done = reevaluate(store, store.transcripts.ids())
    assert done.differing == (earlier.id,)
    assert f"read 1 game differently: {earlier.id[:8]}. Import the files again." in done.words
    store.close()


def test_no_game_that_is_read_today_would_be_read_differently() -> None:
    games = [found.transcript for found in read_path(DATA) if found.transcript is not None]
    assert len(games) > 40
    assert [game.game_id for game in games if reads_differently(game)] == []
