"""Serve the dashboard from a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

_GIVE_UP_SECONDS = 60.0
_POLL_SECONDS = 0.01


def dramaturg() -> str:
    """The installed command beside the running Python."""
    return str(Path(sys.executable).with_name("dramaturg"))


@dataclass(frozen=True, slots=True)
class Serving:
    """A running ``dramaturg serve``."""

    url: str
    process: int
    seconds_to_health: float


@contextmanager
def serving(
    database: Path, *options: str, environment: Mapping[str, str] | None = None, log: Path = Path(os.devnull)
) -> Iterator[Serving]:
    """Serve a database on a free port until the block ends.

    Args:
        database: The file; created if missing.
        options: Further options of ``dramaturg serve``.
        environment: Additional environment variables.
        log: File for the server's output.

    Raises:
        RuntimeError: The server ended, or did not answer within a minute.
    """
    port = _free_port()
    start = time.perf_counter()
    with log.open("wb") as output:
        server = subprocess.Popen(
            [dramaturg(), "serve", "--port", str(port), *options],
            env={**os.environ, "DRAMATURG_DB": str(database), **(environment or {})},
            stdout=output,
            stderr=output,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_until_healthy(f"{url}/_stcore/health", server, start + _GIVE_UP_SECONDS)
        yield Serving(url, server.pid, time.perf_counter() - start)
    finally:
        server.terminate()
        server.wait()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _wait_until_healthy(url: str, server: subprocess.Popen[bytes], deadline: float) -> None:
    while time.perf_counter() < deadline:
        if server.poll() is not None:
            raise RuntimeError(f"dramaturg serve ended with code {server.returncode}.")
        try:
            with urlopen(url, timeout=1) as answer:
                if answer.status == 200:
                    return
        except (URLError, HTTPException, OSError):
            time.sleep(_POLL_SECONDS)
    raise RuntimeError(f"{url} did not answer within {_GIVE_UP_SECONDS:.0f} s.")
