"""Take in games while the server runs: from a folder that fills, and over HTTP from simulations on other machines.

``dramaturg serve --inbox FOLDER`` has a thread watch the folder. With a token in ``DRAMATURG_INBOX_TOKEN``,
``POST /inbox`` puts a file into it, which goes the same way as any other from there.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import math
import os
import re
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from dashboard.shared import resources
from evaluation.errors import DramaturgError
from evaluation.recorder import RunningGame, RunningGames
from evaluation.store import Store
from evaluation.workflows.scoring import ScoredFile
from evaluation.workflows.watching import SETTLED_SECONDS, Watcher, pause_between_looks, watch_until

if TYPE_CHECKING:
    from typing import BinaryIO

FOLDER_VARIABLE = "DRAMATURG_INBOX"
ITERATION_VARIABLE = "DRAMATURG_INBOX_ITERATION"
TOKEN_VARIABLE = "DRAMATURG_INBOX_TOKEN"
ADDRESS = "/inbox"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,99}")
_DEFAULT_NAME = "game.json"
_RETRY_SECONDS = 5.0
_RUNNING_SECONDS = 0.9
_log = logging.getLogger(__name__)


class _TooLarge(Exception):
    """The body is longer than the limits allow."""


@dataclass(slots=True)
class Inbox:
    """The folder that is watched, and what became of its files since the server began.

    Attributes:
        folder: What is watched.
        iteration: Where its games go; ``None`` for none.
        stored: How many games were new.
        known: How many were in the store already.
        refused: How many remarks on files there were; the files stand in the reports on imports.
        waiting: How many files are there and not taken yet.
        trouble: Why nothing can be taken now; empty while all is well.
    """

    folder: Path
    iteration: str | None = None
    stored: int = 0
    known: int = 0
    refused: int = 0
    waiting: int = 0
    trouble: str = ""
    _running: list[RunningGame] = field(default_factory=list)
    _games: RunningGames | None = None
    _looked_at: float = -math.inf
    _look: threading.Lock = field(default_factory=threading.Lock)

    def running(self) -> list[RunningGame]:
        """The games that are being recorded there; looked for once a second, however many pages ask."""
        with self._look:
            if time.monotonic() - self._looked_at >= _RUNNING_SECONDS:
                self._games = self._games or RunningGames(self.folder)
                self._running = self._games.look()
                self._looked_at = time.monotonic()
            return self._running

    def watch(self, store: Store, stopped: threading.Event, *, settled_seconds: float = SETTLED_SECONDS) -> None:
        """Takes what arrives, until ``stopped`` is set. What goes wrong is tried again after a while."""
        watcher: Watcher | None = None
        while not stopped.is_set():
            try:
                # One for as long as the server runs: it remembers what was refused.
                watcher = watcher or Watcher(
                    store, self.folder, iteration=self.iteration, settled_seconds=settled_seconds
                )
                pause = pause_between_looks(settled_seconds)
                watch_until(watcher, stopped, self._count, self._refuse, self._note_look(watcher), pause_seconds=pause)
            except (DramaturgError, OSError) as error:
                self.trouble = str(error)
                _log.warning("The inbox %s waits: %s", self.folder, error)
                stopped.wait(_RETRY_SECONDS)

    def _count(self, found: ScoredFile) -> None:
        if found.is_new:
            self.stored += 1
        else:
            self.known += 1

    def _refuse(self, remark: str) -> None:
        self.refused += 1
        _log.warning("%s", remark)

    def _note_look(self, watcher: Watcher) -> Callable[[], bool]:
        def note() -> bool:
            self.waiting, self.trouble = watcher.waiting, ""
            return True

        return note


def configured(environment: Mapping[str, str]) -> Inbox | None:
    """The inbox that the environment names; ``None`` for none."""
    folder = environment.get(FOLDER_VARIABLE)
    return Inbox(Path(folder), environment.get(ITERATION_VARIABLE) or None) if folder else None


current = configured(os.environ)
"""The inbox of this server, for the page that tells of it."""


@asynccontextmanager
async def lifespan(_app: object) -> AsyncIterator[None]:
    """Watches the inbox as long as the server runs."""
    stopped = threading.Event()
    if current is not None:
        # Without the guard, which asks whose session it is: the person who started the server wants this.
        arguments = (resources.store().unguarded(), stopped)
        threading.Thread(target=current.watch, args=arguments, name="inbox", daemon=True).start()
    yield
    stopped.set()


def routes(environment: Mapping[str, str]) -> list[Route]:
    """The route of ``POST /inbox``, which takes nothing without an inbox and a token."""
    token = environment.get(TOKEN_VARIABLE, "")
    receive = _closed if current is None or not token else _Receiver(current.folder, token).receive
    return [Route(ADDRESS, receive, methods=["POST"])]


async def _closed(_request: Request) -> JSONResponse:
    """Else Streamlit would answer 200 with its start page, and a simulation would take that for a receipt."""
    return _refusal(404, "This server takes no files.", f"Start it with --inbox and with {TOKEN_VARIABLE}.")


class _Receiver:
    """Puts what is sent with the token into a folder."""

    def __init__(self, folder: Path, token: str) -> None:
        self._folder = folder
        self._expected = hashlib.sha256(f"Bearer {token}".encode()).digest()

    async def receive(self, request: Request) -> JSONResponse:
        """Answers a request: 202 for a file that is stored now, 200 for one that was there with the same content.

        The answer comes when the file is on the disk. It names the file, and not what will become of its games.
        """
        given = hashlib.sha256(request.headers.get("authorization", "").encode()).digest()
        if not hmac.compare_digest(given, self._expected):
            return _refusal(401, "The token is missing or wrong.", "Send the header Authorization: Bearer TOKEN.")
        name = request.query_params.get("name", _DEFAULT_NAME)
        if not _NAME.fullmatch(name):
            return _refusal(
                400, "That name cannot be used.", "Use letters, digits, spaces, dots, dashes: at most 100, no folder."
            )
        try:
            limits = await run_in_threadpool(lambda: resources.store().settings.limits())
            most = limits.archive_bytes if name.lower().endswith(".zip") else limits.file_bytes
            return await self._keep(request, name, most)
        except _TooLarge:
            return _refusal(413, f"The file has more than {most:,} bytes.", "Send games one by one.")
        except ClientDisconnect:
            return _refusal(400, "The connection ended before the file did.", "Send it again.")
        except DramaturgError as error:
            return _refusal(503, error.message, error.remedy or "Send it again later.")
        except OSError as error:
            return _refusal(507, f"The file cannot be written: {error.strerror or error}.", "Send it again later.")

    async def _keep(self, request: Request, name: str, most: int) -> JSONResponse:
        part = self._folder / f".{uuid.uuid4().hex}.part"
        try:
            with part.open("xb") as file:
                digest = await _write(request, file, most)
                await run_in_threadpool(_sync, file)
            if digest is None:
                return _refusal(400, "The body is empty.", "Send the file as the body of the request.")
            path = Path(name)
            kept = self._folder / f"{path.stem}-{digest[:16]}{path.suffix}"
            # What is there already keeps its time, so that it is not taken again.
            if is_new := not kept.exists():
                part.replace(kept)
                await run_in_threadpool(_sync_folder, self._folder)
        finally:
            part.unlink(missing_ok=True)
        return JSONResponse({"file": kept.name, "is_new": is_new}, status_code=202 if is_new else 200)


async def _write(request: Request, file: BinaryIO, most: int) -> str | None:
    """The digest of the body, which is written to ``file``; ``None`` when it is empty."""
    digest, size = hashlib.sha256(), 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > most:
            raise _TooLarge
        digest.update(chunk)
        file.write(chunk)
    return digest.hexdigest() if size else None


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _refusal(status: int, message: str, remedy: str) -> JSONResponse:
    return JSONResponse({"error": message, "remedy": remedy}, status_code=status)
