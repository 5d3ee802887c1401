"""A page of another origin cannot show the dashboard in a frame, where it could have people press its buttons."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import expect


@pytest.fixture
def other_site(tmp_path: Path, sample_server) -> Iterator[str]:
    """A server of somebody else, with a page that frames the dashboard."""
    (tmp_path / "index.html").write_text(f'<h1>Win</h1><iframe src="{sample_server.url}/?embed=true"></iframe>')
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_page_of_another_origin_cannot_frame_the_dashboard(browser, other_site: str, sample_server) -> None:
    page = browser.new_page()
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    page.goto(other_site, wait_until="load")
    expect(page.get_by_role("heading", name="Win")).to_be_visible()
    (frame,) = page.frames[1:]
    assert frame.url.startswith("chrome-error://")
    assert any("frame-ancestors" in text for text in refused)
    # The dashboard's own pages may be shown by itself.
    page.goto(sample_server.url)
    own = page.evaluate(
        """url => new Promise(done => {
            const frame = document.createElement("iframe");
            frame.onload = () => done(frame.contentDocument !== null);
            frame.src = url;
            document.body.append(frame);
        })""",
        f"{sample_server.url}/_stcore/health",
    )
    assert own is True
    page.close()
