"""``dramaturg labels``: decisions are written as lines of JSON, and few of them train nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from evaluation.rubric.reader.model import shipped_reader
from evaluation.store import Store


def test_decisions_are_exported_and_too_few_train_nothing(run: Any, write_game: Any, tmp_path: Path) -> None:
    run("import", write_game())
    decide = ("--verdict", "does_not_count", "--author", "Grace", "--reason", "Only words.")
    run("override", "game-1", "strategic_depth:m1", *decide)
    (line,) = run("labels", "export").stdout.splitlines()
    label = json.loads(line)
    assert (label["message"], label["question"], label["label"], label["by"]) == (1, "strategic", False, "Grace")
    to = tmp_path / "labels.jsonl"
    assert run("labels", "export", "-o", str(to)).exit_code == 0
    assert to.read_text("utf-8").splitlines() == [line]
    trained = run("labels", "train")
    assert trained.exit_code == 0
    assert "Strategic depth: 1 label; 40 are needed, from 3 games, with 10 of yes and of no." in trained.stdout
    assert "Nothing was changed." in trained.stdout


def test_a_reader_is_chosen_by_the_name_that_training_gave(run: Any, database: Path) -> None:
    refused = run("settings", "--set", "reader=own-1")
    assert refused.exit_code == 2
    assert "There is no reader 'own-1'" in refused.stderr
    assert [
        one[key]
        for one in json.loads(run("settings", "--format", "json").stdout)
        if one["name"] == "reader"
        for key in ("name", "value", "default")
    ] == ["reader", "built in", "built in"]
    store = Store(database)
    store.readers.add(replace(shipped_reader(), name="own-1", card={"is_own": True}))
    store.close()
    assert run("settings", "--set", "reader=own-1").exit_code == 0
    assert "own-1" in run("settings").stdout
    assert run("settings", "--set", "reader=").exit_code == 0
    assert "own-1" not in run("settings").stdout
