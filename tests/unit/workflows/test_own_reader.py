"""A team's own reader: decisions are labels, a convention of the team is learned, chance is not, and scores follow."""

from __future__ import annotations

import random

import pytest

from evaluation.errors import NotFoundError
from evaluation.rubric.reader.model import Reader, shipped_reader
from evaluation.rubric.reader.training import LabelledGame, Labels, tune
from evaluation.score import RowVerdict
from evaluation.store import Store
from evaluation.transcript import Transcript
from evaluation.workflows.own_reader import decided_labels, train_own_reader
from evaluation.workflows.reevaluation import outdated, reevaluate
from evaluation.workflows.scoring import add_evaluated
from tests.games import game_of

SHIPPED = shipped_reader()

NAMES = ("Ann", "Bob", "Cole", "Dora")
WORDS = ("weather", "rain", "lunch", "music", "garden", "holiday", "river", "window", "bottle", "carpet", "coffee")


def game(number: int) -> Transcript:
    """Twelve messages of small talk; every other one holds the phrase that this team means by an argument."""
    pick = random.Random(number)
    said = []
    for at in range(12):
        words = " ".join(pick.sample(WORDS, 5))
        said.append((NAMES[at % 4], f"{words}, per the ledger of obligations" if at % 2 else words))
    return game_of(said, game_id=f"game {number}", language="en", round=1)


GAMES = [game(number) for number in range(6)]


def labelled(answer: dict[int, bool] | None = None) -> list[LabelledGame]:
    return [
        LabelledGame(
            one, "own", {at: Labels(strategic=bool(at % 2) if answer is None else answer[at]) for at in range(12)}
        )
        for one in GAMES
    ]


def test_what_a_team_calls_an_argument_is_learned_and_read_in_games_it_did_not_see() -> None:
    reader, (strategic, answers) = tune(SHIPPED, labelled(), "own")
    assert strategic.labels == 72
    assert strategic.before is not None
    assert strategic.before < 0.6
    assert strategic.after is not None
    assert strategic.after > 0.9
    assert strategic.is_taken
    assert (answers.labels, answers.before, answers.is_taken) == (0, None, False)
    assert reader.is_own
    assert not SHIPPED.is_own
    again = Reader.load(reader.as_bytes())
    assert (again.name, again.is_own) == (reader.name, True)
    assert reader.name.startswith("own-")


def test_labels_by_chance_change_nothing() -> None:
    pick = random.Random(1)
    games = [LabelledGame(one, "own", {at: Labels(strategic=pick.random() < 0.5) for at in range(12)}) for one in GAMES]
    reader, (strategic, _) = tune(SHIPPED, games, "own")
    assert reader.name == SHIPPED.name
    assert not strategic.is_taken


def test_few_labels_are_not_trained_on() -> None:
    reader, (strategic, _) = tune(SHIPPED, labelled()[:2], "own")
    assert (reader.name, strategic.before) == (SHIPPED.name, None)


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


def test_a_chosen_reader_reads_new_games_and_makes_earlier_scores_outdated(store: Store) -> None:
    name, words = train_own_reader(store)
    assert name is not None
    assert "Strategic depth: 72 labels, balanced accuracy on games left out" in words
    assert "Conversation coherence: 0 labels" in words
    assert outdated(store) == []
    store.readers.choose(name)
    assert outdated(store) == [one.id for one in GAMES]
    fresh = game(9)
    add_evaluated(store, fresh, source_name="f")
    result = store.results.load(fresh.id)["strategic_depth"]
    assert (result.details["reader"], result.score) == (name, 50.0)
    assert result.definition.version.endswith(name)
    assert fresh.id not in outdated(store)
    assert reevaluate(store, outdated(store)).games == len(GAMES)
    assert outdated(store) == []
    # Trained again, it starts from the reader that ships: the same decisions give the same reader.
    assert train_own_reader(store)[0] == name
    store.readers.choose(None)
    assert len(outdated(store)) == len(GAMES) + 1


def test_without_enough_decisions_nothing_is_stored() -> None:
    store = Store(":memory:")
    add_evaluated(store, GAMES[0], source_name="f")
    name, words = train_own_reader(store)
    assert name is None
    assert words.endswith("Nothing was changed.")
    assert store.readers.names() == []
    with pytest.raises(NotFoundError, match="labels train"):
        store.readers.choose("own-nothing")
