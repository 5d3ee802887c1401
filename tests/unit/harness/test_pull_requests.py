"""What guards a pull request: the comment on a fall, workflows without rights, and the hook for propositions."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from evaluation.files.bundled import shipped
from evaluation.harness.pull_request_comment import MARKER, comparison_markdown, read_report

ROOT = Path(__file__).parents[3]
SHA = "0123456789abcdef0123456789abcdef01234567"
ROW = {"agent_name": "Jim @everyone [x](http://evil)", "label": "Fluency", "outcome": "regression"}
REPORT = {"verdict": "regression", "rows": [{**ROW, "score": 5.0, "baseline": 7.0, "change": -2.0}]}
# Lists answer from files, with the filter that was asked for; what is written is noted.
GH = """#!/usr/bin/env bash
while [ $# -gt 0 ]; do
  case "$1" in
    --jq) filter="$2"; shift ;;
    -X) method="$2"; shift ;;
    -F) body="$2"; shift ;;
    repos/*) path="${1%%[?]*}" ;;
  esac
  shift
done
if [ -n "${body:-}" ]; then echo "${method:-POST} $path $(head -c 29 "${body#body=@}")" >> written; else
  jq -r "$filter" "$(basename "$path").json"
fi
"""


def post(folder: Path, comments: list[dict[str, Any]], pulls: list[dict[str, Any]]) -> str:
    """What the script writes with these pull requests and comments."""
    (folder / "gh").write_text(GH, encoding="utf-8")
    (folder / "gh").chmod(0o755)
    for name, value in (("comments", comments), ("pulls", pulls), ("report", REPORT)):
        (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    (folder / "written").write_text("", encoding="utf-8")
    path = f"{folder}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {"PATH": path, "PYTHONPATH": str(ROOT), "GITHUB_REPOSITORY": "a/b", "HEAD_SHA": SHA}
    subprocess.run([ROOT / "scripts" / "persona_comment.sh", "report.json"], cwd=folder, env=environment, check=True)
    return (folder / "written").read_text("utf-8").strip()


def comment(number: int, login: str, body: str) -> dict[str, Any]:
    return {"id": number, "user": {"login": login}, "body": body}


def test_one_comment_is_written_and_updated_and_those_of_others_are_left_alone(tmp_path: Path) -> None:
    pulls = [{"number": 6, "head": {"sha": SHA[::-1]}}, {"number": 7, "head": {"sha": SHA}}]
    bot = "github-actions[bot]"
    others = [comment(1, "mallory", f"{MARKER} mine"), comment(2, bot, f"Somebody wrote {MARKER}")]
    assert post(tmp_path, others, pulls) == f"POST repos/a/b/issues/7/comments {MARKER}"
    mine = comment(600, bot, f"{MARKER}\nold")
    assert post(tmp_path, [*others, mine], pulls) == f"PATCH repos/a/b/issues/comments/600 {MARKER}"
    assert post(tmp_path, others, pulls[:1]) == ""


@pytest.mark.parametrize(
    "text",
    [
        *("", "[" * 100_000, "7", '{"rows": 1}', '{"verdict": 1, "score": 1%s}' % ("0" * 5_000)),
        *("{}", '{"rows": [7, {}, {"lowest": 3, "score": "9"}]}', '{"rows": [{"score": NaN, "change": 1e300}]}'),
    ],
)
def test_a_forged_report_is_not_a_fault(tmp_path: Path, text: str) -> None:
    path = tmp_path / "comparison.json"
    path.write_text(text, encoding="utf-8")
    assert comparison_markdown(read_report(path)).startswith(f"{MARKER}\n### Personas: not compared")


def test_a_report_that_leads_elsewhere_is_not_read_and_needs_nothing_but_python(tmp_path: Path) -> None:
    secret, path = tmp_path / "secret", tmp_path / "comparison.json"
    secret.write_text(json.dumps(REPORT), encoding="utf-8")
    path.symlink_to(secret)
    for report, is_read in ((secret, True), (path, False)):
        # -S: no installed packages at all.
        command = [sys.executable, "-S", "-m", "evaluation.harness.pull_request_comment", report]
        done = subprocess.run(command, capture_output=True, text=True, env={}, cwd=ROOT, check=True)
        assert ("Jim" in done.stdout) is is_read


def workflow(name: str) -> dict[Any, Any]:
    return dict(yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text("utf-8")))


def test_the_branch_of_a_stranger_runs_without_a_token_that_can_write() -> None:
    body = workflow("persona-regression.yml")
    # YAML reads the key "on" as true.
    assert list(body[True]) == ["pull_request"]
    assert body["permissions"] == {"contents": "read"}
    assert {"data/personas/**", "propositions/**", "evaluation/judging/**", "evaluation/persona/**"} <= set(
        body[True]["pull_request"]["paths"]
    )
    assert "secrets." not in (ROOT / ".github" / "workflows" / "persona-regression.yml").read_text("utf-8")


def test_the_job_with_the_token_runs_the_main_branch_and_installs_nothing() -> None:
    body = workflow("persona-comment.yml")
    assert list(body[True]) == ["workflow_run"]
    assert body[True]["workflow_run"]["workflows"] == [workflow("persona-regression.yml")["name"]]
    assert body["permissions"] == {"actions": "read", "contents": "read", "pull-requests": "write"}
    checkout, _, post = body["jobs"]["comment"]["steps"]
    assert checkout["with"]["ref"] == "${{ github.event.repository.default_branch }}"
    assert post["run"].startswith("scripts/persona_comment.sh ")


@pytest.mark.parametrize("name", ["persona-regression.yml", "persona-comment.yml"])
def test_no_command_is_put_together_from_an_event(name: str) -> None:
    for job in workflow(name)["jobs"].values():
        assert all("${{" not in step.get("run", "") for step in job["steps"])


(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))


def run_hook(folder: Path, *files: Path) -> subprocess.CompletedProcess[str]:
    """Runs the entry as pre-commit does: in the repository, with the names of the changed files behind it."""
    command, *arguments = shlex.split(HOOK["entry"])
    found = Path(sys.executable).with_name(command)
    return subprocess.run([found, *arguments, *files], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("path", ["propositions/fluency/ann.yaml", "evals/propositions/adherence/_default.yaml"])
def test_it_runs_for_propositions_wherever_they_lie(path: str) -> None:
    assert re.search(HOOK["files"], path)
    assert not re.search(HOOK["files"], "notes/my_propositions/ann.yaml")


def test_a_faulty_proposition_is_refused_with_its_line_and_a_good_one_is_not(tmp_path: Path) -> None:
    good = tmp_path / "good.yaml"
    good.write_bytes((shipped("propositions") / "adherence" / "jim.yaml").read_bytes())
    bad = tmp_path / "bad.yaml"
    bad.write_text("dimension: fluency\nagent_id: jim\npropositions:\n  - id: a\n    weight: 7\n", encoding="utf-8")
    assert run_hook(tmp_path, good).returncode == 0
    done = run_hook(tmp_path, good, bad)
    assert done.returncode == 2
    assert "bad.yaml:5: propositions[0].weight: 7 is not a weight." in done.stdout
