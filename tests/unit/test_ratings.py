"""Ratings: what is kept of what a rater typed."""

from __future__ import annotations

import pytest

from evaluation.ratings import Rating


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("Nul\x00 and \x1b[31mred\x07 and \x9b", "Nul and red and "),
        ("Two\r\nlines\tand\ra third", "Two\nlines\tand\na third"),
        ("\u200eعربي, a\u200db 👩‍🚀", "\u200eعربي, a\u200db 👩‍🚀"),
        ("", ""),
    ],
)
def test_a_comment_is_kept_without_control_characters(typed: str, kept: str) -> None:
    assert Rating("one", "Ada", 4, comment=typed).comment == kept
