"""``dramaturg export`` for other people's tools, and the ratings that come back from them."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.readers import read_path


def test_a_log_of_inspect(run: Any, write_game: Any, tmp_path: Path) -> None:
    run("import", write_game("one"), write_game("two", good=False))
    path = tmp_path / "log.json"
    assert run("export", "transcripts", "--format", "inspect", "--output", path).exit_code == 0
    found = read_path(path)
    assert [result.format for result in found] == ["inspect", "inspect"]


def test_examples_for_fine_tuning(run: Any, write_game: Any) -> None:
    run("import", write_game("one"))
    done = run("export", "fine-tuning")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.exit_code == 0
    assert {line["messages"][-1]["role"] for line in lines} == {"assistant"}


def test_an_empty_database_has_no_examples(run: Any) -> None:
    assert run("export", "fine-tuning").exit_code == 2
    assert run("export", "annotations", "--tool", "argilla").exit_code == 2


@pytest.mark.parametrize("tool", ["argilla", "label-studio"])
def test_ratings_from_an_annotation_tool(run: Any, write_game: Any, tmp_path: Path, tool: str) -> None:
    run("import", write_game("one"))
    (game,) = json.loads(run("list", "--format", "json").stdout)
    run("rate", game["id"], "--rater", "Kim", "--score", "4", "--answers", "yynyy")
    exported = json.loads(run("export", "annotations", "--tool", tool).stdout)
    text = json.dumps(exported).replace("Kim", "Lee")
    path = tmp_path / "answers.json"
    path.write_text(text, encoding="utf-8")
    assert run("rate", "import", path).exit_code == 0
    rows = json.loads(run("export", "ratings", "--format", "json").stdout)
    assert sorted((row["rater"], row["score"]) for row in rows) == [("Kim", 4), ("Lee", 4)]


def test_runs_for_trackers(run: Any, write_game: Any) -> None:
    run("import", write_game("one"), "--iteration", "v1")
    run("import", write_game("two", good=False), "--iteration", "v2")
    runs = json.loads(run("export", "runs").stdout)
    assert [one["name"] for one in runs] == ["v1", "v2"]
    assert runs[0]["metrics"]["coherence/games"] == 1
    (only,) = json.loads(run("export", "runs", "--iteration", "v2").stdout)
    assert only["name"] == "v2"


@pytest.mark.parametrize("tracker", ["mlflow", "wandb"])
def test_a_tracker_that_is_not_installed_is_named_with_its_remedy(run: Any, write_game: Any, tracker: str) -> None:
    if importlib.util.find_spec(tracker) is not None:
        return
    run("import", write_game("one"))
    done = run("export", "runs", "--to", tracker)
    assert done.exit_code == 2
    assert f"pip install 'dramaturg[{tracker}]'" in done.stderr
