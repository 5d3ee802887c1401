"""Large files in a real browser and a real server, whose memory comes back."""

from __future__ import annotations

import threading

import psutil
import pytest
from playwright.sync_api import expect

from tests.faults.bad_files import GOOD_LOG, MIB, many_rows

ROWS = 100_000
PATIENCE_MS = 240_000
# What one file of that many messages takes while its games are held is several times as much.
SPARE_MIB = 100


def pick(page, *files) -> None:
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(list(files))


def resident(server) -> int:
    """The server's memory in MiB."""
    return psutil.Process(server.process.pid).memory_info().rss // MIB


def wait_until_below(server, level: int) -> None:
    pause = threading.Event()
    for _ in range(300):
        if resident(server) < level:
            return
        pause.wait(0.2)
    pytest.fail(f"The server still holds {resident(server)} MiB, more than {level} MiB.")


@pytest.mark.long
def test_the_memory_of_100000_messages_comes_back(empty_server, visit, tmp_path) -> None:
    server = empty_server
    games, good = tmp_path / "games.csv", tmp_path / "good.log"
    games.write_bytes(many_rows(ROWS, games=4))
    good.write_bytes(GOOD_LOG)
    page = visit(f"{server.url}/games?part=Add").page
    # The first upload loads what any upload needs.
    pick(page, good)
    expect(page.get_by_text("1 game to store.").first).to_be_visible()
    page.get_by_test_id("stFileChipDeleteBtn").get_by_role("button").click()
    expect(page.get_by_text("1 game to store.")).to_be_hidden()
    before = resident(server)
    pick(page, games)
    expect(page.get_by_text("4 games to store.").first).to_be_visible(timeout=PATIENCE_MS)
    page.get_by_test_id("stFileChipDeleteBtn").get_by_role("button").click()
    expect(page.get_by_text("4 games to store.")).to_be_hidden()
    wait_until_below(server, before + SPARE_MIB)
