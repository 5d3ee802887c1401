"""What documents promise: security's tests, pinned actions, and the names of the package."""

import re
from pathlib import Path

import pytest

import evaluation

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


README = Path(__file__).parents[2] / "README.md"


def test_all_is_sorted_and_every_name_resolves() -> None:
    assert evaluation.__all__ == sorted(evaluation.__all__)
    assert all(getattr(evaluation, name).__name__ == name for name in evaluation.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = evaluation.nonsense


def test_the_readmes_example_runs(
    data_root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = re.search(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    exec(code[1].replace("games/", str(data_root / "werewolf_gpt")), {})
    assert len(capsys.readouterr().out.splitlines()) == 4
