"""The documentation site builds without a warning, and every link and picture in it leads somewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from evaluation.cli.main import COMMANDS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "WARNING" not in done.stderr
    return folder


class Links(HTMLParser):
    """The anchors of a page, what it links to, and what it loads."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.anchors |= {value for key in ("id", "name") if (value := found.get(key))}
        for key in ("href", "src", "srcset"):
            if value := found.get(key):
                (self.links if tag == "a" else self.loaded).append(value)


def test_every_link_and_picture_leads_somewhere(site: Path) -> None:
    pages = {page: Links(page) for page in site.rglob("*.html") if page.name != "404.html"}
    assert len(pages) > 30
    dead = []
    for page, found in pages.items():
        for link in [*found.links, *found.loaded]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            has_anchor = not parts.fragment or target not in pages or unquote(parts.fragment) in pages[target].anchors
            if not target.exists() or not has_anchor:
                dead.append(f"{page.name}: {link}")
    assert dead == []
    # Pages open where there is no network.
    assert [link for found in pages.values() for link in found.loaded if urlsplit(link).netloc] == []


def test_the_reference_is_generated_from_code(site: Path) -> None:
    import evaluation
    from evaluation.readers._format_detection import FILE_READERS

    text = (site / "reference" / "cli.html").read_text("utf-8")
    assert [name for name in COMMANDS if f"dramaturg {name}" not in text] == []
    assert "dramaturg iterations create" in text
    anchors = Links(site / "reference" / "python.html").anchors
    known = {anchor.rpartition(".")[2] for anchor in anchors}
    assert set(evaluation.__all__) <= known
    text = (site / "reference" / "formats.html").read_text("utf-8")
    assert [reader.format for reader in FILE_READERS if reader.format not in text] == []


def test_the_site_has_both_themes_and_a_search(site: Path) -> None:
    text = (site / "agents.html").read_text("utf-8")
    assert "images/personas-dark.png#only-dark" in text
    assert "images/personas-light.png#only-light" in text
    assert "__palette_2" in text
    assert (site / "search" / "search_index.json").stat().st_size > 100_000
