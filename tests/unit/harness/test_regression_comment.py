"""The regression workflow: its script on planted regressions and against a server in GitHub's place, and its rights."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from evaluation.files.bundled import baseline_root
from evaluation.harness.github_comment import main
from evaluation.harness.pull_request_comment import MARKER

ROOT = Path(__file__).parents[3]
MODULE = "evaluation.harness.github_comment"
BOT = {"login": "github-actions[bot]", "type": "Bot"}
SHA = "0123456789abcdef0123456789abcdef01234567"
REPORT = {
    "verdict": "regression",
    "max_drop": 1.0,
    "models": ["scripted-1"],
    "rows": [
        {
            "agent_name": "Jim @everyone [x](http://evil)",
            "label": "Fluency",
            "outcome": "regression",
            "score": 5.0,
            "baseline": 7.0,
            "change": -2.0,
        }
    ],
}


class GitHubServer(ThreadingHTTPServer):
    """Keeps comments and pull requests like GitHub's interface, as far as the script uses it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.comments: list[dict[str, Any]] = []
        self.pulls: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.tokens: set[str | None] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: GitHubServer
    prefix: ClassVar[str] = "/repos/someone/agents/"

    def _answer(self, body: Any, status: int = 200) -> None:
        payload = json.dumps(body).encode("utf-8")
        self.send_response(status)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def _taken(self) -> tuple[str, dict[str, list[str]], Any]:
        parts = urlsplit(self.path)
        assert parts.path.startswith(self.prefix)
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length)) if length else None
        self.server.asked.append(f"{self.command} {parts.path.removeprefix(self.prefix)}")
        self.server.tokens.add(self.headers.get("Authorization"))
        return parts.path.removeprefix(self.prefix), parse_qs(parts.query), body

    def do_GET(self) -> None:
        path, query, _ = self._taken()
        if path == "pulls":
            wanted = query["head"][0]
            self._answer([each for each in self.server.pulls if each["head"]["label"] == wanted])
        elif path == "issues/7/comments":
            first = (int(query["page"][0]) - 1) * int(query["per_page"][0])
            self._answer(self.server.comments[first : first + int(query["per_page"][0])])
        else:
            self._answer({"message": "Not Found"}, 404)

    def do_POST(self) -> None:
        path, _, body = self._taken()
        if path != "issues/7/comments":
            self._answer({"message": "Forbidden"}, 403)
            return
        comment = {"id": len(self.server.comments) + 1, "user": BOT, "body": body["body"]}
        self.server.comments.append(comment)
        self._answer(comment, 201)

    def do_PATCH(self) -> None:
        path, _, body = self._taken()
        (comment,) = [each for each in self.server.comments if path == f"issues/comments/{each['id']}"]
        comment["body"] = body["body"]
        self._answer(comment)

    def log_message(self, *_: object) -> None:
        """Keeps the test's output clean."""


@pytest.fixture
def github() -> Iterator[GitHubServer]:
    with GitHubServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def report(tmp_path: Path) -> Path:
    folder = tmp_path / "report"
    folder.mkdir()
    (folder / "comparison.json").write_text(json.dumps(REPORT), encoding="utf-8")
    return folder


def environment(github: GitHubServer, tmp_path: Path, event: dict[str, Any]) -> dict[str, str]:
    path = tmp_path / "event.json"
    path.write_text(json.dumps(event), encoding="utf-8")
    return {
        "GITHUB_API_URL": github.url,
        "GITHUB_REPOSITORY": "someone/agents",
        "GITHUB_TOKEN": "token-of-the-run",
        "GITHUB_EVENT_PATH": str(path),
    }


PULL_REQUEST = {"pull_request": {"number": 7}}
RUN = {
    "workflow_run": {
        "head_sha": SHA,
        "head_branch": "a/b&state=closed",
        "head_repository": {"owner": {"login": "stranger"}},
        "pull_requests": [],
    }
}


