"""Every page in each of its states, at both widths, in both themes: nothing cut off or out of reach, and a picture.

The pictures, with a page that shows them all, are in ``test-results/screenshots``. ``make test`` takes some of them:
with data both wide and light and narrow and dark, without it narrow and dark. ``make screenshots`` takes all.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from evaluation.store import Store
from tests.browser.accessibility import findings, unreachable
from tests.browser.gallery import write_gallery
from tests.browser.views import View, all_views

EMPTY, LOADING, DATA, ERROR, UNKNOWN = "empty", "loading", "data", "error", "unknown"
STATES = (EMPTY, LOADING, DATA, ERROR, UNKNOWN)
HEIGHTS = {1280: 1050, 390: 844}
QUICK = ((1280, "light"), (390, "dark"))
SIZES = (*QUICK, (1280, "dark"), (390, "light"))
# axe judges contrast only where it can see, so it gets a window that holds the whole page.
TALL = 3000
GAMES = ("aiwolf/game2.log", "aiwolf/LICENSE")


def cases(*states: str) -> pytest.MarkDecorator:
    """Every view in each of these states that it has."""
    found = [(state, view) for state in states for view in all_views() if view.has(state)]
    names = [f"{view.name}-{state}" for state, view in found]
    return pytest.mark.parametrize(("state", "view"), found, indirect=["state"], ids=names)


@pytest.fixture(scope="module")
def state(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def server(state, make_server, tmp_path_factory, sample_database):
    running = make_server(tmp_path_factory.mktemp(state) / f"{state}.duckdb")
    hold(state, running.database, sample_database)
    running.start()
    yield running
    running.stop()


def hold(state: str, database: Path, samples: Path) -> None:
    """Brings a database into the state that the pages shall show, and keeps it there."""
    if state in (DATA, UNKNOWN):
        shutil.copyfile(samples, database)
    elif state == ERROR:
        database.write_bytes(b"This is no database. " * 1000)
    elif state == LOADING:
        # The process that runs the tests owns the job, is alive and does nothing, so the job stands where it is.
        store = Store(database)
        job = store.jobs.create("samples", "Loading the sample games", 18)
        store.jobs.update(job.id, done=7)
        store.close()


@pytest.fixture(scope="module")
def context(browser) -> Iterator[BrowserContext]:
    """One for all pages of a state, so that the app's scripts are fetched once."""
    opened = browser.new_context(reduced_motion="reduce")
    opened.set_default_timeout(60_000)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def ids(server, state) -> dict[str, str]:
    """A transcript with a message to open, where there is one."""
    if state != DATA:
        return {}
    store = server.store
    summaries = store.transcripts.summaries()
    first = summaries.loc[summaries["iteration"].notna(), "transcript_id"].iloc[-1]
    message = store.transcripts.get(first).discussion[4].id
    store.close()
    return {"transcript": first, "message": message}


@dataclass
class Looker:
    """A page with what went wrong on it."""

    page: Page
    faults: list[str] = field(default_factory=list)

    def open(self, url: str) -> None:
        self.page.goto(url)
        self.settle()

    def note(self, url: str) -> None:
        """Takes down a request to anybody but the server."""
        if not url.startswith(("http://127.0.0.1", "data:", "blob:", "about:")):
            self.faults.append(f"asked {url}")

    def settle(self) -> None:
        """Waits until the script has run to its end, nothing is greyed out and the sidebar has come to rest."""
        self.page.wait_for_selector("[data-testid='stMainBlockContainer'] h1")
        self.page.wait_for_function(_SETTLED)
        self.page.evaluate(_DRAWN)

    def resize(self, width: int, theme: str, height: int) -> None:
        self.page.emulate_media(color_scheme=theme)
        self.page.set_viewport_size({"width": width, "height": height})
        if self.page.url.startswith("http"):
            self.settle()

    @property
    def overflow(self) -> int:
        return max(self.page.evaluate(_OVERFLOW))


