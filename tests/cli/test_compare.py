"""``dramaturg compare``: the same comparison as table, Markdown and JSON."""

from __future__ import annotations

import json
from typing import Any


def test_a_comparison_in_every_format(run: Any, write_game: Any) -> None:
    for name, good in (("v1", False), ("v2", True)):
        run("iterations", "create", name)
        run("import", *[write_game(f"{name}-{n}", good=good) for n in range(3)], "--iteration", name)
    done = run("compare", "v1", "v2")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "From v1 (3 games) to v2 (3 games)." in done.stdout
    assert "Keep or revert, against v1: cannot be decided yet" in done.stdout
    assert "Holds none of the strategic keywords" in done.stdout
    data = json.loads(run("compare", "v1", "v2", "--format", "json").stdout)
    assert [one["name"] for one in data["metrics"]][:2] == ["memory_accuracy", "strategic_depth"]
    depth = data["metrics"][1]
    # Three equal games on each side: no spread, so no test.
    assert (depth["outcome"], depth["welch"]["p"], depth["welch"]["reason"]) == (
        "cannot be tested",
        None,
        "no spread seen",
    )
    assert data["movers"][0]["examples"][0]["transcript_id"] in data["before"]["games"]
    for other in ("v9", "v1"):
        assert run("compare", "v1", other).exit_code == 2


def test_two_folders_are_compared_without_a_database_and_the_gate_fails_for_no_luck(
    run: Any, write_game: Any, tmp_path: Any, no_database: Any
) -> None:
    folders = [tmp_path / "old", tmp_path / "new"]
    for folder, good in zip(folders, (True, False), strict=True):
        folder.mkdir()
        for number in range(4):
            write_game(f"{folder.name}-{number}", good=good).rename(folder / f"{number}.json")
    done = run("compare", *folders, "--format", "markdown")
    assert done.exit_code == 0, done.output
    assert "(4 games) to `" in done.stdout
    assert "| Strategic depth |" in done.stdout
    assert not no_database.exists()
    # All games of a side are alike, so nothing can be tested, and nothing fails; a critical failure does.
    assert run("compare", *folders, "--gate").exit_code == 0
    write_game("dear", usd=9.0).rename(folders[1] / "dear.json")
    done = run("compare", *folders, "--gate")
    assert (done.exit_code, "gate: " in done.stderr) == (1, True)
    assert run("compare", *folders).exit_code == 0
    (folders[1] / "broken.json").write_text("{")
    assert run("compare", *folders, "--gate").exit_code == 2
