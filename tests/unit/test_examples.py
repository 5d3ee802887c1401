"""The examples do what their texts say."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

from evaluation.store import Store

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_gated_chat(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    database = tmp_path / "chat.duckdb"
    monkeypatch.setattr(sys, "argv", ["gated_chat.py", "--db", str(database)])
    runpy.run_path(str(EXAMPLES / "gated_chat.py"), run_name="__main__")
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("   (sent back to michael: 1. Adherence: scored 2 of 9, needed 7.")
    assert said[1] == "michael: Let me tell you how I once saved this whole office.   [passed_after_retry]"
    assert said[2] == "dwight: Rule one: nobody leaves before the beets are counted.   [passed]"
    logged = Store(database).corrections.messages()
    assert [(one.result.agent, len(one.result.attempts)) for one in logged] == [("dwight", 1), ("michael", 2)]
