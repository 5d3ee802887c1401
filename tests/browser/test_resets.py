"""Inputs that a button, another choice or another tab sets: what the browser shows is what is chosen."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.hands import choose, settle
from tests.browser.test_upload_tables import hand_in


def test_back_to_the_defaults_shows_them_and_the_next_save_stores_no_old_number(stored_server, visit) -> None:
    page = visit(f"{stored_server.url}/settings").page
    coherence, depth = (
        page.get_by_label(f"{name} (%)", exact=True) for name in ("Conversation coherence", "Strategic depth")
    )
    coherence.fill("91")
    coherence.press("Enter")
    page.get_by_role("button", name="Save thresholds").click()
    expect(page.get_by_text("The thresholds are stored.").first).to_be_visible()
    settle(page)
    page.get_by_role("button", name="Back to the defaults").first.click()
    expect(coherence).not_to_have_value("91")
    settle(page)
    default = coherence.input_value()
    depth.fill("33")
    depth.press("Enter")
    settle(page)
    page.get_by_role("button", name="Save thresholds").click()
    settle(page)
    # What is drawn anew stands beside what was there for a moment, so no single button can be looked at.
    expect(page.locator("button:enabled").filter(has_text="Save thresholds")).to_have_count(0)
    assert coherence.input_value() == default
    stored = stored_server.store.settings.thresholds()
    assert (f"{stored['coherence']:g}", stored["strategic_depth"]) == (default, 33.0)


def test_the_column_editor_shows_what_the_names_suggest_again(sample_server, visit) -> None:
    seen = visit(f"{sample_server.url}/games?part=Add")
    hand_in(seen, "a.csv", b"speaker,text,note\nAnn,one,two\nBen,three,four\n")
    page = seen.page
    page.get_by_text("Columns of 1 table").click()
    settle(page)
    box = page.get_by_test_id("stSelectbox").filter(has_text="What is said")
    choose(page, "What is said", "3. note")
    expect(box.get_by_role("combobox")).to_have_value("3. note")
    page.get_by_role("button", name="Back to what the names suggest").click()
    expect(box.get_by_role("combobox")).to_have_value("2. text")
    # An editor that closed under the hand took its time to do so.
    page.wait_for_timeout(2000)
    expect(box).to_be_visible()


def test_another_iteration_is_shown_against_its_own_reference(sample_server, visit) -> None:
    page = visit(f"{sample_server.url}/?iteration=Prompt+v3").page
    shown = page.get_by_test_id("stSelectbox").filter(has_text="Compared with").get_by_role("combobox")
    own = shown.input_value()
    choose(page, "Compared with", "Prompt v4")
    expect(shown).to_have_value("Prompt v4")
    choose(page, "Iteration", "Prompt v2")
    expect(shown).to_have_value("Prompt v1")
    choose(page, "Iteration", "Prompt v3")
    expect(shown).to_have_value(own)
