"""Transcripts in the store: they come back equal, are found by name and by words, and are called by their place."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given

from evaluation.engines.scoring import evaluate_transcript
from evaluation.errors import ConflictError, NotFoundError
from evaluation.readers import read_path
from evaluation.store import Store
from evaluation.transcript import Cost, Transcript
from tests.any_transcript import transcripts
from tests.games import game_of


def game(name: str = "game", *, cost: Cost | None = None, said: str = "Hello") -> Transcript:
    return game_of([("Ann", said)], ("Ann", "Bob"), game_id=name, cost=cost)


@given(given_transcript=transcripts())
def test_any_transcript_comes_back_equal(given_transcript: Transcript) -> None:
    store = SHARED
    store.transcripts.add(given_transcript, source_name="f")
    found = store.transcripts.get(given_transcript.id)
    # The time of export does not enter the id, so the first of two that differ only there is kept.
    assert found.model_copy(update={"exported_at": given_transcript.exported_at}) == given_transcript
    assert found.id == given_transcript.id


SHARED = Store(":memory:")


def test_every_real_game_comes_back_equal_and_scores_the_same(store: Store, data_root: Path) -> None:
    folders = [folder for folder in sorted(data_root.iterdir()) if folder.is_dir()]
    read = [result for folder in folders for result in read_path(folder)]
    games = [result.transcript for result in read if result.transcript is not None]
    # 26 games of Mafia and Werewolf, 15 samples of Inspect, 1 chat of TinyTroupe, 15 traces.
    assert len(games) == 26 + 15 + 1 + 15
    added = store.transcripts.add_many([(one, "f") for one in games])
    assert all(one.is_new for one in added)
    for one in games:
        assert store.transcripts.get(one.id) == one
    first = games[0]
    evaluation = evaluate_transcript(first)
    store.results.save([evaluation])
    loaded = store.results.load(first.id)
    # What is read from the store also says where no comparison with chance exists.
    assert {name: replace(one, control=None) for name, one in loaded.items()} == dict(evaluation.metrics)


@pytest.mark.parametrize(
    "hostile",
    ["\0 in \0 the middle", "'; DROP TABLE transcripts; --", "\U0001f469\u200d\U0001f4bb\u202e", "x" * 1_000_000],
    ids=["nul", "sql", "emoji", "megabyte"],
)
def test_hostile_texts_are_only_texts(store: Store, hostile: str) -> None:
    one = game(hostile[:200], said=hostile)
    store.transcripts.add(one, source_name=hostile)
    assert store.transcripts.get(one.id) == one
    assert store.transcripts.resolve(hostile[:200]) == one.id
    assert store.transcripts.summaries()["source_name"].tolist() == [hostile]
    with store.unit() as cursor:
        assert cursor.execute("SELECT text FROM messages").fetchall() == [(hostile,)]


def test_a_file_name_in_another_encoding_is_made_readable(store: Store) -> None:
    store.transcripts.add(game(), source_name="caf\udce9.json")
    assert store.transcripts.summaries()["source_name"].tolist() == ["caf?.json"]


def test_a_transcript_is_found_by_id_prefix_and_game(store: Store) -> None:
    one, other = game("one"), game("other")
    store.transcripts.add_many([(one, "f"), (other, "f")])
    assert store.transcripts.resolve(one.id) == one.id
    assert store.transcripts.resolve(one.id[:6]) == one.id
    assert store.transcripts.resolve("other") == other.id
    for unknown in ("", one.id[:3], "oth", "%", "\udcff"):
        with pytest.raises(NotFoundError, match="No stored transcript"):
            store.transcripts.resolve(unknown)


def test_a_name_that_two_transcripts_have_is_refused_with_their_ids(store: Store) -> None:
    one, other = game("same", said="one"), game("same", said="other")
    store.transcripts.add_many([(one, "f"), (other, "f")])
    with pytest.raises(ConflictError, match="could be any of 2") as caught:
        store.transcripts.resolve("same")
    assert one.id in str(caught.value)
    assert other.id in str(caught.value)


def test_transcripts_come_back_in_the_order_in_which_they_are_asked_for(store: Store) -> None:
    games = [game(said) for said in ("one", "two", "three")]
    for each in games:
        store.transcripts.add(each, source_name="x.json")
    asked = [games[2], games[0], games[2]]
    assert store.transcripts.get_many(each.id for each in asked) == asked
    assert store.transcripts.get_many([]) == []
    with pytest.raises(NotFoundError):
        store.transcripts.get_many([games[0].id, "0" * 64])


def test_summaries_tell_counts_money_and_place(store: Store) -> None:
    store.iterations.create("v1")
    paid = Cost(total_usd=1.5, input_tokens=10, cache_hit_rate=0.75)
    store.transcripts.add(game("loose"), source_name="loose.json")
    store.transcripts.add(game("paid", cost=paid), source_name="paid.json", iteration="v1")
    # All zero means that nothing was recorded, not that it was free.
    free = Cost(total_usd=0, input_tokens=0, cached_tokens=0, output_tokens=0, cache_hit_rate=0)
    store.transcripts.add(game("unknown", cost=free), source_name="unknown.json", iteration="v1")
    table = store.transcripts.summaries()
    assert table["game_id"].tolist() == ["loose", "paid", "unknown"]
    assert table["position"].tolist() == [0, 0, 1]
    assert table["players"].tolist() == [2, 2, 2]
    assert table["total_usd"].isna().tolist() == [True, False, True]
    assert table.loc[1, ["total_usd", "cache_hit_rate"]].tolist() == [1.5, 0.75]
    assert table["cache_hit_rate"].isna().tolist() == [True, False, True]
    assert abs(table["added_at"].iloc[0] - datetime.now(UTC)) < timedelta(minutes=1)
    assert store.transcripts.summaries("v1")["game_id"].tolist() == ["paid", "unknown"]


def test_a_game_is_called_by_its_place_in_its_iteration_else_by_its_title(store: Store) -> None:
    store.iterations.create("v1")
    add = store.transcripts.add_many
    first, second = (
        one.transcript_id for one in add([(game("night"), "a.json"), (game("game-06c8213d"), "b.json")], iteration="v1")
    )
    loose = [
        (game("Harbour night"), "x.json"),
        (game("game-1736849112050"), "folder/first try.json"),
        (game("game-1736849112051"), "discussion-1736850419042.json"),
        (game("llmafia-06c8213d"), "0003"),
        (game("06c8213d"), ""),
    ]
    others = [one.transcript_id for one in add(loose)]
    assert store.transcripts.game_names("v1") == {first: "Game 1 · v1", second: "Game 2 · v1"}
    names = store.transcripts.game_names()
    assert [names[key] for key in others] == ["Harbour night", "first try", "Game 3", "0003", "Game 5"]
    assert store.transcripts.name(second) == store.transcripts.summaries("v1")["game"][1] == "Game 2 · v1"
    assert store.transcripts.resolve("Game 2 · v1") == second
    store.iterations.move([first], None)
    assert store.transcripts.name(first) == "night"
    assert store.transcripts.name(second) == "Game 1 · v1"


def spoken(name: str, *said: str) -> Transcript:
    lines = [("Ann", text, {"id": f"{name}-{at}", "round": at or None}) for at, text in enumerate(said)]
    return game_of(lines, game_id=name)


@pytest.fixture
def searched() -> Store:
    searched = Store(":memory:")
    searched.iterations.create("v1")
    searched.transcripts.add(spoken("one", "I voted for Bob.", "Nobody did", "Skip"), source_name="1", iteration="v1")
    searched.transcripts.add(spoken("two", "Yes, you VOTED\nfor Ann", "100 % {x} (sic)", "Straße ÉTÉ"), source_name="2")
    searched.transcripts.add(spoken("three", "for whom have you voted?"), source_name="3")
    return searched


def found(searched: Store, query: str, **options: object) -> list[str]:
    return list(searched.messages.search(query, **options).table["message_id"])  # type: ignore[arg-type]


def test_every_word_must_stand_in_the_message_in_any_order(searched: Store) -> None:
    assert found(searched, "voted for") == ["one-0", "two-0", "three-0"]
    assert found(searched, "VOTED whom") == ["three-0"]
    assert found(searched, "voted nowhere") == []


def test_a_phrase_in_quotes_stands_as_it_is_whatever_the_white_space(searched: Store) -> None:
    assert found(searched, '"voted for"') == ["one-0", "two-0"]


def test_signs_are_letters_like_any_other(searched: Store) -> None:
    for query in ("100 %", "{x}", '"% {x}"', "(sic)", "%", "été", "straße"):
        assert found(searched, query) in (["two-1"], ["two-2"]), query
    # Neither a pattern nor a wildcard.
    assert found(searched, "v.ted") == found(searched, "_oted") == found(searched, "\\") == []


def test_the_answer_names_game_place_and_speaker(searched: Store) -> None:
    answer = searched.messages.search('"voted for"')
    assert (answer.total, answer.games, answer.phrases) == (2, 2, ("voted for",))
    first, second = answer.table.to_dict("records")
    assert (first["game"], first["iteration"], first["number"], first["speaker"]) == ("Game 1 · v1", "v1", 1, "Ann")
    assert (second["game"], second["number"], second["text"]) == ("two", 1, "Yes, you VOTED\nfor Ann")
    assert answer.table["round"].isna().all()


def test_only_an_iteration_is_searched(searched: Store) -> None:
    assert found(searched, "voted", iteration="v1") == ["one-0"]
    with pytest.raises(NotFoundError):
        searched.messages.search("voted", iteration="v9")


def test_words_to_the_engine_are_not_found(searched: Store) -> None:
    assert found(searched, "skip") == []
    assert searched.messages.search("skip").total == 0
