"""What a person waits for in the browser: a long game that opens, a label that explains itself, a key on the desk."""

from __future__ import annotations

import json
import re
import statistics
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from benchmarks.startup import Serving
from benchmarks.table import Row
from evaluation.cli.system.doctor import chromium

RUNS = 9
WANTED_OPEN = 1.0
WANTED_KEY_MS = 50.0
WANTED_MB = 1_000.0
# A frame of 60 a second takes 16.7 ms; two of them are the first that an eye sees missing.
WANTED_FRAME_MS = 33.4
PATIENCE_MS = 120_000

_UNTIL_SEEN = f"address entered until seen, warm, median of {RUNS}"
_LAST_METRIC = ".picture-box [data-mark='6:metric:0']"
_WARNING = "[data-testid='stAlert']"
_FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")

_FRAMES = """scroller => new Promise((resolve) => {
    const times = [];
    let last = performance.now();
    const step = (now) => {
        times.push(now - last);
        last = now;
        scroller.scrollTop += 300;
        if (times.length < 90) requestAnimationFrame(step);
        else resolve(times.slice(5).sort((one, other) => one - other));
    };
    requestAnimationFrame(step);
})"""

# When the frame with the awaited element has been drawn, from the beginning of the navigation; elements of components
# stand in shadow roots. The browser measures it itself: whoever asks it from outside waits for its answers as well.
_WATCH_SIGHT = """selector => {
    const roots = [];
    const attach = Element.prototype.attachShadow;
    Element.prototype.attachShadow = function (options) {
        const root = attach.call(this, options);
        roots.push(root);
        return root;
    };
    const look = () => {
        const isThere = [document, ...roots].some((root) => root.querySelector(selector)?.getClientRects().length);
        if (isThere) requestAnimationFrame(() => setTimeout(() => { window.seenAfter = performance.now(); }));
        else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}"""

# From the moment the key came down until the frame in which its answer is marked has been drawn.
_WATCH_KEYS = """() => {
    window.keyTimes = [];
    document.addEventListener("keydown", (event) => {
        const began = event.timeStamp;
        requestAnimationFrame(() => setTimeout(() => window.keyTimes.push(performance.now() - began)));
    }, { capture: true });
}"""


def browse(server: Serving, long: Mapping[int, str]) -> Iterator[Row]:
    """The lines of the table that need a browser, and the server's memory after all of it."""
    with _page() as page:
        _open(page, f"{server.url}/", "h1")
        # Says that there is no such transcript: everything but the conversation.
        nothing = [_open(page, f"{server.url}/transcripts?transcript=0", _WARNING) for _ in range(RUNS + 1)][1:]
        yield Row(f"page without a game: {_UNTIL_SEEN}", f"{statistics.median(nothing):.2f} s")
        cockpit = [_open(page, f"{server.url}/", _LAST_METRIC) for _ in range(RUNS + 1)][1:]
        yield Row.limited(
            f"Overview with its seven metrics: {_UNTIL_SEEN}", statistics.median(cockpit), WANTED_OPEN, " s"
        )
        for messages, transcript_id in long.items():
            yield from _conversation(page, f"{server.url}/transcripts?transcript={transcript_id}", messages)
        yield _keys(page, f"{server.url}/review?rater=Benchmark")
        for name in ("upload", "transcripts", "trends", ""):
            _open(page, f"{server.url}/{name}", "[data-testid='stMainBlockContainer'] h1")
    yield Row.limited("the server's largest resident memory", _peak_mb(server.process), WANTED_MB, " MB", 0)


def _conversation(page: Page, url: str, messages: int) -> Iterator[Row]:
    what = f"{messages:,} messages"
    times = [_open(page, url, ".message") for _ in range(RUNS + 1)][1:]
    opened = statistics.median(times)
    if messages <= 500:
        yield Row.limited(f"{what}: {_UNTIL_SEEN}", opened, WANTED_OPEN, " s")
    else:
        yield Row(f"{what}: {_UNTIL_SEEN}", f"{opened:.2f} s")
    clicks = []
    for _ in range(RUNS):
        page.keyboard.press("n")
        label = page.locator(".message.chosen .badge.fails").first
        label.wait_for()
        message = page.locator(".message.chosen .number").inner_text().removeprefix("#")
        start = time.perf_counter()
        label.click()
        page.get_by_role("heading", name=f"message {message}").wait_for()
        clicks.append(time.perf_counter() - start)
    yield Row(f"{what}: click on a label until explained, median of {RUNS}", f"{statistics.median(clicks):.2f} s")
    yield Row(f"{what}: click on the strip until explained, median of {RUNS}", f"{_strip_click(page):.2f} s")
    frames = page.locator(".scroller").evaluate(_FRAMES)
    slow = frames[int(len(frames) * 0.95)]
    yield Row.limited(f"{what}: 95th percentile of a frame while scrolling", slow, WANTED_FRAME_MS, " ms", 1)


def _strip_click(page: Page) -> float:
    """Median seconds from a click on the strip until the message that it chose is explained."""
    strip = page.locator(".strip")
    box = strip.bounding_box()
    assert box is not None
    times = []
    for run in range(RUNS):
        start = time.perf_counter()
        strip.click(position={"x": 9, "y": box["height"] * (run + 1) / (RUNS + 1)})
        message = page.locator(".message.chosen .number").inner_text().removeprefix("#")
        page.get_by_role("heading", name=re.compile(rf"essage {message}$")).wait_for()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def _keys(page: Page, url: str) -> Row:
    _open(page, url, ".desk .message")
    page.evaluate(_WATCH_KEYS)
    for key in "12345" * 4:
        page.keyboard.press(key)
        expect(page.locator(f"input[name='score'][value='{key}']")).to_be_checked()
    page.wait_for_function("() => window.keyTimes.length >= 20")
    slowest = statistics.median(page.evaluate("() => window.keyTimes"))
    return Row.limited("key on the rating desk until drawn, median of 20", slowest, WANTED_KEY_MS, " ms", 1)


def _open(page: Page, url: str, selector: str) -> float:
    """Seconds from the address until the first frame that shows what ``selector`` matches."""
    with page.add_init_script(f"({_WATCH_SIGHT})({json.dumps(selector)})"):
        page.goto(url)
        page.wait_for_function("() => window.seenAfter")
    return float(page.evaluate("() => window.seenAfter")) / 1000


@contextmanager
def _page() -> Iterator[Page]:
    path = chromium()
    if path is None:
        raise SystemExit("This needs Chromium: sudo apt install chromium, or set CHROMIUM to its path.")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(_FLAGS))
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(PATIENCE_MS)
        yield page
        browser.close()


def _peak_mb(process: int) -> float:
    for line in Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise SystemExit("The operating system does not tell the peak of resident memory.")
