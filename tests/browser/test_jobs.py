"""A long upload in a real server: another tab, another page, kill -9, and on from there."""

from __future__ import annotations

import json
import re
import zipfile
from collections import Counter
from pathlib import Path

from playwright.sync_api import Page, expect

from benchmarks.generate import generate
from evaluation.store import JobState, Store
from tests.browser.hands import settle
from tests.waiting import wait_until

MANY = 60
# Cancelled soon, and far from done by then also on a fast machine.
TOO_MANY = 300
RUNNING = re.compile(f"Scoring uploaded games: [1-9][0-9]* of {MANY}")
PATIENCE_MS = 240_000


def upload(page: Page, folder: Path, count: int, seed: int) -> None:
    bundle = folder / "games.zip"
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, document in enumerate(generate(count, seed=seed)):
            archive.writestr(f"game-{number}.json", json.dumps(document))
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(bundle)
    page.get_by_text("No iteration", exact=True).click(timeout=PATIENCE_MS)
    page.get_by_role("button", name=f"Score and store {count} games").click()


def scorings(store: Store) -> list[tuple[int, str, str]]:
    """Every scoring that was ever stored: its number, the game and the metric."""
    with store.unit() as cursor:
        return cursor.execute("SELECT result_id, transcript_id, metric FROM metric_results ORDER BY 1").fetchall()


def test_a_job_is_cancelled_though_the_next_click_follows_at_once_and_what_is_done_stays(
    empty_server, visit, tmp_path: Path
) -> None:
    server = empty_server
    page = visit(f"{server.url}/games?part=Add").page
    upload(page, tmp_path, TOO_MANY, 1)
    page.get_by_role("button", name="Cancel").click()
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Agents").click()
    page.wait_for_url("**/agents*")
    # How it ended is told on the page that saw it first, which may be the one that was left.
    wait_until(lambda: server.store.jobs.list()[0].state is not JobState.RUNNING, PATIENCE_MS / 1000)
    (job,) = server.store.jobs.list()
    assert (job.state, job.done) == (JobState.CANCELLED, len(server.store.transcripts.summaries()))
    assert job.done < TOO_MANY


def test_a_job_survives_the_server_and_goes_on_in_a_tab_that_was_open(empty_server, visit, tmp_path: Path) -> None:
    server = empty_server
    others = len(server.store.transcripts.summaries())
    second = visit(f"{server.url}/trends").page
    first = visit(f"{server.url}/games?part=Add").page
    upload(first, tmp_path, MANY, 2)
    expect(first.get_by_text(RUNNING).first).to_be_visible(timeout=PATIENCE_MS)
    assert server.process is not None
    server.process.kill()
    server.process.wait()
    job = server.store.jobs.list()[0]
    assert job.state is JobState.INTERRUPTED
    assert 0 < job.done < MANY
    before = scorings(server.store)
    # The game that was being stored when the server died may be there though nobody counted it.
    stored = len(server.store.transcripts.summaries()) - others
    assert stored in (job.done, job.done + 1)
    server.store.close()

    # The open tab finds the server again by itself.
    server.start()
    said = f"Scoring uploaded games: interrupted, {job.done} of {MANY} done."
    expect(second.get_by_text(said).first).to_be_visible(timeout=PATIENCE_MS)
    settle(second)
    second.get_by_role("button", name=f"Go on with the other {MANY - job.done}").click()
    done = second.get_by_text(f"Scoring uploaded games: done, {MANY} of {MANY}.")
    expect(done.first).to_be_visible(timeout=PATIENCE_MS)

    after = scorings(server.store)
    assert after[: len(before)] == before
    assert set(Counter((game, metric) for _, game, metric in after).values()) == {1}
    assert len(server.store.transcripts.summaries()) == others + MANY
    assert server.store.jobs.get(job.id).done == MANY
