"""Every page with everything on it that can be pressed: no error box, no traceback, and what was started is shown."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path

import pytest
from playwright.sync_api import Download, Page, expect

from evaluation.experiments.study import Study
from evaluation.store import Store
from evaluation.workflows.persona_runs import evaluate_example
from evaluation.workflows.scoring import add_evaluated
from tests.browser.conftest import PATIENCE_MS, Visit, _running
from tests.browser.hands import choose
from tests.browser.views import View, all_views
from tests.dashboard_server import Server, dramaturg
from tests.games import game_of

_PRESSED = ", ".join(
    f"[data-testid='stMainBlockContainer'] {selector}"
    for selector in (
        "button:enabled",
        "summary",
        "[data-testid='stCheckbox'] label",
        "[data-testid='stRadio'] label",
        "[data-testid='stPopover'] button:enabled",
    )
)
# Steps of numbers, clearing and help of a field say nothing about the page; a file chooser is another program.
_LEFT_OUT = ", ".join(
    (
        "[data-testid='stNumberInput'] *",
        "[data-testid='stFileUploader'] *",
        "[data-testid='stTooltipIcon'] *",
        "[data-testid='stTooltipHoverTarget'] button[aria-label^='Help']",
        "[data-testid='stElementToolbar'] *",
        ".modebar *",
    )
)
# What is on the page: its kind with its words, numbers left out, so that a list of alike buttons is pressed once. Rows
# and marks of our own components are alike by their class where the walk is to be short.
_SIGNATURES = """(nodes, [left, isShort]) => nodes.map((node) => {
    const box = node.getBoundingClientRect();
    if (!box.width || node.closest(left)) return "";
    if (isShort && node.getRootNode() !== document) return `${node.tagName} .${node.className}`;
    const words = (node.innerText || node.getAttribute("aria-label") || node.title || "").trim();
    return words && `${node.tagName} ${words.replace(/[0-9]+/g, "#").slice(0, 80)}`;
})"""
_TEXTS = ":is([data-testid='stTextInput'] input, [data-testid='stTextArea'] textarea):enabled"
_OPEN_DIALOG = "[role='dialog'] button[aria-label='Close']"
_IS_ANOTHER = "(left) => ![null, left].includes(document.querySelector('h1')?.innerText ?? null)"
_REST = """() => {
    const app = document.querySelector("[data-testid='stApp']");
    return app && app.getAttribute('data-test-script-state') === 'notRunning'
        && app.getAttribute('data-test-connection-state') === 'CONNECTED';
}"""


@pytest.fixture(scope="module")
def pressed_server(tmp_path_factory: pytest.TempPathFactory, sample_database: Path) -> Iterator[Server]:
    yield from _running(tmp_path_factory.mktemp("pressed") / "samples.duckdb", sample_database)


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a game, evaluated agents and an experiment of one's own, and nothing else."""
    database = tmp_path_factory.mktemp("own") / "own.duckdb"
    # The browser's event loop runs in this thread, and agents are evaluated in one of their own.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(_fill_own, database).result()
    command = [dramaturg(), "experiment", "run", "debate-controversial", "--scripted", *_SMALL, "--yes"]
    subprocess.run(command, env=os.environ | {"DRAMATURG_DB": str(database)}, check=True)
    yield from _running(database, None)


def _fill_own(database: Path) -> None:
    store = Store(database)
    store.iterations.create("My prompt")
    said = [("Ann", "I suspect Ben."), ("Ben", "Why me, Ann?"), ("Ann", "You voted late."), ("Ben", "So did you.")]
    add_evaluated(store, game_of(said, game_id="mine"), source_name="mine.json", iteration="My prompt")
    evaluate_example(store)
    store.close()


_SMALL = ("--scale", "0.05", "--steps", "2")


def _pages() -> list[tuple[str, list[View]]]:
    views = [view for view in all_views() if view.has("data")]
    page = re.compile("[?].*")
    ordered = sorted(views, key=lambda view: page.sub("", view.path))
    return [(name or "overview", list(own)) for name, own in groupby(ordered, lambda view: page.sub("", view.path))]


_PRESS = "(nodes, at) => { nodes[at]?.click(); return at < nodes.length; }"


