"""The promises in docs/security.md name tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def test_every_promise_names_a_test_and_every_named_test_exists() -> None:
    page = (ROOT / "docs" / "security.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ") and not line.startswith("| who |")]
    assert len(rows) >= 10
    assert [row for row in rows if not NAMED.search(row)] == []
    missing = [
        f"{file}::{name}"
        for file, name in NAMED.findall(page)
        if not re.search(rf"^\s*(async )?def {name}\(", (ROOT / file).read_text("utf-8"), re.MULTILINE)
    ]
    assert missing == []
