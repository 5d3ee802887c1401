"""Every page says what to do while there is nothing to show."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("agreement", "Nothing to agree about yet"),
        ("network", "No games yet"),
        ("review", "Nothing to rate yet"),
        ("transcripts", "No games to read yet"),
        ("trends", "No games yet"),
        ("validity", "plants faults into your games"),
        ("verdicts", "No games yet"),
    ],
)
def test_an_empty_store_says_what_to_do(open_page, words, page: str, said: str) -> None:
    app = open_page(page, rater="Ada")
    assert not app.exception
    assert said in words(app)
    assert page not in ("network", "transcripts") or "Load the sample games" in [button.label for button in app.button]
    assert bool(app.file_uploader) is (page == "transcripts"), "adding games opens by itself while there are none"
