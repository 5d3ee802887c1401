"""Templates: untrusted text stays text in every place, unknown names are errors, and the wheel carries them all."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.files.html_templates import environment, render

ROOT = Path(__file__).parents[3]
_FOUND = (ROOT / "evaluation").rglob("*.j2")
TEMPLATES = sorted(path.relative_to(ROOT / "evaluation").as_posix() for path in _FOUND if path.stem[-4:] != "toml")


class Seen(HTMLParser):
    """Elements, attributes and words of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.words += data


@given(st.text())
def test_text_never_becomes_markup(text: str) -> None:
    seen = Seen(environment().from_string('<p title="{{ text }}">{{ text }}</p>').render(text=text))
    assert seen.tags == ["p"]
    assert [name for name, _ in seen.attributes] == ["title"]


def test_control_characters_are_left_out_and_line_ends_stay() -> None:
    page = environment().from_string("{{ text }}").render(text="a\r\nb\x07\x1b[31m\u202e<c>")
    assert page == "a\nb&lt;c&gt;"


def test_a_document_may_load_and_run_nothing_and_shows_its_title_as_text() -> None:
    page = render("report/templates/report.html.j2", title="<b>Title</b>", sections=[], made="")
    assert page.startswith("<!doctype html>\n<html lang")
    seen = Seen(page)
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in seen.attributes
    assert "b" not in seen.tags
    assert seen.words.count("<b>Title</b>") == 2


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_is_valid_used_and_trusts_no_value(name: str) -> None:
    source = (ROOT / "evaluation" / name).read_text("utf-8")
    environment().get_template(name)
    assert not re.search(r"\|\s*safe\b|autoescape", source)
    others = [path for path in (ROOT / "evaluation").rglob("*") if path.suffix in (".py", ".j2")]
    assert any(f'"{name}"' in path.read_text("utf-8") for path in others)


def test_the_wheel_carries_every_template(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    needed = {f"evaluation/{name}" for name in TEMPLATES} | {"evaluation/report/templates/report.css"}
    assert TEMPLATES
    assert needed <= set(zipfile.ZipFile(wheel).namelist())
