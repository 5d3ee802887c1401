"""Secrets that are known by sight: none of them reaches what people or files are told, whatever a server answers."""

import base64
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evaluation.cli.main import app
from evaluation.store import Store
from tests.judge_server import plausible_answer

KEY = "sk-canary-0123456789abcdefghij"
PASSWORD = "canary-password-0123456789"
TOKEN = "canary-token-0123456789abcdef"
STORE_SECRET = "canary/store+secret0123456789"
# How one could stand in an answer: as it was sent, or decoded.
SECRETS = (KEY, PASSWORD, TOKEN, STORE_SECRET, base64.b64encode(f"ann:{PASSWORD}".encode()).decode())
# Of the forms in which the server repeats the key: pieces of it.
TRACES = (KEY[:20], KEY[-9:], KEY[8:16])


class _Echo(BaseHTTPRequestHandler):
    """Repeats what it was authorized with: in a refusal, as some providers do, or in good answers under ``/good``."""

    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers.get("content-length", 0)))
        given = self.headers.get("authorization") or ""
        scheme, _, value = given.partition(" ")
        decoded = base64.b64decode(value).decode() if scheme == "Basic" else value
        repeated = f"your header was {given!r}: {decoded}, {decoded[:-1]}"
        is_good = self.path.startswith("/good")
        told = _answer(asked, repeated) if is_good else {"error": {"message": f"Incorrect key, {repeated}"}}
        body = json.dumps(told).encode()
        self.send_response(200 if is_good else 401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = do_HEAD = do_POST

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


def _answer(asked: bytes, repeated: str) -> dict[str, object]:
    """A good answer to whatever is asked (labels, marks, batches), with the secret in every text of it."""
    body = json.loads(asked or b"{}")
    if "messages" not in body:
        return {"object": "list", "data": []}
    content = plausible_answer(body).replace("The messages show it", json.dumps(repeated)[1:-1])
    message = {"role": "assistant", "content": f"<think>{repeated}</think>{content}", "reasoning_content": repeated}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {"id": repeated, "object": "chat.completion", "created": 0, "model": repeated, "choices": [choice]}


@pytest.fixture
def address() -> Iterator[str]:
    """The server's host and port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Echo) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


def test_no_output_and_no_file_holds_a_secret(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    players = [{"name": "Ann"}, {"name": "Ben"}]
    said = [{"playerName": "Ann", "message": "I think it was Ben."}, {"playerName": "Ben", "message": "No, why me?"}]
    (tmp_path / "game.json").write_text(json.dumps({"gameId": "g1", "players": players, "messages": said}))
    monkeypatch.chdir(tmp_path)
    environment = {
        "DRAMATURG_DB": str(tmp_path / "games.duckdb"),
        "DRAMATURG_MCP_TOKEN": TOKEN,
        "AWS_ACCESS_KEY_ID": "canary",
        "AWS_SECRET_ACCESS_KEY": STORE_SECRET,
        "AWS_ENDPOINT_URL": f"http://{address}",
    }
    told: list[tuple[str, str]] = []

    def run(*arguments: str, **variables: str) -> int:
        done = CliRunner().invoke(app, arguments, env={**environment, **variables})
        told.append((" ".join(arguments), done.output))
        return done.exit_code

    def run_apart(*arguments: str) -> int:
        """In a process of its own: libraries keep what they read of the environment about the object store."""
        command = [sys.executable, "-m", "evaluation.cli.main", *arguments]
        own = {**os.environ, **environment, "PYTHONPATH": str(Path(__file__).parents[2])}
        done = subprocess.run(command, env=own, capture_output=True, text=True, check=False)
        told.append((" ".join(arguments), done.stdout + done.stderr))
        return done.returncode

    assert run("import", "game.json") == 0
    judge = ("--base-url", f"http://{address}/v1", "--model", "m")
    assert run("judge", "g1", *judge, OPENAI_API_KEY=KEY) == 3
    run("persona", "run", "--agents", "jim", "--mode", "live", *judge, OPENAI_API_KEY=KEY)
    good = ("--base-url", f"http://{address}/good/v1", "--model", "m")
    run("persona", "run", "--agents", "jim", "--mode", "live", *good, OPENAI_API_KEY=KEY)
    run("judge", "g1", *good, OPENAI_API_KEY=KEY)
    # An address with a password in it is refused, and not repeated.
    assert run("judge", "g1", "--base-url", f"http://ann:{PASSWORD}@{address}/v1", "--model", "m") == 2
    assert run_apart("evaluate", "game.json", "--output", "s3://bucket/out") != 0
    assert run("evaluate", "game.json", "--output", f"s3://canary:{PASSWORD}@bucket/out") == 2
    for command in (("settings",), ("show", "g1"), ("backup", "copy.duckdb")):
        run(*command, OPENAI_API_KEY=KEY)
    run("export", "transcripts", "--format", "canonical", "--output", "exported")
    told.append(("what went by the runner", "".join(capfd.readouterr())))
    # The commands did ask the server, and told what it said but for the secrets.
    assert any("Incorrect key" in output for _, output in told)
    store = Store(tmp_path / "games.duckdb")
    with store.unit() as cursor:
        texts = cursor.execute("SELECT text FROM judge_texts WHERE text LIKE '%your header was%'").fetchall()
    store.close()
    assert texts
    for command, output in told:
        assert [secret for secret in (*SECRETS, *TRACES) if secret in output] == [], command
    for path in tmp_path.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert [secret for secret in (*SECRETS, *TRACES) if secret.encode() in content] == [], path.name
