"""``dramaturg agents`` and ``propositions``: personas, speakers, and what is claimed of them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluation.judging.propositions import TargetType
from evaluation.persona.agents import Agent
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


GOOD = "dimension: fluency\nagent_id: {agent}\npropositions:\n  - id: own-a\n    claim: '{{{{agent_name}}}} mumbles'\n"
BAD = "dimension: fluency\nagent_id: ann\nfirst_n: x\npropositions:\n  - id: a\n    weight: 7\n"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_every_error_is_listed_with_its_line_and_the_exit_code_is_2(run: Any, tmp_path: Path) -> None:
    bad = write(tmp_path / "bad.yaml", BAD)
    done = run("propositions", "check", bad)
    assert done.exit_code == 2
    assert done.stdout.splitlines() == [
        f"{bad}:2: warning: agent_id: No agent 'ann' is known. It applies once there is one.",
        f"{bad}:3: first_n: 'x' is not a number of messages. Give a whole number from 0 to 10,000.",
        f"{bad}:5: propositions[0].claim: It is missing. Add 'claim: ...'.",
        f"{bad}:6: propositions[0].weight: 7 is not a weight. Give a number from 0 (does not count) to 1.",
    ]
    assert done.stderr == "1 file, 0 propositions, 3 errors.\n"


def test_several_files_folders_and_one_that_is_not_there(run: Any, tmp_path: Path) -> None:
    write(tmp_path / "fluency" / "michael.yaml", GOOD.format(agent="michael"))
    gone = tmp_path / "a\x1b[31m.yaml"
    done = run("propositions", "check", tmp_path / "fluency", gone, "--format", "json")
    assert done.exit_code == 2
    [fault] = json.loads(done.stdout)
    assert (fault["file"], fault["line"], fault["field"], fault["kind"]) == (str(gone), 1, "file", "error")
    # A file's name cannot steer the terminal.
    assert "\x1b" not in done.stdout + run("propositions", "check", gone).stdout


@pytest.mark.usefixtures("no_database")
def test_an_unknown_agent_is_only_a_warning_and_a_stored_one_is_none(run: Any, tmp_path: Path, database: Path) -> None:
    file = write(tmp_path / "zoe.yaml", GOOD.format(agent="zoe"))
    done = run("propositions", "check", file)
    assert done.exit_code == 0
    assert "warning: agent_id: No agent 'zoe' is known." in done.stdout
    assert not database.exists()
    store = Store(database)
    store.agents.ensure([Agent("zoe", "Zoe", TargetType.AGENT)])
    store.close()
    assert run("propositions", "check", file).stdout == ""


ROOT = Path(__file__).parents[2]
SOURCE = """
from evaluation.judging.propositions import register


@register("is_monday")
def is_monday(target, additional_context, variables):
    return False
"""
FILE = "dimension: fluency\nagent_id: _default\npropositions:\n  - {id: a, claim: It is so., precondition: is_monday}\n"


def checked(database: Path, tmp_path: Path, plugins: str = "") -> subprocess.CompletedProcess[str]:
    """Checks a proposition file that names the precondition of a plug-in; modules in ``tmp_path`` can be imported."""
    file = write(tmp_path / "fluency" / "_default.yaml", FILE)
    own = {"DRAMATURG_DB": str(database), "DRAMATURG_PLUGINS": plugins}
    own |= {"PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
    command = [sys.executable, "-m", "evaluation.cli.main", "propositions", "check", str(file)]
    return subprocess.run(command, env=os.environ | own, capture_output=True, text=True, check=False)


def test_a_plug_in_registers_a_precondition(database: Path, tmp_path: Path) -> None:
    assert "'is_monday'" in checked(database, tmp_path).stdout
    write(tmp_path / "mine.py", SOURCE)
    done = checked(database, tmp_path, "mine")
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_a_bad_plug_in_is_refused_with_its_module(database: Path, tmp_path: Path) -> None:
    write(tmp_path / "bad_plugin.py", "undefined_name\n")
    done = checked(database, tmp_path, "bad_plugin")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "name 'undefined_name' is not defined" in done.stderr
    assert "bad_plugin" in done.stderr
    assert "Traceback" not in done.stderr
