"""The proxy configurations in docs/deployment.md: whole blocks that close what the server closes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dashboard.visitors import CLOSED, UPLOADS

TEXT = (Path(__file__).parents[3] / "docs" / "deployment.md").read_text("utf-8")


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


@pytest.mark.parametrize("language", ["caddyfile", "nginx"])
def test_every_block_that_is_opened_is_closed(language: str) -> None:
    depth = 0
    lines = [line.split("#")[0].strip() for line in block(language).splitlines()]
    for line in lines:
        depth += line.endswith("{") - (line == "}")
        assert depth >= 0, line
    assert depth == 0
    if language == "nginx":
        # Each line is a directive that ends, or opens or closes a block.
        assert all(line.endswith((";", "{", "}")) for line in lines if line)
