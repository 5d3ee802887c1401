"""Lease calls from one budget and one server's limit: in this process, or over a socket for other processes."""

from __future__ import annotations

import asyncio
import hmac
import json
import socket
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import count
from secrets import token_hex
from types import TracebackType
from typing import Any, Protocol
from urllib.parse import urlsplit

from evaluation.errors import InfrastructureError
from evaluation.judging.model_client.budget import Budget, BudgetSpentError
from evaluation.judging.model_client.server_state import CallEnd, ServerCall, ServerState

_HELLO_SECONDS = 30.0
_LOST = "Run the same command again: it goes on where it stopped."


@dataclass(frozen=True, slots=True)
class LeaseTerms:
    """The call that a lease is wanted for.

    Attributes:
        usd: What it costs at most.
        has_place: Whether it waits for a place under the server's limit.
        is_refused: Whether it was one too many before (a 429), and goes first.
        is_retry: Whether it failed before.
    """

    usd: float
    has_place: bool = True
    is_refused: bool = False
    is_retry: bool = False


@dataclass(frozen=True, slots=True)
class Lease:
    """Leave to make one call; it must be ended.

    Attributes:
        timeout_seconds: How long the call may take.
        call: The call as the server's state knows it; ``None`` where another process holds the state.
        number: The lease's number at the process that handed it out.
    """

    terms: LeaseTerms
    timeout_seconds: float
    call: ServerCall | None = None
    number: int = 0


class CallLeases(Protocol):
    """Hands out leases."""

    async def begin(self, terms: LeaseTerms) -> Lease:
        """Waits until the call may be sent.

        Raises:
            BudgetSpentError: The budget does not allow it, or the run was stopped.
        """
        ...

    async def end(self, lease: Lease, how: CallEnd, cost_usd: float | None) -> bool:
        """Ends a call, and says whether the server had begun it.

        Args:
            lease: From ``begin``.
            how: How it ended.
            cost_usd: What it cost; ``None`` for an answer whose price is not known.
        """
        ...


class LocalLeases:
    """Leases from a budget and a server's state of this process; safe to use from several threads and event loops.

    Args:
        budget: What may be spent.
        server: What is known of the server.
        concurrency: The largest limit of calls under way.
        timeout_seconds: The upper limit of a call's timeout.
        is_adaptive: Whether the timeout follows the server's pace below that.
    """

    def __init__(
        self,
        budget: Budget,
        server: ServerState,
        *,
        concurrency: int,
        timeout_seconds: float,
        is_adaptive: bool = True,
    ) -> None:
        self.budget = budget
        self._load = server.concurrency
        self._concurrency = max(1, concurrency)
        self._timeout_seconds = timeout_seconds
        self._is_adaptive = is_adaptive

    async def begin(self, terms: LeaseTerms) -> Lease:
        """Waits for a place first, then for the money, so that a call that waits for a place holds no money."""
        if terms.has_place:
            await self._load.acquire(self._concurrency, is_refused=terms.is_refused)
        try:
            await self.budget.set_aside(terms.usd)
        except (BudgetSpentError, asyncio.CancelledError):
            if terms.has_place:
                self._load.release()
            raise
        timeout = self._timeout_seconds
        if self._is_adaptive:
            timeout = self._load.timeout_seconds(timeout, is_retry=terms.is_retry)
        return Lease(terms, timeout, self._load.send())

    async def end(self, lease: Lease, how: CallEnd, cost_usd: float | None) -> bool:
        """Ends a call; waits for nothing."""
        assert lease.call is not None
        is_begun = self._load.end(lease.call, how, lease.timeout_seconds, self._concurrency)
        self.budget.settle(lease.terms.usd, cost_usd, is_begun=is_begun)
        if lease.terms.has_place:
            self._load.release()
        return is_begun


@dataclass(frozen=True, slots=True)
class LeaseAddress:
    """Address at which other processes get leases.

    Attributes:
        host: An address of the machine that hands them out.
        port: Its port.
        token: What only the processes of this run know.
    """

    host: str
    port: int
    token: str


