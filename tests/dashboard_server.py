"""Serve the dashboard from a process of its own."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

from evaluation.store import Store

_GIVE_UP_SECONDS = 60.0
_POLL_SECONDS = 0.01
_STOP_SECONDS = 20


def dramaturg() -> str:
    """The installed command beside the running Python."""
    return str(Path(sys.executable).with_name("dramaturg"))


COOKIE_SECRET = "0123456789abcdef0123456789abcdef"


def login_secrets(
    url: str = "https://dramaturg.example.org", provider: str = "https://login.example.org", **roles: list[str]
) -> str:
    """A secrets file that configures a login of a server at ``url``, and who has which role."""
    access = "".join(f"{role} = {json.dumps(entries)}\n" for role, entries in roles.items())
    return f"""
[auth]
redirect_uri = "{url}/oauth2callback"
cookie_secret = "{COOKIE_SECRET}"
client_id = "dramaturg"
client_secret = "s3cr3t-of-the-client"
server_metadata_url = "{provider}/.well-known/openid-configuration"

[access]
{access}"""


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Server:
    """``dramaturg serve``; what it writes stands in ``log``.

    Attributes:
        database: The file; created if missing.
        options: Further options of the command.
        port: Where it listens; 0 takes a free one at the first start, and the same one at the next.
        most_files: How many open files the process may have; as many as this one when left out.
        seconds_to_health: How long the last start took.
    """

    database: Path
    options: tuple[str, ...] = ()
    port: int = 0
    most_files: int | None = None
    process: subprocess.Popen[bytes] | None = None
    seconds_to_health: float = 0.0

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        """The file of the server's output."""
        return self.database.with_suffix(".log")

    @property
    def store(self) -> Store:
        """The database that it serves."""
        # On a busy machine the server may hold the file for longer than a person would wait.
        return Store(self.database, wait_seconds=60)

    def start(self) -> None:
        """Returns once it answers.

        Raises:
            RuntimeError: It ended, or did not answer within a minute.
        """
        self.port = self.port or free_port()
        command = [dramaturg(), "serve", "--port", str(self.port), "--db", str(self.database), *self.options]
        if self.most_files is not None:
            command = ["sh", "-c", f'ulimit -n {self.most_files} && exec "$@"', "sh", *command]
        begun = time.perf_counter()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        self.wait_until_healthy()
        self.seconds_to_health = time.perf_counter() - begun

    def wait_until_healthy(self) -> None:
        """Returns once it answers; raises ``RuntimeError`` when it ended, or did not answer within a minute."""
        assert self.process is not None
        wait_until_answered(f"{self.url}/_stcore/health", self.process, self.log)

    def stop(self) -> None:
        """Ends it, if it runs."""
        if self.process is not None:
            self.process.terminate()
            try:
                self.process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                # The web server under Streamlit waits without end for a browser that connects while it stops.
                self.process.kill()
                self.process.wait()
            self.process = None


def wait_until_answered(url: str, process: subprocess.Popen[bytes], log: Path = Path(os.devnull)) -> None:
    """Returns once a process that was started answers there.

    Raises:
        RuntimeError: It ended, or did not answer within a minute; with the end of its log.
    """
    deadline = time.perf_counter() + _GIVE_UP_SECONDS
    while process.poll() is None and time.perf_counter() < deadline:
        try:
            with urlopen(url, timeout=5) as answer:
                if answer.status == 200:
                    return
        except (HTTPException, OSError):
            time.sleep(_POLL_SECONDS)
    raise RuntimeError(f"{url} does not answer:\n{log.read_text('utf-8', errors='replace')[-3000:]}")


@contextmanager
def serving(database: Path, *options: str) -> Iterator[Server]:
    """Serve a database on a free port until the block ends."""
    server = Server(database, options)
    try:
        server.start()
        yield server
    finally:
        server.stop()
