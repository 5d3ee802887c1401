"""Every page says what to do while there is nothing to show."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("games", "No games yet"),
        ("rate", "Nothing to rate yet"),
        ("team", "No games here"),
        ("trends", "No games yet"),
    ],
)
def test_an_empty_store_says_what_to_do(open_page, words, page: str, said: str) -> None:
    app = open_page(page, rater="Ada")
    assert not app.exception
    assert said in words(app)
    assert bool(app.file_uploader) is (page == "games"), "adding games opens by itself while there are none"
