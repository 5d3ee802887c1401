"""The picture of a comparison: every kind of mark opens the messages or games behind it."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.test_cockpit import lands_on_what_is_behind, mark

ADDRESS = "compare?before=Prompt+v2&after=Prompt+v3"


def look(visit, sample_server, **size):
    seen = visit(f"{sample_server.url}/{ADDRESS}", **size)
    expect(seen.page.locator(".picture-box .row:not(.head)")).to_have_count(7)
    return seen


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.long)])
def test_every_kind_of_mark_opens_what_is_behind_it_by_mouse_and_by_key(sample_server, visit, width) -> None:
    seen = look(visit, sample_server, width=width, height=3000)
    behind = {
        "0:metric:0": "of_iteration=Prompt+v3",
        "0:before:0": "of_iteration=Prompt+v2",
        "0:after:0": "of_iteration=Prompt+v3",
        "0:before_game:2": "metric=coherence",
        "7:mover:0": "message=",
    }
    for name, expected in behind.items():
        mark(seen.page, name).click()
        found = lands_on_what_is_behind(seen.page)
        assert expected in found
        seen.page.go_back()
        expect(seen.page.locator(".picture-box .row:not(.head)")).to_have_count(7)
        seen.settle()
    mark(seen.page, "6:metric:0").focus()
    seen.page.keyboard.press("ArrowDown")
    expect(mark(seen.page, "7:mover:0")).to_be_focused()
    seen.page.keyboard.press("Enter")
    assert "message=" in lands_on_what_is_behind(seen.page)
    assert seen.faults == []
