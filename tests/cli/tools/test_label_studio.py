"""Ratings through a real server of Label Studio and back: ``pytest tests/cli/tools -m long``."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluation.store import Store
from tests.cli.tools import own_environments

pytestmark = pytest.mark.long
TOKEN = "0123456789abcdef" * 2 + "01234567"
ALLOWED_SECONDS = 300


class Server:
    """The server's API, as its one user."""

    def __init__(self, url: str) -> None:
        self.url = url

    def call(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"Token {TOKEN}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read() or b"null")

    def project(self, configuration: str) -> int:
        made: int = self.call("POST", "/api/projects", {"title": "Games", "label_config": configuration})["id"]
        return made

    def exported(self, project: int) -> list[dict[str, Any]]:
        tasks: list[dict[str, Any]] = self.call(
            "GET", f"/api/projects/{project}/export?exportType=JSON&download_all_tasks=true"
        )
        return tasks


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    programs = own_environments.install(Path(__file__).parent / "label-studio.txt", "tools-label-studio")
    folder = tmp_path_factory.mktemp("label-studio")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(programs / "label-studio"), "start", "--no-browser", "--data-dir", str(folder), "--port", str(port)]
    command += ["--internal-host", "127.0.0.1", "--username", "owner@example.org", "--password", "not-a-secret"]
    command += ["--user-token", TOKEN, "--enable-legacy-api-token"]
    quiet = {"LATEST_VERSION_CHECK": "false", "COLLECT_ANALYTICS": "false", "LABEL_STUDIO_BASE_DATA_DIR": str(folder)}
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | quiet, cwd=folder)
        try:
            running = Server(f"http://127.0.0.1:{port}")
            _wait_for(running, process, folder / "log.txt")
            yield running
        finally:
            process.terminate()
            process.wait(30)


def _wait_for(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + ALLOWED_SECONDS
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()[-2000:]
        try:
            server.call("GET", "/api/projects")
        except (OSError, urllib.error.URLError):
            time.sleep(0.5)
        else:
            return
    raise AssertionError(log.read_text()[-2000:])


def test_games_with_ratings_go_in_and_come_back_without_loss(
    server: Server, run: Any, write_game: Any, database: Path, tmp_path: Path
) -> None:
    run("import", write_game("one"), write_game("two", good=False))
    comment = ("--comment", "=1 & <b>two</b>\nlines")
    for rater, score, more in (("Sample rater A", 4, comment), ("Kim", 2, ()), ("Kim", 3, ())):
        assert run("rate", "one", "--rater", rater, "--score", score, "--answers", "yyn-y", *more).exit_code == 0
    before = run("export", "ratings").stdout
    project = server.project(run("export", "label-studio", "--settings").stdout)
    tasks = json.loads(run("export", "label-studio").stdout)
    first, second = (next(_id(task) for task in tasks if task["data"]["game"] == name) for name in ("one", "two"))
    answer = server.call("POST", f"/api/projects/{project}/import", tasks)
    assert (answer["task_count"], answer["annotation_count"]) == (2, 3)

    path = tmp_path / "answers.json"
    path.write_text(json.dumps(server.exported(project)), encoding="utf-8")
    done = run("rate", "import", path)
    assert done.exit_code == 0, done.stderr
    assert run("export", "ratings").stdout == before

    elsewhere = tmp_path / "elsewhere.duckdb"
    run("import", write_game("one"), write_game("two", good=False), "--db", elsewhere)
    assert run("rate", "import", path, "--db", elsewhere).exit_code == 0
    assert run("export", "ratings", "--db", elsewhere).stdout == before

    # Somebody answers there for the other game, and corrects one of the answers that went in.
    by_game = {_id(task): task for task in server.exported(project)}
    said = [{"from_name": "score", "to_name": "dialogue", "type": "number", "value": {"number": 5}}]
    server.call("POST", f"/api/tasks/{by_game[second]['id']}/annotations/", {"result": said})
    kim = by_game[first]["annotations"][-1]
    kim["result"][0]["value"]["number"] = 1
    time.sleep(1.1)
    server.call("PATCH", f"/api/annotations/{kim['id']}/", {"result": kim["result"]})
    path.write_text(json.dumps(server.exported(project)), encoding="utf-8")
    for _ in range(2):
        done = run("rate", "import", path)
        assert done.exit_code == 0, done.stderr
        counting = {(one.transcript_id, one.rater): one.score for one in _latest(database, (first, second))}
        assert counting == {(first, "Sample rater A"): 4, (first, "Kim"): 1, (second, "1"): 5}
        assert len(json.loads(run("export", "ratings", "--format", "json").stdout)) == 5


def _id(task: dict[str, Any]) -> str:
    found: str = task["data"]["transcript_id"]
    return found


def _latest(database: Path, games: tuple[str, ...]) -> list[Any]:
    store = Store(database)
    with store.unit():
        return [rating for game in games for rating in store.ratings.latest(game)]
