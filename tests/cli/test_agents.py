"""``dramaturg agents``: personas, speakers and deletions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.files.bundled import persona_root
from evaluation.store import Store


def listed(run: Any) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in json.loads(run("agents", "list", "--format", "json").stdout)}


def test_everybody_who_speaks_and_the_shipped_ones_are_listed(run: Any, write_game: Any) -> None:
    run("import", write_game())
    found = listed(run)
    assert list(found) == ["ann", "ben", "cid", "michael", "dwight", "jim", "lisa-carter", "oscar"]
    assert found["ann"] == {
        "id": "ann",
        "name": "ann",
        "kind": "agent",
        "persona": "from transcripts, if any",
        "games": 1,
    }
    assert found["michael"]["persona"] == "shipped"
    lines = run("agents", "list").stdout.splitlines()
    assert lines[0].split() == ["Id", "Name", "Kind", "Persona", "Games"]


def test_a_persona_is_given_shown_and_taken_back(run: Any, write_game: Any, tmp_path: Path) -> None:
    run("import", write_game())
    text = tmp_path / "ann.txt"
    text.write_text("Ann keeps bees.\nShe says little.\n", encoding="utf-8")
    assert run("agents", "persona", "Ann").stdout == "No persona is known besides those in transcripts.\n"
    assert run("agents", "persona", "Ann", text).exit_code == 0
    assert run("agents", "persona", "ann").stdout == "Ann keeps bees.\nShe says little.\n"
    assert listed(run)["ann"]["persona"] == "given"
    run("agents", "persona", "ann", "--remove")
    assert "No persona is known" in run("agents", "persona", "ann").stdout
    assert run("agents", "persona", "jim").stdout.startswith("Jim Halpert sells paper")


def test_agent_files_are_imported(run: Any, tmp_path: Path) -> None:
    oscar = persona_root() / "tinytroupe" / "Oscar.agent.json"
    mine = tmp_path / "zoe.json"
    mine.write_text('{"name": "Zo\\u00eb \\u001b[31m", "age": 7}', encoding="utf-8")
    done = run("agents", "import", oscar, mine)
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0] == "oscar: Oscar"
    assert "\x1b" not in done.stdout
    assert run("agents", "persona", "oscar").stdout.startswith("name: Oscar\nage: 30\n")
    assert listed(run)["oscar"]["persona"] == "given"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"{", "Not valid JSON"),
        (b"[1]", "This is no mapping."),
        (b'{"a": 1}', "x.json:1: persona: It is missing. Add 'name: ...'."),
        (b'{"name": "Sur", "x": "\\ud83d"}', "half of a surrogate pair"),
        (b'{"name": "Deep", "x": ' + b"[" * 900 + b"]" * 900 + b"}", "nested deeper than 100 levels"),
        (b'{"name": "Odd", "x": -Infinity}', "$.x: -Infinity is no usable number"),
    ],
)
def test_a_file_that_is_no_agent_is_refused(run: Any, tmp_path: Path, content: bytes, expected: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    for command in (("import", path), ("persona", "jim", path)):
        done = run("agents", *command)
        assert done.exit_code == 2
        assert expected in done.stderr


@pytest.mark.parametrize("name", ["gone.json", ""], ids=["missing", "folder"])
def test_a_persona_that_is_not_there_is_wrong_input(run: Any, tmp_path: Path, name: str) -> None:
    for command in (("import", tmp_path / name), ("persona", "jim", tmp_path / name)):
        done = run("agents", *command)
        assert done.exit_code == 2
        assert f"{tmp_path / name}: It cannot be read: " in done.stderr


def test_a_speaker_becomes_another_agent_and_itself_again(run: Any, write_game: Any, database: Path) -> None:
    run("import", write_game())
    assert run("agents", "map", "Ben", "ann", "--by", "me").stderr == "Ben is ann from now on.\n"
    assert listed(run)["ann"]["games"] == 2
    assert "ben" not in listed(run)
    evaluated = run(
        "eval", "run", "--agents", "ann", "--dimensions", "fluency", "--mode", "offline", "--format", "json"
    )
    assert json.loads(evaluated.stdout)[0]["sample_size"] == 4
    run("agents", "unmap", "Ben")
    assert "ben" in listed(run)


def test_an_agent_goes_with_its_runs_only_when_one_agrees(run: Any, database: Path) -> None:
    run("eval", "run", "--agents", "jim", "--dimensions", "fluency", "--mode", "offline")
    refused = run("agents", "delete", "jim")
    assert refused.exit_code == 2
    assert "Delete Jim Halpert with 1 evaluation runs for ever?" in refused.stderr
    assert run("agents", "delete", "jim", "--yes").exit_code == 0
    assert Store(database).evaluations.runs().empty
    assert run("agents", "delete", "jim", "--yes").exit_code == 2
