"""The training of the reader that ships."""

from __future__ import annotations

import pytest

from benchmarks.reader import train
from evaluation.rubric.discussion import Discussion
from evaluation.rubric.reader.training import LabelledGame, Labels
from tests.unit.rubric.test_reader import build


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
        one.index: Labels("ok" not in one.text and "haha" not in one.text, frozenset(), (), frozenset())
        for one in game.discussion
    }
    reader = train([LabelledGame(game, "a", labels), LabelledGame(game, "b", labels)], "team")
    said = reader.read(Discussion.of(game))
    assert [one.strategic >= reader.heads["strategic"].threshold for one in said[:4]] == [True, False, True, False]
    assert reader.name.startswith("team-")
