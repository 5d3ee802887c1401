"""Tables whose columns have odd names, a file that is too large, and a report that is saved, in a real browser."""

from __future__ import annotations

import json

from playwright.sync_api import expect

from tests.browser.hands import choose, open_list
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


def test_names_of_columns_are_plain_text_among_the_options(empty_server, visit) -> None:
    seen = visit(f"{empty_server.url}/games?part=Add")
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


def test_chosen_columns_make_a_game_and_its_report_can_be_saved(empty_server, visit) -> None:
    seen = visit(f"{empty_server.url}/games?part=Add")
    hand_in(seen, "german.csv", b"wer,was,tag\nAnn,Guten Morgen,1\nBen,Hallo Ann,2\n")
    choose(seen.page, "Who speaks", "1. wer")
    choose(seen.page, "What is said", "2. was")
    expect(seen.page.get_by_text("1 game to store.").first).to_be_visible()
    seen.page.get_by_text("No iteration", exact=True).click()
    seen.page.get_by_role("button", name="Score and store 1 game").click()
    expect(seen.page.get_by_text("done, 1 of 1").first).to_be_visible()
    seen.settle()
    # The game that was just added is one click away.
    expect(seen.page.get_by_role("link", name="Open the game")).to_be_visible()
    seen.page.reload()
    seen.settle()
    seen.page.get_by_text("Earlier imports", exact=True).click()
    expect(seen.page.get_by_text("1 game: 1 stored.").first).to_be_visible()
    with seen.page.expect_download() as caught:
        seen.page.get_by_role("button", name="Save as JSON").click()
    report = json.loads(caught.value.path().read_text("utf-8"))
    assert [(line["name"], line["outcome"]) for line in report["files"]] == [("german.csv", "stored")]


def test_a_file_of_200_mb_is_refused_and_the_one_beside_it_goes_in(empty_server, visit, tmp_path) -> None:
    large, good = tmp_path / "large.json", tmp_path / "good.log"
    with large.open("wb") as stream:
        stream.truncate(200 * MIB)
    good.write_bytes(GOOD_LOG)
    page = visit(f"{empty_server.url}/games?part=Add").page
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files([large, good])
    expect(page.get_by_text("1 game to store.").first).to_be_visible()
    expect(page.get_by_text("File must be 64.0MB or smaller.").first).to_be_visible()


def test_a_backup_is_downloaded_whole(sample_server, visit) -> None:
    seen = visit(f"{sample_server.url}/settings")
    with seen.page.expect_download() as caught:
        seen.page.get_by_role("button", name="Download a backup").click()
    assert caught.value.suggested_filename.endswith(".duckdb")
    assert caught.value.path().stat().st_size > 100_000
