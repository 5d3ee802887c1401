"""Every command and option says what it is for, and help comes at once, without loading what is slow to import."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command

from evaluation.cli.main import COMMANDS, app

PROMISED = {
    *("ab", "serve", "import", "evaluate", "collect", "validate", "list", "show", "insights"),
    *("rate", "compare", "corrections", "reevaluate", "delete", "undo", "judge", "override"),
    *("iterations", "export", "agents", "experiment", "propositions"),
    *("eval", "persona", "settings", "backup", "restore"),
}


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from commands(child, (*path, name))


ALL = list(commands(get_command(app)))


def test_the_promised_commands_are_there() -> None:
    assert {path[0] for path, _ in ALL if path} == PROMISED


@pytest.mark.parametrize(("path", "command"), ALL, ids=[" ".join(path) or "dramaturg" for path, _ in ALL])
def test_every_command_and_option_has_help(run: Any, path: tuple[str, ...], command: Any) -> None:
    assert command.help
    assert command.help.strip().endswith(".")
    silent = [parameter.name for parameter in command.params if not parameter.help]
    assert silent == []
    for option in ("--help", "-h"):
        done = run(*path, option)
        assert done.exit_code == 0
        assert done.stdout.startswith("Usage: ")


def test_the_list_of_commands_imports_none_of_them(run: Any) -> None:
    listed = run("--help").stdout.partition("Commands:")[2]
    for name, entry in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(entry.summary)}$", listed, re.MULTILINE)
    code = (
        "import sys; from evaluation.cli.main import app; from typer.testing import CliRunner;"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0;"
        "print(sorted(name for name in sys.modules if name.startswith('evaluation.cli.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "evaluation.cli.serve" not in done.stdout
    assert "evaluation.cli.main" in done.stdout


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


def test_a_command_line_without_a_command_shows_the_help(run: Any) -> None:
    done = run()
    assert (done.exit_code, "Commands:" in done.output) == (2, True)


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
