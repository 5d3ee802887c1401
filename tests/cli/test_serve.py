"""``dramaturg serve``: what it starts, where it listens, and what it refuses."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from evaluation.cli.serve import command_line, entry_script, environment_for, is_loopback


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


def test_an_address_that_is_not_ours_is_infrastructure(run: Any) -> None:
    done = run("serve", "--host", "192.0.2.1", "--allow-anonymous")
    assert done.exit_code == 3
    assert "cannot be listened on" in done.stderr


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("a.b", False)],
)
def test_which_addresses_are_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_the_server_starts_headless_silent_and_on_the_address_given() -> None:
    line = " ".join(command_line("127.0.0.1", 8600))
    assert "streamlit run" in line
    for setting in (
        "--server.headless true",
        "--server.address 127.0.0.1",
        "--server.port 8600",
        "--client.showErrorDetails none",
        "--browser.gatherUsageStats false",
    ):
        assert setting in line


def test_the_dashboard_is_found_and_told_its_database(tmp_path: Path) -> None:
    assert entry_script().name == "app.py"
    environment = environment_for(tmp_path / "x.duckdb", samples=True)
    assert environment["DRAMATURG_DB"] == str(tmp_path / "x.duckdb")
    assert environment["DRAMATURG_LOAD_SAMPLES"] == "1"
    assert environment_for(None, samples=False)["DRAMATURG_LOAD_SAMPLES"] == "0"