def test_the_first_run_writes_a_comment_and_the_next_updates_it(
    github: GitHubServer, report: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = environment(github, tmp_path, PULL_REQUEST)
    github.comments.append({"id": 1, "user": {"login": "ann"}, "body": "Nice."})
    assert main(["post", str(report)], where) == 0
    assert [each["user"]["login"] for each in github.comments] == ["ann", "github-actions[bot]"]
    assert github.comments[1]["body"].startswith(f"{MARKER}\n### Personas: regression")
    (report / "comparison.json").write_text(json.dumps({"verdict": "fine", "rows": []}), encoding="utf-8")
    assert main(["post", str(report)], where) == 0
    assert len(github.comments) == 2
    assert "Personas: no regression" in github.comments[1]["body"]
    read = "GET issues/7/comments"
    assert github.asked == [read, "POST issues/7/comments", read, "PATCH issues/comments/2"]
    assert github.tokens == {"Bearer token-of-the-run"}
    assert capsys.readouterr().out == "Wrote a comment on #7.\nUpdated the comment 2 on #7.\n"


def test_its_comment_is_found_behind_hundreds_of_others_and_those_of_impostors_are_left_alone(
    github: GitHubServer, report: Path, tmp_path: Path
) -> None:
    impostor = {"id": 500, "user": {"login": "mallory"}, "body": f"{MARKER} mine"}
    quoting = {"id": 501, "user": BOT, "body": f"Somebody wrote {MARKER}"}
    others = [{"id": number, "user": {"login": "ann"}, "body": "Hm."} for number in range(1, 231)]
    github.comments = [impostor, quoting, *others, {"id": 600, "user": BOT, "body": f"{MARKER}\nold"}]
    assert main(["post", str(report)], environment(github, tmp_path, PULL_REQUEST)) == 0
    assert github.asked[-1] == "PATCH issues/comments/600"
    assert github.comments[0]["body"] == f"{MARKER} mine"
    assert len(github.comments) == 233


def test_the_text_of_strangers_stays_text(github: GitHubServer, report: Path, tmp_path: Path) -> None:
    main(["post", str(report)], environment(github, tmp_path, PULL_REQUEST))
    assert "| `Jim @everyone [x](http://evil)` | Fluency | 7.00 | 5.00 | -2.00 |" in github.comments[0]["body"]


def test_after_a_run_the_pull_request_is_found_by_branch_and_commit(
    github: GitHubServer, report: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = environment(github, tmp_path, RUN)
    github.pulls = [{"number": 7, "head": {"sha": SHA[::-1], "label": "stranger:a/b&state=closed"}}]
    assert main(["post", str(report)], where) == 0
    assert "No open pull request has this commit at its head" in capsys.readouterr().out
    github.pulls.append({"number": 7, "head": {"sha": SHA, "label": "stranger:a/b&state=closed"}})
    assert main(["post", str(report)], where) == 0
    assert len(github.comments) == 1


@pytest.mark.parametrize(
    "text",
    ["", "[" * 100_000, "7", '{"rows": {"a": 1}, "verdict": ["x"]}', '{"rows": [{"score": 1%s}]}' % ("0" * 400)],
)
def test_a_forged_report_is_no_fault(github: GitHubServer, report: Path, tmp_path: Path, text: str) -> None:
    (report / "comparison.json").write_text(text, encoding="utf-8")
    assert main(["post", str(report)], environment(github, tmp_path, PULL_REQUEST)) == 0
    assert github.comments[0]["body"].startswith(MARKER)


def test_a_report_that_leads_elsewhere_is_not_read(github: GitHubServer, report: Path, tmp_path: Path) -> None:
    (report / "comparison.json").unlink()
    (tmp_path / "secret").write_text(json.dumps(REPORT), encoding="utf-8")
    (report / "comparison.json").symlink_to(tmp_path / "secret")
    main(["post", str(report)], environment(github, tmp_path, PULL_REQUEST))
    assert "Jim" not in github.comments[0]["body"]


def test_what_github_refuses_is_told(
    github: GitHubServer, report: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = environment(github, tmp_path, {"pull_request": {"number": 8}})
    assert main(["post", str(report)], where) == 3
    assert "GitHub answered 404 to GET issues/8/comments" in capsys.readouterr().err
    assert main(["post", str(report)], where | {"GITHUB_API_URL": "http://127.0.0.1:1"}) == 3
    assert "GitHub could not be asked" in capsys.readouterr().err
    assert main(["post", str(report)], {}) == 3
    assert "GITHUB_REPOSITORY and GITHUB_TOKEN must be set" in capsys.readouterr().err
    assert main(["nonsense"], {}) == 2


def test_a_planted_regression_fails_the_check_and_is_in_the_comment(tmp_path: Path) -> None:
    baselines, folder = tmp_path / "baselines", tmp_path / "report"
    shutil.copytree(baseline_root(), baselines)
    body = json.loads((baselines / "michael.json").read_text("utf-8"))
    body["dimensions"]["fluency"]["score"] += 2
    (baselines / "michael.json").write_text(json.dumps(body), encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable, "-m", MODULE, "check", folder, "--agents", "michael", "--dimensions", "consistency,fluency",
            "--baselines", baselines, "--db", tmp_path / "x.duckdb",
        ],
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 1
    comment = (folder / "comment.md").read_text("utf-8")
    assert comment.startswith(f"{MARKER}\n### Personas: regression\n")
    assert "| `Michael Scott` | Fluency | 8.23 | 6.23 | -2.00 | **regression** |" in comment
    assert "| `Michael Scott` | Consistency | 7.44 | 7.44 | +0.00 | fine |" in comment
    assert json.loads((folder / "comparison.json").read_text("utf-8"))["verdict"] == "regression"


def test_a_check_that_cannot_run_says_why_in_the_comment(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    assert main(["check", str(folder), "--agents", "nobody", "--db", str(tmp_path / "x.duckdb")], {}) == 2
    comment = (folder / "comment.md").read_text("utf-8")
    assert "### Personas: not compared" in comment
    assert "Nobody called 'nobody' speaks anywhere." in comment


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
    assert post["run"].startswith("python3 -m evaluation.harness.github_comment post")


@pytest.mark.parametrize("name", ["persona-regression.yml", "persona-comment.yml"])
def test_no_command_is_put_together_from_an_event(name: str) -> None:
    for job in workflow(name)["jobs"].values():
        assert all("${{" not in step.get("run", "") for step in job["steps"])


def test_the_job_with_the_token_needs_nothing_but_python(report: Path, tmp_path: Path) -> None:
    # -I -S: no installed packages at all.
    done = subprocess.run(
        [sys.executable, "-S", "-m", MODULE, "post", report], capture_output=True, text=True, env={}, cwd=ROOT
    )
    assert "GITHUB_REPOSITORY and GITHUB_TOKEN must be set" in done.stderr
