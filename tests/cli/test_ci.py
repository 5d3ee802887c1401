"""The GitHub action's shell entry on the tutorial repository, ``dramaturg ci`` on bad input, and ``dramaturg init``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from evaluation.harness.games_comment import GAMES_MARKER, games_markdown
from evaluation.workflows.projects.configuration import build_configuration, read_configuration
from evaluation.workflows.projects.starting import configuration_text

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "ci"
ENTRY = ROOT / "scripts" / "score_pull_request.sh"
DRAMATURG = Path(sys.executable).with_name("dramaturg")
# Nothing of the machine that runs the tests: no settings of git, no variables of a workflow, no network.
PLAIN = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "LC_ALL": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.org",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.org",
    "GIT_ALLOW_PROTOCOL": "file",
    "http_proxy": "http://127.0.0.1:1",
    "https_proxy": "http://127.0.0.1:1",
}


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, env=PLAIN, capture_output=True, text=True, check=True)
    return done.stdout


def spoil(game: Path) -> None:
    """Makes everybody say the same: no message has a keyword, every phrase is said again."""
    body = json.loads(game.read_text("utf-8"))
    for message in body["messages"]:
        message.update(text="The weather is nice here today and my lunch was very good indeed.", reply_to=None)
    body["id"] = None
    game.write_text(json.dumps(body), "utf-8")


class Repository:
    """The tutorial repository with an origin, as a workflow would find it: one commit deep, on a proposed branch."""

    def __init__(self, folder: Path, *, base_has_games: bool = True) -> None:
        self.folder, self.work, origin = folder, folder / "work", folder / "origin.git"
        shutil.copytree(EXAMPLE, self.work, ignore=shutil.ignore_patterns("dramaturg-report"))
        git(folder, "init", "--quiet", "--bare", "--initial-branch=main", str(origin))
        git(self.work, "init", "--quiet", "--initial-branch=main")
        git(self.work, "remote", "add", "origin", f"file://{origin}")
        git(self.work, "add", "--all" if base_has_games else "README.md")
        git(self.work, "commit", "--quiet", "--message=Base")
        git(self.work, "push", "--quiet", "origin", "main")
        git(self.work, "checkout", "--quiet", "-b", "proposed")
        git(self.work, "update-ref", "-d", "refs/remotes/origin/main")

    @property
    def games(self) -> Path:
        return self.work / "games"

    def run(self, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs the action's entry as its step does."""
        environment = {
            **PLAIN,
            "DRAMATURG": str(DRAMATURG),
            "RUNNER_TEMP": str(self.folder),
            "GITHUB_BASE_REF": "main",
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            **variables,
        }
        return subprocess.run(
            ["bash", str(ENTRY)], cwd=self.work, env=environment, capture_output=True, text=True, check=False
        )

    @property
    def summary(self) -> str:
        return (self.folder / "summary.md").read_text("utf-8")


