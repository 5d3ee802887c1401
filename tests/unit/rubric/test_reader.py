"""The reader: arrays that always say the same, decisions that keep what the rule said, and bad files refused."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from benchmarks.reader import reader_as_bytes
from evaluation.engines.scoring import evaluate_transcript
from evaluation.errors import InputError
from evaluation.rubric.discussion import Discussion
from evaluation.rubric.reader._features import BUCKETS, hashed_ngrams
from evaluation.rubric.reader.model import Reader, shipped_reader
from evaluation.score import Method, RowVerdict, Status
from evaluation.transcript import Alignment, Transcript
from tests.games import game_of


def build(said: Sequence[tuple[str, str]], roles: Mapping[str, Alignment] | None = None) -> Transcript:
    return game_of(said, {name: {"alignment": (roles or {}).get(name)} for name, _ in said}, round=1)


GAME = build(
    [
        ("Ann", "hello everybody, nice evening"),
        ("Bob", "Cole voted for Dora in round 1 and now he says he trusts her, so one of the two stories is false."),
        ("Cole", "That is not what I said, Bob. I only voted for Dora because you did."),
        ("Dora", "lol"),
        ("Ann", "I think it was raining on my holiday, anyway."),
    ],
    roles={"Ann": "town", "Bob": "town", "Cole": "mafia", "Dora": "town"},
)


def test_n_grams_of_a_text_do_not_depend_on_the_texts_beside_it() -> None:
    alone = hashed_ngrams(["you voted for bob"])
    among = hashed_ngrams(["", "something else", "you voted for bob", "bob"])
    assert np.array_equal(alone.buckets, among.buckets[among.starts[2] : among.starts[3]])
    assert alone.buckets.max() < BUCKETS
    weights, idf = np.ones((BUCKETS, 2), dtype=np.float32), np.ones(BUCKETS, dtype=np.float32)
    sums = among.sums(weights, idf)
    assert sums.shape == (4, 2)
    # With weights of one, the sum over the norm is the root of the number of distinct n-grams.
    assert sums[2, 0] == pytest.approx(len(alone.buckets) ** 0.5, rel=1e-4)


def test_the_same_discussion_is_always_read_alike() -> None:
    reader = shipped_reader()
    again = Reader.load(reader_as_bytes(reader))
    first, second = (one.read(Discussion.of(GAME)) for one in (reader, again))
    assert len(first) == 5
    for one, other in zip(first, second, strict=True):
        assert one.strategic == pytest.approx(other.strategic, abs=1e-3)
        assert 0 <= one.strategic <= 1


def test_decisions_keep_what_the_rule_said_and_the_score_to_the_letter() -> None:
    rule = evaluate_transcript(GAME, reader=None).metrics
    read = evaluate_transcript(GAME, reader=shipped_reader()).metrics
    depth = read["strategic_depth"]
    assert depth.details["by_rule"]["score"] == rule["strategic_depth"].score
    assert depth.details["reader"] == shipped_reader().name
    for row, before in zip(depth.ledger, rule["strategic_depth"].ledger, strict=True):
        assert row.id == before.id
        if row.method is Method.READER:
            assert row.details["rule"]["verdict"] == str(before.verdict)
            assert 0.4 < row.details["chance"] <= 1
    # The rule is taken in by "I think"; the case against Cole has no keyword of the rubric but is one.
    verdicts = [row.verdict for row in depth.ledger]
    assert verdicts[1] is RowVerdict.COUNTS
    assert verdicts[4] is RowVerdict.DOES_NOT_COUNT
    assert verdicts[3] is RowVerdict.DOES_NOT_COUNT


def test_references_that_only_the_reader_sees_are_open_and_make_no_game_wait() -> None:
    game = build([("Ann", "hi"), ("Bob", "You dodged every question that I asked you yesterday, Ann."), ("Ann", "no")])
    read = evaluate_transcript(game, reader=shipped_reader()).metrics["memory_accuracy"]
    added = [row for row in read.ledger if row.method is Method.READER]
    assert all(row.verdict is RowVerdict.EXCLUDED for row in added)
    assert read.status is not Status.PENDING


def test_a_file_that_is_no_reader_is_refused() -> None:
    buffer = io.BytesIO()
    np.savez(buffer, about=np.array([1, 2]))
    for content in (b"", b"PK\x03\x04", buffer.getvalue(), reader_as_bytes(shipped_reader())[:5000]):
        with pytest.raises(InputError, match="not a reader"):
            Reader.load(content, "team.npz")
