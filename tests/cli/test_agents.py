"""``dramaturg agents``: personas, speakers and deletions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evaluation.store import Store
from evaluation.workflows.agents import KnownAgents


def judged(run: Any, agent: str) -> list[dict[str, Any]]:
    chosen = ("--agents", agent, "--dimensions", "fluency", "--mode", "offline", "--format", "json")
    return list(json.loads(run("persona", "run", *chosen).stdout))


def import_names(run: Any, folder: Path, *names: str) -> Any:
    paths = [folder / f"{number}.json" for number in range(len(names))]
    for path, name in zip(paths, names, strict=True):
        path.write_text(json.dumps({"name": name, "persona": f"Given as {name}."}), encoding="utf-8")
    return run("agents", "import", *paths)


def test_an_import_finds_a_shipped_agent_by_its_name_and_two_files_of_one_agent_are_refused(
    run: Any, tmp_path: Path, database: Path
) -> None:
    assert import_names(run, tmp_path, "MICHAEL SCOTT").stdout == "michael: Michael Scott\n"
    stored = Store(database).agents.all()
    assert {key: (agent.display_name, agent.persona) for key, agent in stored.items()} == {
        "michael": ("Michael Scott", "Given as MICHAEL SCOTT.")
    }
    for names in (("Ann", "ann"), ("michael", "Michael Scott")):
        done = import_names(run, tmp_path, *names)
        assert (done.exit_code, f"{names[0]!r} and {names[1]!r} are one agent" in done.stderr) == (2, True)
    assert Store(database).agents.all() == stored
    done = run("agents", "import", tmp_path / "gone.json")
    assert (done.exit_code, "gone.json: It cannot be read: " in done.stderr) == (2, True)


def test_an_agent_whose_name_stands_for_others_is_chosen_by_its_id(
    run: Any, tmp_path: Path, write_game: Any, database: Path
) -> None:
    path = tmp_path / "odd.json"
    game = write_game().read_text("utf-8")
    path.write_text(game.replace('"Ann"', '"Ann, Ben"').replace('"Cid"', '"all"'), encoding="utf-8")
    run("import", path)
    (all_id,) = [key for key, name in KnownAgents.of(Store(database)).spoken_as.items() if name == "all"]
    for agent, name in (("ann-ben", "Ann, Ben"), (all_id, "all")):
        assert [one["agent"]["name"] for one in judged(run, agent)] == [name]


def test_a_speaker_becomes_another_agent_and_itself_again(
    run: Any, write_game: Any, database: Path, tmp_path: Path
) -> None:
    run("import", write_game())
    file = tmp_path / "ann.json"
    file.write_text('{"name": "Ann", "persona": "Keeps bees.", "speakers": ["Ben"]}', encoding="utf-8")
    run("agents", "import", file)
    assert "ben" not in KnownAgents.of(Store(database)).ids
    assert [each["sample_size"] for each in judged(run, "ann")] == [4]
    file.write_text('{"name": "Ann", "speakers": []}', encoding="utf-8")
    run("agents", "import", file)
    assert "ben" in KnownAgents.of(Store(database)).ids
    assert Store(database).agents.get("ann").persona == "Keeps bees."


def test_an_agent_goes_with_its_runs_only_when_one_agrees(run: Any, database: Path) -> None:
    judged(run, "jim")
    refused = run("delete", "--agent", "jim")
    assert (refused.exit_code, "Delete Jim Halpert with 1 evaluation run for ever?" in refused.stderr) == (2, True)
    assert run("delete", "--agent", "jim", "--yes").exit_code == 0
    assert Store(database).evaluations.runs().empty
    for nothing in (("--agent", "jim"), ()):
        assert run("delete", *nothing, "--yes").exit_code == 2


def test_personas_are_read_in_every_documented_shape(run: Any, tmp_path: Path, database: Path) -> None:
    files: dict[str, tuple[str, Any]] = {
        "ann.txt": ("Ann keeps bees.", "Ann keeps bees."),
        "bo.json": ('{"name": "Bo", "persona": "Bo sells tea."}', "Bo sells tea."),
        "cy.json": ('{"name": "Cy", "persona": {"trade": "baker"}}', {"name": "Cy", "trade": "baker"}),
        "di.agent.json": ('{"type": "TinyPerson", "persona": {"name": "Di", "age": 9}}', {"name": "Di", "age": 9}),
        "ed.json": ('{"name": "Ed", "age": 4}', {"name": "Ed", "age": 4}),
    }
    for name, (text, _) in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = run("agents", "import", *(tmp_path / name for name in files))
    assert done.exit_code == 0, done.stderr
    agents = Store(database).agents.all()
    assert [agents[name.partition(".")[0]].persona for name in files] == [persona for _, persona in files.values()]