def test_a_branch_that_changes_nothing_passes_also_where_no_comment_can_be_written(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    done = repository.run(INPUT_COMMENT="true", GITHUB_EVENT_NAME="pull_request")
    assert done.returncode == 0, done.stderr
    assert "::warning::The comment was not written" in done.stdout
    assert "GITHUB_REPOSITORY and GITHUB_TOKEN must be set" in done.stderr
    assert repository.summary.startswith(f"{GAMES_MARKER}\n### Games: fine")
    assert "Games scored: 3, compared with 3 of `origin/main`." in repository.summary
    assert "| `Strategic depth` | 60 | 77.8 | 77.8 | +0.0 |" in repository.summary
    assert "Games that are the same on both sides and pass: 3." in repository.summary
    assert "exit-code=0" in (tmp_path / "output").read_text("utf-8")


def test_a_game_that_cannot_pass_any_more_fails_and_says_why(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    spoil(repository.games / "market.json")
    (repository.games / "ferry.json").unlink()
    shutil.copy(repository.games / "harbour.json", repository.games / "copy.json")
    done = repository.run()
    assert done.returncode == 1, done.stderr
    summary = repository.summary
    assert "### Games: failed" in summary
    assert "| `market.json` | changed | 5 of 6 |" in summary
    assert "| `ferry.json` | gone | 5 of 6 | none |  |" in summary
    # The same content twice counts once, and the remark says so.
    assert "the same content as" in summary
    assert "| `Strategic depth` | 60 | 77.8 |" in summary
    assert "lower by more than 10.0 points" in summary
    assert "- `market.json`: `" in summary


def test_the_first_run_has_nothing_to_compare_with(tmp_path: Path) -> None:
    repository = Repository(tmp_path, base_has_games=False)
    done = repository.run()
    assert done.returncode == 0, done.stderr
    assert "### Games: scored, with nothing to compare with" in repository.summary
    assert "| `ferry.json` | new | none | 5 of 6 | passed |" in repository.summary


def test_a_base_that_is_nowhere_is_an_error_and_not_a_first_run(tmp_path: Path) -> None:
    done = Repository(tmp_path).run(GITHUB_BASE_REF="nowhere")
    assert done.returncode == 3
    assert "::error::The base 'nowhere' can neither be fetched nor found." in done.stdout


def test_modules_of_the_proposal_are_not_run_by_the_installation(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    for name in ("venv", "pip", "ensurepip", "logging", "sitecustomize"):
        (repository.work / f"{name}.py").write_text(f"open({str(tmp_path / 'owned')!r}, 'w').close()")
    # Without an index there is nothing to install from, so it ends there.
    done = repository.run(DRAMATURG="", PIP_NO_INDEX="1", PIP_FIND_LINKS="", GITHUB_TOKEN="canary-token")
    assert done.returncode == 3
    assert "::error::The packages cannot be installed." in done.stdout, done.stdout + done.stderr
    assert not (tmp_path / "owned").exists()


def test_hostile_games_and_settings_stay_text(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    (repository.games / "a`b @all [x](http:evil).json").write_text("{", "utf-8")
    git(repository.work, "add", "--all")
    git(repository.work, "commit", "--quiet", "--message=Hostile")
    done = repository.run(INPUT_BASE="proposed")
    assert done.returncode == 2
    assert "[x](http:evil)" in repository.summary
    assert all("evil" not in line or "`" in line for line in repository.summary.splitlines())


@pytest.mark.parametrize("link", ["games/secret.json", "games/folder", "games"])
def test_a_link_shows_no_file_of_the_machine(run: Any, tmp_path: Path, link: str) -> None:
    project, secrets = tmp_path / "project", tmp_path / "secrets"
    shutil.copytree(EXAMPLE, project)
    if link == "games":
        shutil.rmtree(project / "games")
    secrets.mkdir()
    (secrets / "secret.json").write_text("key-of-the-machine", "utf-8")
    (project / link).symlink_to(secrets / ("secret.json" if link.endswith("json") else ""))
    done = run("ci", "check", "--config", project / "dramaturg.toml", "--report", tmp_path / "report")
    assert done.exit_code == 2
    assert "This link leads out of the project." in (tmp_path / "report" / "comment.md").read_text("utf-8")
    assert not any("key-of" in path.read_text("utf-8") for path in (tmp_path / "report").iterdir())
    assert "key-of" not in done.output


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("games = [", "It is not TOML"),
        ('games = "../x"', "games: It is not a folder inside the project."),
        ('games = "/etc"', "not a folder inside"),
        ('gate = "full"', "gate: Input should be 'automatic' or 'none'."),
        ("max_drop = -1", "max_drop"),
        ("[thresholds]\nengagement = 3", "'engagement' is not one of"),
        ("[thresholds]\ncoherence = 101", "101.0 of coherence is not between 0 and 100"),
        ("[thresholds]\ncoherence = nan", "is not between"),
        ("gates = 1", "gates: Extra inputs are not permitted."),
        ('[iterations]\nbase = "\\u0007"', "iterations.base"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(run: Any, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "dramaturg.toml").write_text(text, "utf-8")
    done = run("ci", "check", "--config", tmp_path / "dramaturg.toml", "--report", tmp_path / "report")
    assert done.exit_code == 2
    assert said in done.stderr
    assert "### Games: not compared" in (tmp_path / "report" / "comment.md").read_text("utf-8")


def test_a_missing_folder_or_repository_is_told(run: Any, tmp_path: Path) -> None:
    (tmp_path / "dramaturg.toml").touch()
    options = ("--config", tmp_path / "dramaturg.toml", "--report", tmp_path / "report")
    done = run("ci", "check", *options)
    assert (done.exit_code, "There is no such folder." in done.stderr) == (2, True)
    shutil.copytree(EXAMPLE / "games", tmp_path / "games")
    assert run("ci", "check", *options).exit_code == 0
    done = run("ci", "check", *options, "--base", "--help")
    assert done.exit_code == 3
    assert "git cannot read the repository" in done.stderr


def test_thresholds_of_the_project_decide(run: Any, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE / "games", tmp_path / "games")
    strict = "\n".join(f"{name} = 100" for name in ("strategic_depth", "coherence", "anti_repetition"))
    (tmp_path / "dramaturg.toml").write_text(f"[thresholds]\n{strict}", "utf-8")
    done = run("ci", "check", "--config", tmp_path / "dramaturg.toml", "--report", tmp_path / "report")
    assert "| `Strategic depth` | 100 |" in done.stdout
    assert "4 of 6" in done.stdout


@pytest.mark.parametrize(
    "report", [{}, {"verdict": ["x"], "metrics": 7, "games": [1, {"name": 10**400, "after": 10**400}], "remarks": {}}]
)
def test_a_forged_report_is_no_fault(report: Mapping[str, Any]) -> None:
    assert games_markdown({"kind": "games", **report}).startswith(GAMES_MARKER)


def test_init_writes_what_the_example_holds_and_overwrites_nothing(run: Any, tmp_path: Path) -> None:
    done = run("init", tmp_path / "new", "--max-drop", 10)
    assert done.exit_code == 0, done.stderr
    for name in ("dramaturg.toml", ".github/workflows/games.yml"):
        assert (tmp_path / "new" / name).read_text("utf-8") == (EXAMPLE / name).read_text("utf-8"), name
    (tmp_path / "new" / "dramaturg.toml").write_text('games = "mine"\n', "utf-8")
    again = run("init", tmp_path / "new", "--ci", "gitlab", "--games", "other")
    assert [line.split()[0] for line in again.stdout.splitlines()] == ["kept", "wrote", "wrote"]
    assert (tmp_path / "new" / "dramaturg.toml").read_text("utf-8") == 'games = "mine"\n'
    job = yaml.safe_load((tmp_path / "new" / ".gitlab" / "dramaturg.yml").read_text("utf-8"))["dramaturg"]
    assert "VERSION" not in job["variables"]["DRAMATURG_REQUIREMENT"]
    assert subprocess.run(["bash", "-n", "-c", job["script"][1]], check=False).returncode == 0


@pytest.mark.parametrize(
    "options",
    [("--games", "../x"), ("--threshold", "coherence"), ("--threshold", "x=1"), ("--base", ""), ("--action", "a b")],
)
def test_init_writes_nothing_when_an_option_is_wrong(run: Any, tmp_path: Path, options: tuple[str, str]) -> None:
    assert run("init", tmp_path / "new", *options).exit_code == 2
    assert not (tmp_path / "new").exists()


def test_the_written_configuration_is_the_one_that_is_read(tmp_path: Path) -> None:
    values = {
        "games": 'a "b"/ü😀',
        "gate": "none",
        "max_drop": 2.5,
        "iterations": {"base": "last\\week", "proposed": "'now'"},
        "thresholds": {"coherence": 65.5, "memory_accuracy": 10.0},
    }
    wanted = build_configuration(values, place="test")
    (tmp_path / "x.toml").write_text(configuration_text(wanted), "utf-8")
    assert read_configuration(tmp_path / "x.toml") == wanted


def test_the_action_runs_the_entry_and_puts_no_input_into_a_command() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    assert action["runs"]["using"] == "composite"
    [step] = [each for each in action["runs"]["steps"] if "run" in each]
    assert step["run"] == 'bash "$GITHUB_ACTION_PATH/scripts/score_pull_request.sh"'
    assert ENTRY.is_file()
    named = {name for name in step["env"] if name.startswith("INPUT_")}
    assert named == {"INPUT_FOLDER", "INPUT_CONFIG", "INPUT_BASE", "INPUT_COMMENT"}
    assert all(name in ENTRY.read_text("utf-8") for name in named)
