"""The training of the reader that ships."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.reader import NEVER, licence_limit, train
from benchmarks.reader_examples import LabelledGame, Labels
from evaluation.rubric.discussion import Discussion
from tests.unit.rubric.test_proof import build


@pytest.mark.long
def test_a_reader_learns_what_it_is_shown() -> None:
    texts = [
        ("Ann", "because the vote shows it"),
        ("Bob", "ok"),
        ("Ann", "so the reason is plain"),
        ("Bob", "haha"),
    ] * 6
    game = build(texts)
    labels = {
        one.index: Labels("ok" not in one.text and "haha" not in one.text, (), frozenset()) for one in game.discussion
    }
    reader = train([LabelledGame(game, "a", labels), LabelledGame(game, "b", labels)], "team")
    said = reader.read(Discussion.of(game))
    assert [one.strategic >= 0.5 for one in said[:4]] == [True, False, True, False]
    assert reader.name.startswith("team-")
    # One source of games and few rows give no licence for anything.
    assert all(one.limit > 1 for name, one in reader.licences.items() if name != "reference")


def test_a_licence_is_the_lowest_chance_beyond_which_sources_are_right_on_average() -> None:
    chances = np.repeat(np.array([0.95, 0.85, 0.75, 0.65], dtype=np.float32), 20)
    sources = np.array(["a", "b"] * 40)
    right = np.ones(80, dtype=bool)
    # From 0.65 on 65 of 80 rows are right, from 0.75 on 57 of 60.
    right[60:75] = False
    right[40:46:2] = False
    limit, told = licence_limit(chances, right, sources, 0.85)
    assert 0.65 < limit <= 0.75
    assert (told["right"], told["said"]) == (57, 60)


def test_many_rows_of_one_source_do_not_outvote_the_others_and_one_bad_source_does_not_forbid_all() -> None:
    chances = np.full(100, 0.9, dtype=np.float32)
    large = np.array(["a"] * 90 + ["b"] * 10)
    right = np.array([True] * 90 + [False] * 10)
    # 90 of 100 rows are right, but on average a source has one half.
    assert licence_limit(chances, right, large)[0] == NEVER
    even = np.array([name for name in "abcdefghij" for _ in range(10)])
    assert licence_limit(chances, right, even)[0] == 0.5


@pytest.mark.parametrize(("source", "rows"), [("synthetic 1", 50), ("real", 29)])
def test_rows_of_written_games_alone_and_few_rows_give_no_licence(source: str, rows: int) -> None:
    chances, sources = np.full(rows, 0.9, dtype=np.float32), np.array([source] * rows)
    assert licence_limit(chances, np.ones(rows, dtype=bool), sources)[0] == NEVER