class LeaseServer:
    """Hands out the leases of this process to others, as long as its block lasts.

    A process that ends without ending its leases (it was killed) has its places given back, and pays for each call
    under way what was set aside for it: the call may have been answered.

    Args:
        leases: By model.
        scheduler: Of a Dask cluster; the server then listens on this machine's address towards it. Else on loopback.

    Attributes:
        address: Where others get leases.
    """

    address: LeaseAddress

    def __init__(self, leases: Mapping[str, LocalLeases], scheduler: str | None = None) -> None:
        self._leases = leases
        self._host = _address_towards(scheduler) if scheduler else "127.0.0.1"
        self._token = token_hex(16)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> LeaseServer:
        self._thread.start()
        starting = asyncio.start_server(self._serve, self._host, 0)
        try:
            self._server = asyncio.run_coroutine_threadsafe(starting, self._loop).result()
        except OSError as error:
            self._stop_loop()
            raise InfrastructureError(
                f"The place where workers ask for calls cannot be opened: {error.strerror or error}.", place=self._host
            ) from None
        self.address = LeaseAddress(self._host, self._server.sockets[0].getsockname()[1], self._token)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._stop_loop()

    async def _close(self) -> None:
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def _stop_loop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One process, from its token to the end of its connection."""
        # A machine that went away without a word is noticed by the system, in the end.
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        try:
            # Whoever is a stranger may send anything, or nothing.
            with suppress(OSError, ValueError, LookupError, TypeError, RecursionError, asyncio.CancelledError):
                hello = json.loads(await asyncio.wait_for(reader.readline(), _HELLO_SECONDS))
                if hmac.compare_digest(str(hello["token"]).encode(), self._token.encode()):
                    await self._lend(_Holder(self._leases[hello["model"]], writer), reader)
        finally:
            writer.close()

    async def _lend(self, holder: _Holder, reader: asyncio.StreamReader) -> None:
        try:
            while line := await reader.readline():
                self._do(holder, json.loads(line))
        finally:
            await holder.leave()

    def _do(self, holder: _Holder, message: dict[str, Any]) -> None:
        number = message["lease"]
        if message["do"] == "begin":
            holder.waiting[number] = asyncio.ensure_future(self._begin(holder, number, message["terms"]))
        else:
            holder.tasks.add(task := asyncio.ensure_future(holder.end(number, message)))
            task.add_done_callback(holder.tasks.discard)

    async def _begin(self, holder: _Holder, number: int, terms: dict[str, Any]) -> None:
        try:
            lease = await holder.leases.begin(LeaseTerms(**terms))
        except BudgetSpentError as spent:
            holder.say({"lease": number, "spent": spent.reason})
        else:
            holder.held[number] = lease
            holder.say({"lease": number, "timeout_seconds": lease.timeout_seconds})
        finally:
            holder.waiting.pop(number, None)


class _Holder:
    """A connected process with its leases."""

    def __init__(self, leases: LocalLeases, writer: asyncio.StreamWriter) -> None:
        self.leases = leases
        self.held: dict[int, Lease] = {}
        self.waiting: dict[int, asyncio.Future[None]] = {}
        self.tasks: set[asyncio.Future[None]] = set()
        self._writer = writer

    def say(self, message: dict[str, Any]) -> None:
        self._writer.write(json.dumps(message).encode() + b"\n")

    async def end(self, number: int, message: dict[str, Any]) -> None:
        if begun := self.waiting.get(number):
            begun.cancel()
        if lease := self.held.pop(number, None):
            is_begun = await self.leases.end(lease, CallEnd(message["how"]), message["cost_usd"])
            self.say({"lease": number, "is_begun": is_begun})

    async def leave(self) -> None:
        for begun in [*self.waiting.values()]:
            begun.cancel()
        for lease in self.held.values():
            await self.leases.end(lease, CallEnd.OTHER, lease.terms.usd)
        self.held.clear()


class RemoteLeases:
    """Leases from another process; used by one event loop, within ``connected``.

    Args:
        address: Of the process that hands them out.
        model: The model that is asked.
    """

    def __init__(self, address: LeaseAddress, model: str) -> None:
        self._address = address
        self._model = model
        self._numbers = count(1)
        self._replies: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._writer: asyncio.StreamWriter | None = None

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """Keeps a connection to the other process.

        Raises:
            InfrastructureError: Nobody answers there.
        """
        place = f"{self._address.host}:{self._address.port}"
        try:
            reader, self._writer = await asyncio.open_connection(self._address.host, self._address.port)
        except OSError as error:
            raise InfrastructureError(
                f"The process that holds the budget cannot be reached: {error.strerror or error}.",
                place=place,
                remedy="Let workers reach the machine that runs the command, and name the scheduler as they see it.",
            ) from None
        self._say({"token": self._address.token, "model": self._model})
        reading = asyncio.ensure_future(self._read(reader, place))
        try:
            yield
        finally:
            reading.cancel()
            self._writer.close()

    async def begin(self, terms: LeaseTerms) -> Lease:
        """Waits until the call may be sent, as ``CallLeases`` says.

        Raises:
            InfrastructureError: The other process is gone.
        """
        number = next(self._numbers)
        try:
            reply = await self._asked(number, {"do": "begin", "terms": asdict(terms)})
        except asyncio.CancelledError:
            self._say({"do": "end", "lease": number, "how": CallEnd.OTHER, "cost_usd": 0.0})
            raise
        if "spent" in reply:
            raise BudgetSpentError(reply["spent"])
        return Lease(terms, reply["timeout_seconds"], number=number)

    async def end(self, lease: Lease, how: CallEnd, cost_usd: float | None) -> bool:
        """Ends a call. Where the other process is gone there is nobody to tell; the answer is still kept."""
        with suppress(InfrastructureError):
            reply = await self._asked(lease.number, {"do": "end", "how": how, "cost_usd": cost_usd})
            return bool(reply["is_begun"])
        return True

    async def _asked(self, number: int, message: dict[str, Any]) -> dict[str, Any]:
        if self._writer is None or self._writer.is_closing():
            raise _lost(f"{self._address.host}:{self._address.port}")
        self._replies[number] = asyncio.get_running_loop().create_future()
        self._say({**message, "lease": number})
        try:
            return await self._replies[number]
        finally:
            self._replies.pop(number, None)

    def _say(self, message: dict[str, Any]) -> None:
        if self._writer is not None:
            self._writer.write(json.dumps(message).encode() + b"\n")

    async def _read(self, reader: asyncio.StreamReader, place: str) -> None:
        with suppress(OSError, ValueError):
            while line := await reader.readline():
                reply = json.loads(line)
                waiting = self._replies.get(reply["lease"])
                if waiting is not None and not waiting.done():
                    waiting.set_result(reply)
        if self._writer is not None:
            self._writer.close()
        for waiting in self._replies.values():
            if not waiting.done():
                waiting.set_exception(_lost(place))


def _lost(place: str) -> InfrastructureError:
    return InfrastructureError("The process that holds the budget is gone.", place=place, remedy=_LOST)


def _address_towards(scheduler: str) -> str:
    """This machine's address as the scheduler's machine sees it."""
    parts = urlsplit(scheduler)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=30) as connection:
            return str(connection.getsockname()[0])
    except (OSError, ValueError) as error:
        raise InfrastructureError(
            f"No scheduler answers there: {error}.",
            place=scheduler,
            remedy="Start one (dask scheduler), and name its address as tcp://HOST:PORT.",
        ) from None
