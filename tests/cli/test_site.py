"""The documentation site builds without a warning, its pictures are there, and its reference is that of the code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

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


def test_every_picture_is_there_and_pages_load_nothing_from_elsewhere(site: Path) -> None:
    # Links and their anchors are mkdocs' own check.
    pages = [page for page in site.rglob("*.html") if page.name != "404.html"]
    assert len(pages) > 30
    loads = re.compile(r'(?:src|srcset)="([^"#]*)|<link [^>]*href="([^"]*)')
    loaded = {(page, "".join(found)) for page in pages for found in loads.findall(page.read_text("utf-8"))}
    assert [link for page, link in loaded if not (page.parent / unquote(link).partition("?")[0]).is_file()] == []


def test_the_reference_is_generated_from_code(site: Path) -> None:
    import evaluation
    from evaluation.readers._format_detection import FILE_READERS

    text = (site / "reference" / "cli.html").read_text("utf-8")
    assert [name for name in COMMANDS if f"dramaturg {name}" not in text] == []
    assert "dramaturg iterations create" in text
    anchors = re.findall(r' id="([^"]+)"', (site / "reference" / "python.html").read_text("utf-8"))
    assert set(evaluation.__all__) <= {anchor.rpartition(".")[2] for anchor in anchors}
    text = (site / "reference" / "formats.html").read_text("utf-8")
    assert [reader.format for reader in FILE_READERS if reader.format not in text] == []
