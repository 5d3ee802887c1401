"""A server with an inbox: games that arrive, as files or by HTTP, show in a page that is open."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

TOKEN = "a-token-of-this-test-alone"
ROWS = ".picture-box .row:not(.head)"

_WRITES = """
import sys
from pathlib import Path
place, text = Path(sys.argv[1]), sys.stdin.read()
with place.open("w") as file:
    file.write(text[:40])
    file.flush()
    print("half", flush=True)
    sys.stdin.close()
    open(sys.argv[2]).read()
    file.write(text[40:])
"""


@pytest.fixture
def inbox(make_server, tmp_path, monkeypatch) -> Iterator[tuple]:
    monkeypatch.setenv("DRAMATURG_INBOX_TOKEN", TOKEN)
    folder = tmp_path / "arriving" / "games"
    server = make_server(tmp_path / "inbox.duckdb", options=("--inbox", str(folder), "--inbox-iteration", "Night"))
    server.start()
    yield server, folder
    server.stop()


def game(number: int) -> bytes:
    players = [{"name": name} for name in ("Ann", "Ben", "Cleo")]
    said = [{"playerName": "Ann", "message": f"I saw Ben at the harbour, game {number}."}]
    return json.dumps({"gameId": f"g{number}", "players": players, "messages": said}).encode()


def send(url: str, body: bytes, name: str = "game.json", token: str = TOKEN) -> tuple[int, dict]:
    request = urllib.request.Request(
        f"{url}/inbox?{urlencode({'name': name})}", body, {"Authorization": f"Bearer {token}"}, method="POST"
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_what_arrives_shows_in_an_open_page_and_half_a_file_waits(inbox, visit, tmp_path) -> None:
    server, folder = inbox
    seen = visit(f"{server.url}/transcripts", height=1200)
    expect(seen.page.get_by_text("Files that arrive in")).to_be_visible()
    for number in range(3):
        assert send(server.url, game(number), f"g{number}.json")[0] == 202
    # The page that nobody touches shows them by itself.
    expect(seen.page.locator(ROWS)).to_have_count(3)
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    writer = subprocess.Popen(
        [sys.executable, "-c", _WRITES, str(folder / "slow.json"), str(gate)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert writer.stdin is not None
    assert writer.stdout is not None
    writer.stdin.write(game(7))
    writer.stdin.close()
    assert writer.stdout.readline() == b"half\n"
    with gate.open("w"):
        pass
    assert writer.wait(timeout=60) == 0
    writer.stdout.close()
    expect(seen.page.locator(ROWS)).to_have_count(4)
    assert seen.faults == []
    server.stop()
    assert len(server.store.transcripts.ids("Night")) == 4


def test_what_is_sent_without_leave_or_sense_is_refused_and_leaves_nothing(inbox) -> None:
    server, folder = inbox
    assert send(server.url, game(1), token="another-token-of-nobody")[0] == 401
    for name in ("../../evil.json", ".hidden", "a/b.json", "", "x" * 101, "a\r\nb"):
        status, told = send(server.url, game(1), name)
        assert (status, bool(told["remedy"])) == (400, True)
    assert send(server.url, b"")[0] == 400
    assert send(server.url, b" " * (20 * 1024 * 1024 + 1))[0] == 413
    assert list(folder.iterdir()) == []
    first, again = send(server.url, game(1), "g.json"), send(server.url, game(1), "g.json")
    assert (first[0], again[0]) == (202, 200)
    assert first[1]["file"] == again[1]["file"]
    assert [path.read_bytes() for path in folder.iterdir()] == [game(1)]


def test_a_server_without_a_token_takes_nothing_over_http(sample_server) -> None:
    assert send(sample_server.url, game(1))[0] == 404


@pytest.mark.parametrize("name", ["short", "x" * 19])
def test_a_short_token_is_refused_at_the_start(name, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "evaluation.cli.main", "serve", "--inbox", str(tmp_path / "in")]
    done = subprocess.run(
        command, env={**os.environ, "DRAMATURG_INBOX_TOKEN": name}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "DRAMATURG_INBOX_TOKEN" in done.stderr
    assert "token_urlsafe" in done.stderr
