"""Decisions of people about single messages, as labels."""

from __future__ import annotations

import random

import pytest

from evaluation.score import RowVerdict
from evaluation.store import Store
from evaluation.transcript import Message, Player, Transcript
from evaluation.workflows.decided_labels import decided_labels
from evaluation.workflows.scoring import add_evaluated

NAMES = ("Ann", "Bob", "Cole", "Dora")
WORDS = ("weather", "rain", "lunch", "music", "garden", "holiday", "river", "window", "bottle", "carpet", "coffee")


def game(number: int) -> Transcript:
    """Twelve messages of small talk; every other one holds the phrase that this team means by an argument."""
    pick = random.Random(number)
    said = []
    for at in range(12):
        words = " ".join(pick.sample(WORDS, 5))
        said.append(f"{words}, per the ledger of obligations" if at % 2 else words)
    messages = [
        Message(id=f"m{at}", index=at, round=1, speaker=NAMES[at % 4], text=text) for at, text in enumerate(said)
    ]
    return Transcript(
        game_id=f"game {number}",
        source_format="test",
        language="en",
        players=[Player(name=name) for name in NAMES],
        messages=messages,
    )


GAMES = [game(number) for number in range(6)]


@pytest.fixture
def store() -> Store:
    """Six games, each message of which a person decided: only the team's phrase argues."""
    store = Store(":memory:")
    for one in GAMES:
        add_evaluated(store, one, source_name="f")
        for at in range(12):
            verdict = RowVerdict.COUNTS if at % 2 else RowVerdict.DOES_NOT_COUNT
            store.overrides.add(
                one.id, "strategic_depth", f"strategic_depth:m{at}", verdict, author="Grace", reason="Our phrase."
            )
    return store


def test_decisions_are_labels_with_what_the_scorer_had_said(store: Store) -> None:
    labels = list(decided_labels(store))
    assert len(labels) == 72
    first = labels[0]
    assert (first["game"], first["message"], first["speaker"], first["question"]) == (
        GAMES[0].id,
        0,
        "Ann",
        "strategic",
    )
    assert (first["label"], first["by"], first["reason"]) == (False, "Grace", "Our phrase.")
    assert first["text"] == GAMES[0].messages[0].text
    assert first["scorer_said"]["verdict"] in ("counts", "does_not_count")
    # One that was taken back, or left out, is none.
    store.overrides.undo(store.overrides.list(GAMES[0].id)[0].id, "Grace")
    store.overrides.add(
        GAMES[0].id, "strategic_depth", "strategic_depth:m1", RowVerdict.EXCLUDED, author="Grace", reason="Unclear."
    )
    assert [label["message"] for label in decided_labels(store)][:3] == [2, 3, 4]
