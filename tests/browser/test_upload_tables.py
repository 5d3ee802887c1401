"""Tables whose columns have odd names, a file that is too large, and a report that is saved, in a real browser."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.hands import choose, open_list, settle
from tests.faults.bad_files import GOOD_LOG, MIB

# As short as a heading must be.
EVIL = "![p](https://evil.example/p) <img src=x onerror=a()>"
TABLE = f"wer,was,{EVIL},tag\nAnn,Guten Morgen,{EVIL},1\nBen,Hallo Ann,x,2\n".encode()


def hand_in(seen, name: str, data: bytes) -> None:
    seen.page.locator("input[type=file]").first.set_input_files(
        files=[{"name": name, "mimeType": "text/csv", "buffer": data}]
    )
    expect(seen.page.get_by_text("What is in the files").first).to_be_visible()
    seen.settle()


def test_names_of_columns_are_plain_text_among_the_options(sample_server, visit) -> None:
    seen = visit(f"{sample_server.url}/games?part=Add")
    hand_in(seen, "evil.csv", TABLE)
    options = open_list(seen.page, "Who speaks")
    expect(options).to_have_count(5)
    assert any("evil.example" in text for text in options.all_inner_texts())
    seen.page.keyboard.press("Escape")
    expect(options).to_have_count(0)
    choose(seen.page, "Role", "3. ![p]")
    links = "[data-testid='stMain'] a[href*='evil'], [data-testid='stMain'] img[src*='evil']"
    assert seen.page.locator(links).count() == 0
    assert seen.page.locator("[role='option'] a, [role='option'] img").count() == 0
    assert seen.foreign == []
    assert seen.faults == []


def test_a_file_of_200_mb_is_refused_and_the_one_beside_it_goes_in(sample_server, visit, tmp_path) -> None:
    large, good = tmp_path / "large.json", tmp_path / "good.log"
    with large.open("wb") as stream:
        stream.truncate(200 * MIB)
    good.write_bytes(GOOD_LOG)
    page = visit(f"{sample_server.url}/games?part=Add").page
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files([large, good])
    expect(page.get_by_text("1 game to store.").first).to_be_visible()
    expect(page.get_by_text("File must be 64.0MB or smaller.").first).to_be_visible()


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


def test_what_was_typed_for_new_games_survives_a_reload_and_a_broken_entry_of_the_browser(sample_server, visit) -> None:
    seen = visit(f"{sample_server.url}/games?part=Add", height=1400)
    page = seen.page
    table = b"speaker,text\nAnn,one\nBen,two\n"
    page.evaluate("sessionStorage.setItem('dramaturg-begun', '{broken')")
    page.reload()
    hand_in(seen, "monday.csv", table)
    name, change = page.get_by_label("Name", exact=True), page.get_by_label("The one change that was made")
    expect(name).to_have_value("monday")
    name.fill("Half a name")
    change.fill("Half a change")
    choose(page, "Changed from", "Prompt v1")
    page.wait_for_url("**changed_from=Prompt+v1**")
    choose(page, "Target metric", "coherence")
    # What is chosen, not typed, is kept once the server has answered.
    page.wait_for_function("() => sessionStorage.getItem('dramaturg-begun').includes('coherence')")
    page.reload()
    expect(page.get_by_text("Choose these files again")).to_be_visible()
    expect(page.get_by_text("monday.csv", exact=True)).to_be_visible()
    hand_in(seen, "monday.csv", table)
    expect(name).to_have_value("Half a name")
    expect(change).to_have_value("Half a change")
    for label, value in (("Changed from", "Prompt v1"), ("Target metric", "Conversation coherence")):
        expect(page.get_by_test_id("stSelectbox").filter(has_text=label).get_by_role("combobox")).to_have_value(value)
    assert seen.faults == []