class Presser:
    """Presses everything on a page once and notes what breaks.

    Args:
        page: Of the browser.
        server: Serves it, and has its log looked at.
        is_short: Press one of alike rows and marks, and leave out what comes only when the page is opened again.
    """

    def __init__(self, page: Page, server: Server, *, is_short: bool) -> None:
        self.page, self.server, self.is_short = page, server, is_short
        self.done: set[str] = set()
        self.faults: list[str] = []
        self.downloads: list[Download] = []
        page.on("download", lambda one: self.downloads.append(one))

    def rest(self) -> None:
        self.page.wait_for_timeout(60)
        self.page.wait_for_function(_REST)

    def open(self, path: str) -> None:
        self.page.goto(f"{self.server.url}/{path}")
        self.page.wait_for_selector("[data-testid='stMainBlockContainer'] h1")
        self.page.locator(_PRESSED).first.wait_for(state="attached")
        self.rest()
        self.look("opening")

    def look(self, act: str) -> None:
        """Notes an error box of Streamlit or a traceback of the server."""
        for box in self.page.get_by_test_id("stException").all():
            self.faults.append(f"{act} at {self.page.url}: {box.inner_text()[:300]}")
        log = self.server.log.read_text("utf-8", errors="replace")
        if "Traceback" in log:
            self.faults.append(f"{act} at {self.page.url}: {log[log.index('Traceback') :][-1500:]}")
            self.server.log.write_text("")

    def press_all(self, path: str, *, text: str = "") -> None:
        """Opens a view and presses what it shows until nothing new comes; fields hold ``text`` before each press."""
        self.open(path)
        is_fresh = True
        while True:
            # First of all: what is typed into a search leaves fewer things to press.
            if text:
                self._fill(text)
            if (place := self._next()) is None:
                if is_fresh or self.is_short:
                    return
                # Another view of the page may have been left open, or what a choice brought may have gone.
                self.open(path)
                is_fresh = True
                continue
            is_fresh = False
            home = self.page.url
            number, signature = place
            # The click of a script is none of a person's, which alone make an entry of the browser's history.
            self.page.keyboard.press("Shift")
            # Looked for and pressed in one step: between two it may be drawn anew.
            if not self.page.locator(_PRESSED).evaluate_all(_PRESS, number):
                self.done.discard(signature)
                self.rest()
                continue
            self.rest()
            self.look(f"{signature!r} with {text!r}" if text else f"{signature!r}")
            if (close := self.page.locator(_OPEN_DIALOG)).count():
                close.first.click()
                self.rest()
            if self._is_away(home):
                self._back()
                self.look(f"back from {signature!r}")
            if self._is_away(home) or not self.page.locator(_PRESSED).count():
                self.open(path)

    def _back(self) -> None:
        """Goes back as a person does: half a second, where opening the page anew takes three."""
        left = self.page.locator("h1").first.inner_text()
        self.page.go_back()
        if self.page.url.startswith(self.server.url):
            # The page that is left says for a moment that it rests.
            self.page.wait_for_function(_IS_ANOTHER, arg=left)
            self.rest()

    def _is_away(self, home: str) -> bool:
        return self.page.url.split("?")[0] != home.split("?")[0]

    def _next(self) -> tuple[int, str] | None:
        for number, signature in enumerate(
            self.page.locator(_PRESSED).evaluate_all(_SIGNATURES, [_LEFT_OUT, self.is_short])
        ):
            if signature and signature not in self.done:
                self.done.add(signature)
                return number, signature
        return None

    def _fill(self, text: str) -> None:
        for field in self.page.locator(_TEXTS).all():
            if field.is_visible() and not field.input_value():
                field.fill(text)
        self.page.locator("h1").first.click(force=True)
        self.rest()


@pytest.mark.parametrize(("name", "views"), _pages(), ids=lambda value: value if isinstance(value, str) else "")
def test_nothing_on_a_page_breaks_when_it_is_pressed(name, views, pressed_server, visit) -> None:
    # The page as it opens; its other views, the phone and filled fields are among the long tests.
    _press(pressed_server, visit, views[:1], width=1280, texts=("",), is_short=True)


@pytest.mark.long
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("server", ["pressed_server", "own_server"])
@pytest.mark.parametrize(("name", "views"), _pages(), ids=lambda value: value if isinstance(value, str) else "")
def test_nothing_breaks_whatever_is_pressed(name, views, server, width, request, visit) -> None:
    _press(request.getfixturevalue(server), visit, views, width=width, texts=("", "Ada"))


def _press(
    server: Server,
    visit: Callable[..., Visit],
    views: Sequence[View],
    *,
    width: int,
    texts: Sequence[str],
    is_short: bool = False,
) -> None:
    """Presses all that these views show, with empty fields and with filled ones."""
    store = server.store
    games = store.transcripts.ids()
    store.close()
    presser = Presser(visit(server.url, width=width).page, server, is_short=is_short)
    for text in texts:
        presser.done.clear()
        for view in views:
            presser.press_all(view.path.format(transcript=games[0], message="0", other=games[-1]), text=text)
    print(f"{len(presser.done)} pressed, {len(presser.downloads)} downloads")
    assert presser.done
    assert presser.faults == []


def test_a_run_that_is_started_is_the_one_that_is_shown(pressed_server, visit) -> None:
    page = visit(f"{pressed_server.url}/experiments?start=true").page
    page.locator("summary").filter(has_text="More").click()
    page.get_by_label("Seed").fill("77")
    page.get_by_label("Seed").press("Enter")
    known = {one.id for one in pressed_server.store.experiments.all()}
    page.get_by_role("button", name="Start", exact=True).click()
    begun = _begun(page, pressed_server, known)
    assert begun.experiment.seed == 77
    expect(page).to_have_url(re.compile(f"experiment={begun.id}"))
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_an_ab_test_that_is_started_is_the_one_that_is_shown(pressed_server, visit) -> None:
    page = visit(f"{pressed_server.url}/experiments?experiments_view=A%2FB+tests&start_ab=true").page
    choose(page, "Begin with", "Two of your iterations")
    known = {one.id for one in pressed_server.store.experiments.all()}
    page.get_by_role("button", name="Run the A/B test").click()
    begun = _begun(page, pressed_server, known)
    expect(page).to_have_url(re.compile(f"ab_test={begun.id}"))
    expect(page.get_by_test_id("stException")).to_have_count(0)


def _begun(page: Page, server: Server, known: Collection[str]) -> Study:
    """Waits for the experiment that was not there before; pages name another one in their address meanwhile."""
    for _ in range(PATIENCE_MS // 100):
        if fresh := [one for one in server.store.experiments.all() if one.id not in known]:
            return fresh[0]
        page.wait_for_timeout(100)
    pytest.fail("Nothing was started.")
