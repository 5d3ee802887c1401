"""A real server on a database of its own, and a real browser. Nothing here is simulated."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, WebSocket, expect, sync_playwright

from tests.browser.hands import chromium, settle
from tests.dashboard_server import Server

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "test-results" / "screenshots"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


# Of a loaded machine: a page is not to be fast here, `benchmarks/` measures that.
PATIENCE_MS = 180_000
expect.set_options(timeout=PATIENCE_MS)


_open = ExitStack()
_launched: list[Browser] = []


@pytest.fixture(scope="module")
def browser() -> Browser:
    """One for all files."""
    if not _launched:
        path = chromium()
        if path is None:
            pytest.fail("The browser tests need Chromium: sudo apt install chromium, or set CHROMIUM to its path.")
        playwright = _open.enter_context(sync_playwright())
        _launched.append(playwright.chromium.launch(executable_path=path, args=list(FLAGS)))
        _open.callback(_launched[0].close)
    return _launched[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Generator[None, None, None]:
    """Closes the browser before tests of another folder: its event loop counts as running, they could start none."""
    result = yield
    if nextitem is None or Path(__file__).parent not in nextitem.path.parents:
        _open.close()
        _launched.clear()
    return result


@pytest.fixture(scope="session")
def sample_server(tmp_path_factory: pytest.TempPathFactory, sample_database: Path) -> Iterator[Server]:
    """One server with the sample games for all tests that only look."""
    yield from _running(tmp_path_factory.mktemp("looking") / "samples.duckdb", sample_database)


@pytest.fixture(scope="module")
def stored_server(tmp_path_factory: pytest.TempPathFactory, sample_database: Path) -> Iterator[Server]:
    """The same for the tests of one file, which may change what is stored."""
    yield from _running(tmp_path_factory.mktemp("changing") / "samples.duckdb", sample_database)


@pytest.fixture(scope="module")
def empty_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server on an empty database for the tests of one file that do not mind each other."""
    yield from _running(tmp_path_factory.mktemp("empty") / "empty.duckdb", None)


def _running(database: Path, samples: Path | None) -> Iterator[Server]:
    if samples is not None:
        shutil.copyfile(samples, database)
    server = Server(database)
    server.start()
    yield server
    server.stop()


@dataclass
class Visit:
    """A page with everything that came over its websocket and everything it asked other servers for."""

    page: Page
    frames: list[bytes] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def received(self) -> bytes:
        return b"".join(self.frames)

    def settle(self) -> None:
        """Waits until nothing is drawn again any more."""
        settle(self.page)


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """One for all pages of a file, so that the app's scripts are fetched once."""
    opened = browser.new_context(reduced_motion="reduce")
    opened.set_default_timeout(PATIENCE_MS)
    yield opened
    opened.close()


@pytest.fixture
def visit(browser: Browser, context: BrowserContext) -> Iterator[Callable[..., Visit]]:
    """Opens a page and records what it does; ``apart``: in another browser than the other pages of the file."""
    opened: list[Page | BrowserContext] = []

    def open_(url: str, *, width: int = 1280, height: int = 900, theme: str = "light", apart: bool = False) -> Visit:
        home = browser.new_context(reduced_motion="reduce") if apart else context
        page = home.new_page()
        opened.append(home if apart else page)
        page.set_default_timeout(PATIENCE_MS)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=theme)
        seen = Visit(page)
        listen(seen, url.split("/", 3)[2])
        page.goto(url)
        seen.settle()
        return seen

    yield open_
    for one in opened:
        one.close()


def listen(seen: Visit, home: str) -> None:
    """Takes down what comes over the websocket, errors, and requests to anybody but the server."""
    seen.page.on("websocket", lambda socket: record(socket, seen))
    seen.page.on("pageerror", lambda error: seen.faults.append(str(error)))
    seen.page.on(
        "request",
        lambda request: None if home in request.url or is_local(request.url) else seen.foreign.append(request.url),
    )


def is_local(url: str) -> bool:
    return url.startswith(("data:", "blob:", "about:"))


def record(socket: WebSocket, seen: Visit) -> None:
    socket.on("framereceived", lambda frame: seen.frames.append(frame if isinstance(frame, bytes) else frame.encode()))


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """Where pictures of the pages go."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return SCREENSHOTS
