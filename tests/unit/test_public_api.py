"""The package's public names: complete, sorted, importable, and what the README shows works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import evaluation

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
