"""``dramaturg export`` for other people's tools, and the ratings that come back from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


def test_an_empty_database_has_no_games_to_annotate(run: Any) -> None:
    assert run("export", "argilla").exit_code == 2


@pytest.mark.parametrize("tool", ["argilla", "label-studio"])
def test_ratings_from_an_annotation_tool(run: Any, write_game: Any, tmp_path: Path, tool: str) -> None:
    run("import", write_game("one"))
    (game,) = json.loads(run("list", "--format", "json").stdout)
    run("rate", game["id"], "--rater", "Kim", "--score", "4", "--answers", "yynyy")
    exported = json.loads(run("export", tool).stdout)
    text = json.dumps(exported).replace("Kim", "Lee")
    path = tmp_path / "answers.json"
    path.write_text(text, encoding="utf-8")
    assert run("rate", "import", path).exit_code == 0
    rows = json.loads(run("export", "ratings", "--format", "json").stdout)
    assert sorted((row["rater"], row["score"]) for row in rows) == [("Kim", 4), ("Lee", 4)]
