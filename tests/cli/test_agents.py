"""``dramaturg agents``: personas, speakers and deletions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.files.bundled import persona_root
from evaluation.simulation.scripted.server import ScriptedServer
from evaluation.simulation.scripted.world import ScriptedWorld
from evaluation.store import Store


def listed(run: Any) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in json.loads(run("agents", "list", "--format", "json").stdout)}


def test_everybody_who_speaks_and_the_shipped_ones_are_listed(run: Any, write_game: Any) -> None:
    run("import", write_game())
    found = listed(run)
    assert list(found) == ["ann", "ben", "cid", "michael", "dwight", "jim", "lisa-carter", "oscar"]
    assert found["ann"] == {
        "id": "ann",
        "name": "Ann",
        "kind": "agent",
        "persona": "from transcripts, if any",
        "games": 1,
    }
    assert found["michael"]["persona"] == "shipped"
    lines = run("agents", "list").stdout.splitlines()
    assert lines[0].split() == ["Id", "Name", "Kind", "Persona", "Games"]


def test_agent_files_are_imported(run: Any, tmp_path: Path, database: Path) -> None:
    oscar = persona_root() / "tinytroupe" / "Oscar.agent.json"
    mine = tmp_path / "zoe.json"
    mine.write_text('{"name": "Zo\\u00eb \\u001b[31m", "age": 7}', encoding="utf-8")
    done = run("agents", "import", oscar, mine)
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0] == "oscar: Oscar"
    assert "\x1b" not in done.stdout
    assert Store(database).agents.get("oscar").persona["age"] == 30
    assert listed(run)["oscar"]["persona"] == "given"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"{", "Not valid JSON"),
        (b"[1]", "This is not a mapping."),
        (b'{"a": 1}', "x.json:1: persona: It is missing. Add 'name: ...'."),
        (b'{"name": "Sur", "x": "\\ud83d"}', "half of a surrogate pair"),
        (b'{"name": "Deep", "x": ' + b"[" * 900 + b"]" * 900 + b"}", "nested deeper than 100 levels"),
        (b'{"name": "Odd", "x": -Infinity}', "$.x: -Infinity is not a usable number"),
    ],
)
def test_a_file_that_is_no_agent_is_refused(run: Any, tmp_path: Path, content: bytes, expected: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    done = run("agents", "import", path)
    assert done.exit_code == 2
    assert expected in done.stderr


@pytest.mark.parametrize("name", ["gone.json", ""], ids=["missing", "folder"])
def test_a_persona_that_is_not_there_is_wrong_input(run: Any, tmp_path: Path, name: str) -> None:
    done = run("agents", "import", tmp_path / name)
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
    assert run("agents", "map", "Ben").stderr == "Ben is an agent by name from now on.\n"
    assert "ben" in listed(run)


def test_an_agent_goes_with_its_runs_only_when_one_agrees(run: Any, database: Path) -> None:
    run("eval", "run", "--agents", "jim", "--dimensions", "fluency", "--mode", "offline")
    refused = run("delete", "--agent", "jim")
    assert refused.exit_code == 2
    assert "Delete Jim Halpert with 1 evaluation run for ever?" in refused.stderr
    assert run("delete", "--agent", "jim", "--yes").exit_code == 0
    assert Store(database).evaluations.runs().empty
    assert run("delete", "--agent", "jim", "--yes").exit_code == 2
    assert run("delete", "--yes").exit_code == 2


def test_personas_are_read_in_every_documented_shape(run: Any, tmp_path: Path, database: Path) -> None:
    files = {
        "ann-lee.txt": "Ann keeps bees.",
        "bo.json": '{"name": "Bo", "persona": "Bo sells tea."}',
        "cy.json": '{"name": "Cy", "persona": {"trade": "baker"}}',
        "di.agent.json": '{"type": "TinyPerson", "persona": {"name": "Di", "age": 9}}',
        "ed.json": '{"name": "Ed", "age": 4}',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = run("agents", "import", *(tmp_path / name for name in files))
    assert done.exit_code == 0, done.stderr
    agents = Store(database).agents
    assert {each: agents.get(each).persona for each in ("ann-lee", "bo", "cy", "di", "ed")} == {
        "ann-lee": "Ann keeps bees.",
        "bo": "Bo sells tea.",
        "cy": {"name": "Cy", "trade": "baker"},
        "di": {"name": "Di", "age": 9},
        "ed": {"name": "Ed", "age": 4},
    }


def test_agents_of_a_population_are_made_once_for_a_seed(run: Any, tmp_path: Path) -> None:
    mine = tmp_path / "sailors.yaml"
    mine.write_text("title: Sailors\ndescription: People at sea.\nmust_cover: All ranks.\n", encoding="utf-8")
    server = ScriptedServer(ScriptedWorld().answer)
    with server.in_thread():
        options = ("--profile", mine, "--n", 3, "--seed", 4, "--base-url", server.url, "--model", "scripted")
        assert "About 6 calls" in run("agents", "generate", tmp_path / "a", *options, "--estimate").stdout
        stopped = run("agents", "generate", tmp_path / "a", *options, "--max-calls", 4)
        assert stopped.exit_code == 3
        assert not (tmp_path / "a").exists()
        done = run("agents", "generate", tmp_path / "a", *options, "--max-calls", 2)
        assert done.exit_code == 0, done.stderr
        again = run("agents", "generate", tmp_path / "b", *options, "--max-calls", 0)
        assert again.exit_code == 0, again.stderr
    files = {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()}
    assert len(files) == 3
    assert {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()} == files
    assert run("agents", "import", *(tmp_path / "a").iterdir()).exit_code == 0
    mine.write_text("title: Sailors\ndescribed: x\n", encoding="utf-8")
    refused = run("agents", "generate", tmp_path / "c", *options)
    assert refused.exit_code == 2
    assert "sailors.yaml:2: described" in refused.stderr
