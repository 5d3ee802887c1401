"""The proxy configurations in docs/deployment.md close what the server closes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dashboard.visitors import CLOSED, UPLOADS

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "deployment.md").read_text("utf-8")


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)
    return str(found)


@pytest.mark.parametrize("language", ["caddyfile", "nginx"])
def test_a_proxy_closes_what_the_server_closes(language: str) -> None:
    text = block(language)
    for path in (*CLOSED, UPLOADS):
        assert path in text
    assert "_streamlit_user(__[0-9]+)?=" in text
    assert re.search(r"70 ?m", text, re.IGNORECASE)
    assert "secure" in text.lower()


def test_the_proxy_of_the_compose_file_is_the_one_of_the_page() -> None:
    own = (ROOT / "container" / "Caddyfile").read_text("utf-8").partition("\n")[2]
    swapped = own.replace("{$DRAMATURG_DOMAIN}", "dramaturg.example.org").replace("dashboard:8501", "127.0.0.1:8501")
    assert swapped == block("caddyfile")
