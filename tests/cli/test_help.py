"""Help at once for every command and option, and the documentation: it builds, and its commands work."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
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
    assert {"ab", "judge", "experiment run", "persona run"} <= set(asking)
    assert {path: sorted(LIMITS - own) for path, own in asking.items() if not own >= LIMITS} == {}


ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "WARNING" not in done.stderr
    return folder


def test_every_picture_is_there_and_pages_load_nothing_from_elsewhere(site: Path) -> None:
    # Links and their anchors are mkdocs' own check.
    pages = [page for page in site.rglob("*.html") if page.name != "404.html"]
    assert len(pages) > 25
    loads = re.compile(r'(?:src|srcset)="([^"#]*)|<link [^>]*href="([^"]*)')
    loaded = {(page, "".join(found)) for page in pages for found in loads.findall(page.read_text("utf-8"))}
    assert [link for page, link in loaded if not (page.parent / unquote(link).partition("?")[0]).is_file()] == []


def test_the_reference_is_generated_from_code(site: Path) -> None:
    import evaluation
    from evaluation.readers._format_detection import FILE_READERS

    text = (site / "reference" / "cli.html").read_text("utf-8")
    assert [name for name in COMMANDS if f"dramaturg {name}" not in text] == []
    assert "dramaturg iterations create" in text
    anchors = re.findall(r' id="([^"]+)"', (site / "reference" / "python.html").read_text("utf-8"))
    assert set(evaluation.__all__) <= {anchor.rpartition(".")[2] for anchor in anchors}
    text = (site / "reference" / "formats.html").read_text("utf-8")
    assert [reader.format for reader in FILE_READERS if reader.format not in text] == []


PAGE = ROOT / "docs" / "tutorial.md"


def steps() -> list[tuple[str, list[str]]]:
    """Each command with the lines that are quoted behind it."""
    found: list[tuple[str, list[str]]] = []
    is_quoted = False
    for line in PAGE.read_text("utf-8").splitlines():
        if line.startswith("    dramaturg "):
            found.append((line.strip().removeprefix("dramaturg "), []))
        elif line.startswith("```"):
            is_quoted = line == "```text"
        elif is_quoted:
            found[-1][1].append(line)
    return found


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_every_command_prints_what_the_page_says(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    commands = steps()
    assert len(commands) == 13
    assert sum(len(quoted) for _, quoted in commands) == 12
    for command, quoted in commands:
        done = run(*shlex.split(command))
        assert done.exit_code == 0, f"{command}: {done.output}"
        for line in quoted:
            assert plain(line) in plain(done.stdout), f"{command}: {line}"
