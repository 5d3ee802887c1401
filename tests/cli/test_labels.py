"""``dramaturg labels``: decisions are written as lines of JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def test_decisions_are_exported(run: Any, write_game: Any, tmp_path: Path) -> None:
    run("import", write_game())
    decide = ("--verdict", "does_not_count", "--author", "Grace", "--reason", "Only words.")
    run("override", "game-1", "strategic_depth:m1", *decide)
    (line,) = run("labels", "export").stdout.splitlines()
    label = json.loads(line)
    assert (label["message"], label["question"], label["label"], label["by"]) == (1, "strategic", False, "Grace")
    to = tmp_path / "labels.jsonl"
    assert run("labels", "export", "-o", str(to)).exit_code == 0
    assert to.read_text("utf-8").splitlines() == [line]
