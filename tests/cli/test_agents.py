"""``dramaturg agents``: personas, speakers and deletions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.store import Store


def listed(run: Any) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in json.loads(run("agents", "list", "--format", "json").stdout)}


def judged(run: Any, agent: str) -> list[dict[str, Any]]:
    chosen = ("--agents", agent, "--dimensions", "fluency", "--mode", "offline", "--format", "json")
    return list(json.loads(run("persona", "run", *chosen).stdout))


def test_everybody_who_speaks_and_the_shipped_ones_are_listed(run: Any, write_game: Any) -> None:
    run("import", write_game())
    found = listed(run)
    assert list(found) == ["ann", "ben", "cid", "michael", "dwight", "jim", "lisa-carter", "oscar"]
    ann = {"id": "ann", "name": "Ann", "kind": "agent", "persona": "from transcripts, if any", "games": 1}
    assert found["ann"] == ann
    assert found["michael"]["persona"] == "shipped"
    lines = run("agents", "list").stdout.splitlines()
    assert lines[0].split() == ["Id", "Name", "Kind", "Persona", "Games"]


@pytest.mark.parametrize("name", ["gone.json", ""], ids=["missing", "folder"])
def test_a_persona_that_is_not_there_is_wrong_input(run: Any, tmp_path: Path, name: str) -> None:
    done = run("agents", "import", tmp_path / name)
    assert (done.exit_code, f"{tmp_path / name}: It cannot be read: " in done.stderr) == (2, True)


def import_names(run: Any, folder: Path, *names: str) -> Any:
    paths = [folder / f"{number}.json" for number in range(len(names))]
    for path, name in zip(paths, names, strict=True):
        path.write_text(json.dumps({"name": name, "persona": f"Given as {name}."}), encoding="utf-8")
    return run("agents", "import", *paths)


@pytest.mark.parametrize("name", ["michael", "Michael", "MICHAEL SCOTT", "Michael Scott"])
def test_an_import_finds_a_shipped_agent_by_id_or_name_and_keeps_its_name(
    run: Any, tmp_path: Path, database: Path, name: str
) -> None:
    assert import_names(run, tmp_path, name).stdout == "michael: Michael Scott\n"
    stored = Store(database).agents.get("michael")
    assert (stored.display_name, stored.persona) == ("Michael Scott", f"Given as {name}.")


@pytest.mark.parametrize("names", [("Ann", "ann"), ("michael", "Michael Scott"), ("Zo\u00eb", "Zoe\u0308")])
def test_two_files_of_one_agent_are_refused(run: Any, tmp_path: Path, database: Path, names: tuple[str, str]) -> None:
    done = import_names(run, tmp_path, *names)
    assert done.exit_code == 2
    assert f"{names[0]!r} and {names[1]!r} are one agent" in done.stderr
    assert Store(database).agents.all() == {}


def test_an_agent_whose_name_stands_for_others_is_chosen_by_its_id(
    run: Any, tmp_path: Path, write_game: Any, database: Path
) -> None:
    game = json.loads(write_game().read_text("utf-8"))
    text = json.dumps(game).replace('"Ann"', '"Ann, Ben"').replace('"Cid"', '"all"')
    path = tmp_path / "odd.json"
    path.write_text(text, encoding="utf-8")
    run("import", path)
    (all_id,) = [key for key, row in listed(run).items() if row["name"] == "all"]
    for agent, name in (("ann-ben", "Ann, Ben"), (all_id, "all")):
        assert [one["agent"]["name"] for one in judged(run, agent)] == [name]


def test_a_speaker_becomes_another_agent_and_itself_again(
    run: Any, write_game: Any, database: Path, tmp_path: Path
) -> None:
    run("import", write_game())
    file = tmp_path / "ann.json"
    file.write_text('{"name": "Ann", "persona": "Keeps bees.", "speakers": ["Ben"]}', encoding="utf-8")
    run("agents", "import", file)
    assert listed(run)["ann"]["games"] == 2
    assert "ben" not in listed(run)
    assert [each["sample_size"] for each in judged(run, "ann")] == [4]
    file.write_text('{"name": "Ann", "speakers": []}', encoding="utf-8")
    run("agents", "import", file)
    assert "ben" in listed(run)
    assert Store(database).agents.get("ann").persona == "Keeps bees."


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
