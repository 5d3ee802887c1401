"""Errors on pages: the library's words, without what helps in a terminal alone."""

from __future__ import annotations

import pytest

from dashboard.shared.notices import words_of
from evaluation.errors import InputError, LimitError


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (InputError("No game.", remedy="See them with: dramaturg list."), "No game."),
        (
            InputError("None", remedy="Choose from: a, b. Import one with: dramaturg agents import."),
            "None. Choose from: a, b.",
        ),
        (
            InputError("Gone", remedy="Restore the file, or make it again with `dramaturg persona baseline`."),
            "Gone. Restore the file.",
        ),
        (
            LimitError.beyond("file", "Too large", advice="Split it"),
            "Too large. Split it, or raise limit.file (Settings, Import limits).",
        ),
        (
            InputError(
                "Old", remedy="Export it, with dramaturg export x -o games.zip and dramaturg export y -o r.csv."
            ),
            "Old. Export it.",
        ),
        (InputError(r"No 'a\u202eb'."), "No 'a\N{REPLACEMENT CHARACTER}b'."),
        (
            InputError("Too long", place="name", remedy="Shorten it; it is kept."),
            "name: Too long. Shorten it; it is kept.",
        ),
    ],
)
def test_an_error_on_a_page_names_no_command_and_no_escape(error: InputError, words: str) -> None:
    assert words_of(error) == words
