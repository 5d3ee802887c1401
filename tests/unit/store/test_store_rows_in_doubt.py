"""Rows in doubt of many games: the same as those found in each whole ledger."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

import pytest

from benchmarks.labelled_games import load_games
from evaluation.engines.scoring import evaluate_transcript
from evaluation.rubric.controls import Link
from evaluation.rubric.rows_in_doubt import REVIEWED, ReviewItem, ReviewKind, most_at_stake_first, review_items
from evaluation.rubric_judge.row_decision import RowDecision
from evaluation.score import RowVerdict
from evaluation.store import Store
from evaluation.transcript import Message, Player, Transcript

by_rule = partial(evaluate_transcript, reader=None)
"""The rubric to the letter, whose answers can be told by hand."""

UNSCORED = Transcript(
    game_id="unscored",
    source_format="native",
    players=(Player(name="Ann"),),
    messages=(Message(id="m0", index=0, speaker="Ann", text="Hm."),),
)
VERDICTS = list(RowVerdict)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Three real games with link strengths by chance on two, and one game that was never scored."""
    random = Random(7)
    opened = Store(tmp_path / "test.duckdb")
    games = sorted((one for _, one in load_games()), key=lambda one: len(one.discussion))[-4:-1]
    opened.transcripts.add_many([(one, "x.json") for one in (*games, UNSCORED)])
    scored = [by_rule(one) for one in games]
    opened.results.save(scored)
    for game, evaluated in zip(games[1:], scored[1:], strict=True):
        links = [
            Link(one.id, random.choice([None, 0.0, 25.0, 60.0, 90.0, 100.0]), ("word",)) for one in game.discussion
        ]
        coherence = replace(evaluated.metrics["coherence"], control={"status": "done"})
        opened.controls.save(game.id, {"coherence": coherence}, links)
    return opened


def decide_by_chance(store: Store, random: Random) -> None:
    """Judges and people decide a tenth of the rows each; some of that is taken back."""
    for transcript_id in store.transcripts.ids()[:2]:
        rows = [row.id for name in REVIEWED for row in store.results.load(transcript_id)[name].ledger]
        decisions = [
            RowDecision(
                transcript_id,
                row_id.partition(":")[0],
                row_id,
                random.choice(VERDICTS),
                "x",
                "r",
                0.5,
                (),
                "live",
                "m",
                "k",
            )
            for row_id in random.sample(rows, len(rows) // 10)
        ]
        store.decisions.save(decisions)
        store.decisions.withdraw(transcript_id, "coherence", who="Ada")
        with store.unit(write=True):
            for row_id in random.sample(rows, len(rows) // 10):
                place = (transcript_id, row_id.partition(":")[0], row_id)
                made = store.overrides.add(*place, random.choice(VERDICTS), author="Ada", reason="Seen.")
                if random.random() < 0.3:
                    store.overrides.undo(made.id, "Ada")


def test_they_are_those_that_whole_ledgers_show_whoever_decided_the_rows(store: Store) -> None:
    ids = store.transcripts.ids()[::-1]
    for decide in (None, decide_by_chance):
        if decide:
            decide(store, Random(1))
        whole = {one: review_items(store.results.load(one)) for one in ids}
        assert {item.kind for items in whole.values() for item in items} == set(ReviewKind) - {ReviewKind.UNSURE}
        found = store.results.rows_in_doubt(ids)
        assert list(found) == [one for one in ids if whole[one]]
        for one in found:
            assert most_at_stake_first(map(plain, found[one]), lambda item: item) == [*map(plain, whole[one])]


def plain(item: ReviewItem) -> ReviewItem:
    """The item without the link strengths that its row may have."""
    details = {name: value for name, value in item.row.details.items() if not name.startswith("link_")}
    return replace(item, row=replace(item.row, details=details))
