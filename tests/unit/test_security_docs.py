"""The promises in docs/deployment.md name tests that exist, and what builds and publishes stands at what was read."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def test_every_promise_names_a_test_and_every_named_test_exists() -> None:
    page = (ROOT / "docs" / "deployment.md").read_text("utf-8")
    section = page.partition("\n## Security\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("- ")]
    assert len(rows) >= 10
    assert [row for row in rows if not NAMED.search(row)] == []
    missing = [
        f"{file}::{name}"
        for file, name in NAMED.findall(page)
        if not re.search(rf"^\s*(async )?def {name}\(", (ROOT / file).read_text("utf-8"), re.MULTILINE)
    ]
    assert missing == []


def test_actions_stand_at_commits_and_images_at_digests() -> None:
    workflows = [*(ROOT / ".github" / "workflows").glob("*.yml"), ROOT / "action.yml"]
    used = [line for path in workflows for line in re.findall(r"uses: (\S+)", path.read_text("utf-8"))]
    assert len(used) >= 20
    assert [one for one in used if not one.startswith("./") and not re.search(r"@[0-9a-f]{40}$", one)] == []
    images = re.findall(r"^FROM (\S+)", (ROOT / "Containerfile").read_text("utf-8"), re.MULTILINE)
    images += re.findall(r"image: (caddy\S+)", (ROOT / "compose.yaml").read_text("utf-8"))
    assert len(images) == 3
    assert [one for one in images if not re.search(r"@sha256:[0-9a-f]{64}$", one)] == []


def test_what_workflows_install_has_hashes() -> None:
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        for line in re.findall(r"pip install .*", path.read_text("utf-8")):
            assert "--require-hashes" in line, path
