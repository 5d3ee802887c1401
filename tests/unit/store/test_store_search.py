"""Full-text search over the messages of a store."""

from __future__ import annotations

import pytest

from evaluation.errors import NotFoundError
from evaluation.store import Store
from evaluation.transcript import Transcript
from tests.games import game_of


def game(name: str, *said: str) -> Transcript:
    lines = [("Ann", text, {"id": f"{name}-{at}", "round": at or None}) for at, text in enumerate(said)]
    return game_of(lines, game_id=name)


@pytest.fixture
def store() -> Store:
    store = Store(":memory:")
    store.iterations.create("v1")
    store.transcripts.add(game("one", "I voted for Bob.", "Nobody did", "Skip"), source_name="1", iteration="v1")
    store.transcripts.add(game("two", "Yes, you VOTED\nfor Ann", "100 % {x} (sic)", "Straße ÉTÉ"), source_name="2")
    store.transcripts.add(game("three", "for whom have you voted?"), source_name="3")
    return store


def found(store: Store, query: str, **options: object) -> list[str]:
    return list(store.messages.search(query, **options).table["message_id"])  # type: ignore[arg-type]


def test_every_word_must_stand_in_the_message_in_any_order(store: Store) -> None:
    assert found(store, "voted for") == ["one-0", "two-0", "three-0"]
    assert found(store, "VOTED whom") == ["three-0"]
    assert found(store, "voted nowhere") == []


def test_a_phrase_in_quotes_stands_as_it_is_whatever_the_white_space(store: Store) -> None:
    assert found(store, '"voted for"') == ["one-0", "two-0"]


def test_signs_are_letters_like_any_other(store: Store) -> None:
    for query in ("100 %", "{x}", '"% {x}"', "(sic)", "%", "été", "straße"):
        assert found(store, query) in (["two-1"], ["two-2"]), query
    # Neither a pattern nor a wildcard.
    assert found(store, "v.ted") == found(store, "_oted") == found(store, "\\") == []


def test_the_answer_names_game_place_and_speaker(store: Store) -> None:
    answer = store.messages.search('"voted for"')
    assert (answer.total, answer.games, answer.phrases) == (2, 2, ("voted for",))
    first, second = answer.table.to_dict("records")
    assert (first["game"], first["iteration"], first["number"], first["speaker"]) == ("Game 1 · v1", "v1", 1, "Ann")
    assert (second["game"], second["number"], second["text"]) == ("two", 1, "Yes, you VOTED\nfor Ann")
    assert answer.table["round"].isna().all()


def test_only_an_iteration_is_searched(store: Store) -> None:
    assert found(store, "voted", iteration="v1") == ["one-0"]
    with pytest.raises(NotFoundError):
        store.messages.search("voted", iteration="v9")


def test_words_to_the_engine_are_not_found(store: Store) -> None:
    assert found(store, "skip") == []
    assert store.messages.search("skip").total == 0
