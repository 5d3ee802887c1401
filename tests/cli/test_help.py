"""Every command and option says what it is for, and help comes at once, without loading what is slow to import."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from evaluation.cli.main import COMMANDS, app


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from commands(child, (*path, name))


ALL = list(commands(get_command(app)))


def test_every_command_and_option_has_help(run: Any) -> None:
    for path, command in ALL:
        assert command.help.strip().endswith("."), path
        assert [parameter.name for parameter in command.params if not parameter.help] == [], path
    assert run("show", "-h").stdout == run("show", "--help").stdout


def test_the_list_of_commands_says_what_each_is_for(run: Any) -> None:
    listed = run("--help").stdout.partition("Commands:")[2]
    for name, entry in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(entry.summary)}$", listed, re.MULTILINE)
    done = run()
    assert (done.exit_code, "Commands:" in done.output) == (2, True)


def test_eval_is_an_alias_of_persona(run: Any) -> None:
    groups = dict(ALL)[()].commands
    assert COMMANDS["eval"].summary == "Alias of 'persona'."
    for path in ((), *((name,) for name in groups["persona"].commands)):
        helps = [run(name, *path, "--help").stdout for name in ("persona", "eval")]
        assert helps[0].replace("persona", "eval", 1) == helps[1]
    chosen = ("--agents", "jim", "--dimensions", "fluency", "--format", "json")
    outputs = [run(name, "run", *chosen).stdout for name in ("persona", "eval")]
    assert outputs[0] == outputs[1]
    assert "jim" in outputs[0]


def test_help_loads_nothing_slow() -> None:
    code = (
        "import sys; from evaluation.cli.main import app; from typer.main import get_command;"
        "list(get_command(app).commands.values());"
        "slow = {'pandas', 'duckdb', 'pydantic', 'streamlit', 'scipy', 'numpy', 'yaml', 'rapidfuzz', 'rich', 'email'};"
        "print(sorted(slow & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


LIMITS = {"--estimate", "--budget", "--max-calls", "--concurrency", "--timeout"}


def test_every_command_that_asks_a_model_can_be_estimated_and_limited() -> None:
    options = {
        " ".join(path): {name for parameter in command.params for name in parameter.opts}
        for path, command in commands(get_command(app))
    }
    asking = {path: own for path, own in options.items() if own & {"--model", "--base-url"}}
    assert {"ab", "judge", "insights", "experiment run", "persona run"} <= set(asking)
    assert {path: sorted(LIMITS - own) for path, own in asking.items() if not own >= LIMITS} == {}
