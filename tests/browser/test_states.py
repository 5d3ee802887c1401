"""Every page in each of its states, at both widths, in both themes: nothing cut off or out of reach, and a picture.

The pictures are in ``test-results/screenshots``. ``make test`` looks at some pages wide and light and then narrow and
dark, ``make test-long`` and ``make screenshots`` at all of them.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from evaluation.store import Store
from evaluation.workflows.samples import load_examples
from tests.browser.accessibility import ALL, OF_SIZE_AND_THEME, findings, unreachable
from tests.browser.hands import settle
from tests.browser.views import View, all_views
from tests.dashboard_server import Server

EMPTY, LOADING, DATA, ERROR, UNKNOWN = "empty", "loading", "data", "error", "unknown"
STATES = (EMPTY, LOADING, DATA, ERROR, UNKNOWN)
HEIGHTS = {1280: 1050, 390: 844}
SIZES = ((1280, "light"), (390, "dark"), (1280, "dark"), (390, "light"))
MOST_ABOVE = 120
"""Pixels from the top of the screen to the first content of a page."""
# axe judges contrast only where it can see, so it gets a window that holds the whole page.
TALL = 3000
GAMES = ("aiwolf/game2.log", "aiwolf/LICENSE")


# One of each kind: the picture of marks, the conversation, the desk.
SOME = {DATA: ("overview", "game", "rate")}


def cases(some: Mapping[str, Sequence[str]] | None = None) -> pytest.MarkDecorator:
    """Every view in each of the states that it has, or some of them."""
    found = [
        (state, view)
        for state in STATES
        for view in all_views()
        if view.has(state) and (some is None or view.name in some.get(state, ()))
    ]
    names = [f"{view.name}-{state}" for state, view in found]
    return pytest.mark.parametrize(("state", "view"), found, ids=names)


# Not a parameter of the fixture: pytest would start a server for every case, as each is a parameter of its own.
@pytest.fixture(scope="module")
def servers(tmp_path_factory, sample_database) -> Iterator[Callable[[str], Server]]:
    """One server for each state, from when it is first asked for. Asking for what is unknown needs one with data."""
    running: dict[str, Server] = {}

    def in_state(state: str) -> Server:
        state = DATA if state == UNKNOWN else state
        if state not in running:
            server = Server(tmp_path_factory.mktemp(state) / f"{state}.duckdb")
            hold(state, server.database, sample_database)
            server.start()
            running[state] = server
        return running[state]

    yield in_state
    for server in running.values():
        server.stop()


def hold(state: str, database: Path, samples: Path) -> None:
    """Brings a database into the state that the pages shall show, and keeps it there."""
    if state == DATA:
        shutil.copyfile(samples, database)
        store = Store(database)
        # In a thread, as the browser's driver keeps an event loop in this one.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(load_examples, store).result()
        store.close()
    elif state == ERROR:
        database.write_bytes(b"This is not a database. " * 1000)
    elif state == LOADING:
        # The process that runs the tests owns the job, is alive and does nothing, so the job stands where it is.
        store = Store(database)
        job = store.jobs.create("samples", "Loading the sample games", 21)
        store.jobs.update(job.id, done=7)
        store.close()


@pytest.fixture(scope="module")
def ids(sample_database) -> dict[str, str]:
    """A transcript with a message to open."""
    store = Store(sample_database)
    summaries = store.transcripts.summaries()
    first = summaries.loc[summaries["iteration"].notna(), "transcript_id"].iloc[-1]
    other = summaries.loc[summaries["iteration"].notna(), "transcript_id"].iloc[0]
    message = store.transcripts.get(first).discussion[4].id
    store.close()
    return {"transcript": first, "message": message, "other": other}


@dataclass
class Looker:
    """A page with what went wrong on it."""

    page: Page
    faults: list[str] = field(default_factory=list)

    def open(self, url: str) -> None:
        self.faults.clear()
        self.page.goto(url)
        settle(self.page)

    def note(self, url: str) -> None:
        """Takes down a request to anybody but the server."""
        if not url.startswith(("http://127.0.0.1", "data:", "blob:", "about:")):
            self.faults.append(f"asked {url}")

    def resize(self, width: int, theme: str, height: int) -> None:
        self.page.emulate_media(color_scheme=theme)
        self.page.set_viewport_size({"width": width, "height": height})

    def reshape(self, width: int, theme: str, height: int) -> None:
        """The same while something is shown: waits until it is drawn so."""
        self.resize(width, theme, height)
        settle(self.page)

    @property
    def overflow(self) -> int:
        return max(self.page.evaluate(_OVERFLOW))


@pytest.fixture(scope="module")
def looker(context: BrowserContext) -> Iterator[Looker]:
    """One page for all views: a browser that has the app's scripts ready opens the next one sooner."""
    opened = context.new_page()
    opened.set_default_timeout(60_000)
    seen = Looker(opened)
    opened.on("pageerror", lambda error: seen.faults.append(str(error)))
    opened.on("request", lambda request: seen.note(request.url))
    yield seen
    opened.close()


