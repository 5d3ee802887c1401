"""``dramaturg serve``: what it starts, where it listens, and what it refuses."""

import socket
from pathlib import Path
from typing import Any

import pytest

from evaluation.access import Access
from evaluation.cli.serve import command_line, environment_for, is_loopback, known_names
from tests.dashboard_server import login_secrets

DATABASE = Path("x.duckdb")


def test_a_taken_port_is_said_clearly(run: Any) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        done = run("serve", "--port", port)
    assert done.exit_code == 3
    assert done.stderr == f"error: 127.0.0.1:{port}: Another process listens there. Choose another with --port.\n"


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.org"])
def test_an_address_that_others_reach_must_be_asked_for(run: Any, host: str) -> None:
    done = run("serve", "--host", host)
    assert done.exit_code == 2
    assert "--allow-anonymous" in done.stderr


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.8.8.8", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("a.b", False)],
)
def test_which_addresses_are_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_the_server_starts_headless_silent_and_on_the_address_given() -> None:
    line = " ".join(command_line("127.0.0.1", 8600))
    assert "-m dashboard.server" in line
    address = ("--server.headless true", "--server.address 127.0.0.1", "--server.port 8600")
    for setting in (*address, "--client.showErrorDetails none", "--browser.gatherUsageStats false"):
        assert setting in line


def test_the_dashboard_is_told_its_database_and_whether_strangers_are_welcome(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    environment = environment_for(DATABASE, samples=True, allow_anonymous=True)
    wanted = {"DRAMATURG_DB": str(DATABASE.absolute()), "DRAMATURG_LOAD_SAMPLES": "1", "DRAMATURG_ALLOW_ANONYMOUS": "1"}
    # The threads of the server share two heaps unless somebody says otherwise.
    assert environment.items() >= (wanted | {"MALLOC_ARENA_MAX": "2"}).items()
    monkeypatch.setenv("MALLOC_ARENA_MAX", "6")
    other = {"DRAMATURG_LOAD_SAMPLES": "0", "DRAMATURG_ALLOW_ANONYMOUS": "0", "MALLOC_ARENA_MAX": "6"}
    assert environment_for(DATABASE, samples=False).items() >= other.items()


SECRETS = login_secrets(admins=["ada@example.org"])


def test_a_login_or_consent_opens_an_address_that_others_reach(run: Any, tmp_path: Path) -> None:
    secrets = tmp_path / "secrets.toml"
    secrets.write_text(SECRETS, "utf-8")
    # It gets as far as the address, which is not of this machine.
    for words in (("--host", "192.0.2.1", "--secrets", secrets), ("--host", "192.0.2.1", "--allow-anonymous")):
        done = run("serve", *words)
        assert (done.exit_code, "cannot be listened on" in done.stderr) == (3, True)


def test_a_login_that_is_not_in_order_starts_nothing(run: Any, tmp_path: Path) -> None:
    secrets = tmp_path / "secrets.toml"
    for text, said in ((None, "no such"), (SECRETS.replace("client_id", "client"), "client_id is missing")):
        if text is not None:
            secrets.write_text(text, "utf-8")
        done = run("serve", "--secrets", secrets)
        assert (done.exit_code, said in done.stderr, "s3cr3t" in done.stderr) == (2, True, False)


def test_on_loopback_only_names_that_are_known_reach_the_server() -> None:
    access = Access(admins=(), host="dramaturg.example.org")
    assert known_names("127.0.0.1", None) == ("localhost", "127.0.0.1")
    assert known_names("127.0.0.1", access) == ("localhost", "127.0.0.1", "dramaturg.example.org")
    assert "--server.allowedHosts localhost" in " ".join(command_line("127.0.0.1", 8600, names=["localhost"]))