@pytest.fixture
def looker(context: BrowserContext) -> Iterator[Looker]:
    opened = context.new_page()
    seen = Looker(opened)
    opened.on("pageerror", lambda error: seen.faults.append(str(error)))
    opened.on("request", lambda request: seen.note(request.url))
    yield seen
    opened.close()


@pytest.fixture(scope="module", autouse=True)
def gallery(screenshots: Path) -> Iterator[None]:
    """A page with all pictures, once they are taken."""
    yield
    write_gallery(screenshots)


@dataclass
class Sight:
    """One view in one state, on a page that shows it."""

    looker: Looker
    url: str
    view: View
    state: str
    uploads: list[Path]

    def show(self, width: int, theme: str) -> None:
        """Opens it and waits until it shows what it shall. Colours of tables are those of the theme at that time."""
        self.looker.resize(width, theme, HEIGHTS[width])
        self.looker.open(self.url)
        if self.view.name == "upload" and self.state == DATA:
            self.looker.page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(self.uploads)
        if self.state in (DATA, UNKNOWN):
            expect(self.looker.page.locator(self.view.ready).first).to_be_attached()
        self.looker.settle()

    def problems(self, folder: Path, width: int, theme: str, *, with_axe: bool) -> list[str]:
        """Takes its picture; returns what is wrong with it."""
        self.show(width, theme)
        name = f"{self.view.picture(self.state)}-{width}-{theme}"
        self.looker.page.screenshot(path=folder / f"{name}.png")
        found = []
        if self.looker.overflow > 0:
            found.append(f"scrolls sideways by {self.looker.overflow}")
        if with_axe:
            self.looker.resize(width, theme, TALL)
            found += findings(self.looker.page)
        found += self.looker.faults
        found += ["shows an exception"] * self.looker.page.get_by_test_id("stException").count()
        return [f"{name}: {problem}" for problem in found]


@pytest.fixture
def sight(looker: Looker, server, view: View, state: str, ids: dict[str, str], data_root: Path) -> Sight:
    url = f"{server.url}/{view.path.format(**ids)}"
    return Sight(looker, url, view, state, [data_root / name for name in GAMES])


@cases(DATA, UNKNOWN)
def test_screenshots_with_data_are_open_to_everybody(sight, screenshots) -> None:
    problems = sight.problems(screenshots, 1280, "light", with_axe=True)
    problems += [f"Tab does not come to {what}" for what in unreachable(sight.looker.page)]
    problems += sight.problems(screenshots, 390, "dark", with_axe=True)
    assert problems == []


@cases(EMPTY, LOADING, ERROR)
def test_screenshots_without_data_are_open_to_everybody(state, sight, screenshots) -> None:
    # What shows progress is drawn anew all the time, and axe takes what fades for text of little contrast.
    assert sight.problems(screenshots, 390, "dark", with_axe=state != LOADING) == []


@pytest.mark.long
@cases(*STATES)
def test_screenshots_of_the_other_sizes(state, sight, screenshots) -> None:
    others = [size for size in SIZES if state not in (DATA, UNKNOWN) or size not in QUICK]
    problems = [sight.problems(screenshots, *size, with_axe=state != LOADING) for size in others]
    assert [problem for found in problems for problem in found] == []


_SETTLED = """() => {
    const app = document.querySelector("[data-testid='stApp']");
    const side = document.querySelector("[data-testid='stSidebar']");
    const rests = !side || innerWidth > 768 || side.getBoundingClientRect().right <= 0;
    return app && rests && app.getAttribute('data-test-script-state') !== 'running'
        && !document.querySelector("[data-stale='true'], [data-testid='stSkeleton'], [data-testid='stSpinner']");
}"""
_OVERFLOW = """() => [document.documentElement, document.querySelector("[data-testid='stMain']")]
    .map((node) => node.scrollWidth - node.clientWidth)"""
_DRAWN = """() => document.fonts.ready.then(() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))"""