@dataclass
class Sight:
    """One view in one state, on a page that shows it."""

    looker: Looker
    url: str
    view: View
    state: str
    uploads: list[Path]

    def show(self, width: int, theme: str) -> None:
        """Opens it and waits until it shows what it shall."""
        self.looker.resize(width, theme, HEIGHTS[width])
        self.looker.open(self.url)
        if self.view.name == "games-add" and self.state == DATA:
            self.looker.page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(self.uploads)
        if self.state in (DATA, UNKNOWN):
            expect(self.looker.page.locator(self.view.ready).first).to_be_attached()
        settle(self.looker.page)

    def problems(self, folder: Path, width: int, theme: str, *, rules: Sequence[str] | None = ALL) -> list[str]:
        """Takes a picture of what is shown, and returns what is wrong with it: also what axe finds by the rules."""
        name = f"{self.view.picture(self.state)}-{width}-{theme}"
        self.looker.page.screenshot(path=folder / f"{name}.png")
        found = []
        if self.looker.overflow > 0:
            found.append(f"scrolls sideways by {self.looker.overflow}")
        found += [f"has text of {what}" for what in self.looker.page.evaluate(_ODD_SIZES)]
        if width > 1000 and (below := self.looker.page.evaluate(_HEAD)) > MOST_ABOVE:
            found.append(f"begins {below} pixels from the top")
        if rules is not None:
            self.looker.reshape(width, theme, TALL)
            found += findings(self.looker.page, rules)
        found += self.looker.faults
        found += ["shows an exception"] * self.looker.page.get_by_test_id("stException").count()
        return [f"{name}: {problem}" for problem in found]


@pytest.fixture
def sight(request, looker: Looker, view: View, state: str, ids: dict[str, str], data_root: Path) -> Sight:
    # The games alone fill the pages that every change looks at.
    is_quick = request.node.get_closest_marker("long") is None
    server = request.getfixturevalue("sample_server") if is_quick else request.getfixturevalue("servers")(state)
    url = f"{server.url}/{view.path.format(**ids)}"
    return Sight(looker, url, view, state, [data_root / name for name in GAMES])


def problems_of(sight: Sight, folder: Path, width: int, theme: str, rules: Sequence[str] = ALL) -> list[str]:
    # What shows progress is drawn again all the time, and axe takes what fades for text of little contrast.
    problems = sight.problems(folder, width, theme, rules=None if sight.state == LOADING else rules)
    if (width, theme) == SIZES[0] and sight.state in (DATA, UNKNOWN):
        problems += [f"Tab does not come to {what}" for what in unreachable(sight.looker.page)]
    return problems


@cases(SOME)
def test_screenshots_of_some_pages_are_open_to_everybody(sight, screenshots) -> None:
    sight.show(1280, "light")
    problems = problems_of(sight, screenshots, 1280, "light")
    # Made narrow and dark where it is; opened so, which draws tables in the theme's colours, by make test-long.
    sight.looker.reshape(390, "dark", HEIGHTS[390])
    assert problems + problems_of(sight, screenshots, 390, "dark", OF_SIZE_AND_THEME) == []


@pytest.mark.long
@cases()
def test_screenshots_of_all_pages_in_all_sizes(sight, screenshots) -> None:
    problems = []
    for width, theme in SIZES:
        sight.show(width, theme)
        problems += problems_of(sight, screenshots, width, theme)
    assert problems == []


# Pixels of every text on the screen that is of none of the five sizes; charts and icons included.
_ODD_SIZES = """() => {
    const odd = new Set();
    const look = (root) => root.querySelectorAll("*").forEach((node) => {
        if (node.shadowRoot) look(node.shadowRoot);
        const { fontSize, fontFamily, visibility } = getComputedStyle(node);
        const isText = [...node.childNodes].some((one) => one.nodeType === 3 && one.textContent.trim());
        if (!isText || visibility === "hidden" || fontFamily.includes("Material")) return;
        if (["STYLE", "SCRIPT"].includes(node.tagName) || !node.getBoundingClientRect().width) return;
        const size = parseFloat(fontSize);
        if (![12, 14, 16, 20, 28].includes(size)) odd.add(`${size}: ${node.textContent.trim().slice(0, 30)}`);
    });
    look(document);
    return [...odd];
}"""
_HEAD = "() => Math.round(document.querySelector('.st-key-page_head')?.getBoundingClientRect().bottom ?? 0)"
_OVERFLOW = """() => [document.documentElement, document.querySelector("[data-testid='stMain']")]
    .map((node) => node.scrollWidth - node.clientWidth)"""
