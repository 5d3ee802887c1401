"""The names by which people know games."""

from __future__ import annotations

import pytest

from dashboard.shared.formatting import game_label


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("Harbour night", "x.json", "Harbour night"),
        ("game-1736849112050", "first try.json", "first try"),
        ("game-1736849112050", "discussion-1736850419042.json", "Game 3"),
        ("llmafia-06c8213d", "0003", "0003"),
        ("  ", "", "Game 3"),
    ],
)
def test_a_name_that_only_holds_an_id_gives_way(name: str, source: str, expected: str) -> None:
    assert game_label(name, source, 3) == expected
