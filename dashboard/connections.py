"""Bound open connections: those of guests make room for others, and the last file descriptors are kept for files.

A session of Streamlit's takes about four descriptors. Where none is left, DuckDB cannot open its file and ends the
process, so connections are closed or refused before that.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

from dashboard.visitors import CONNECTION, GUEST_BYTES

DESCRIPTORS_PER_SESSION = 5
"""A socket, and what the thread that runs a session's script holds (an event loop takes three)."""
KEPT_DESCRIPTORS = 256
"""For the database, its lock, files that are read, and calls of models."""
MOST_GUESTS = 128
"""The most connections without a login, whether they ever send anything or not."""
MOST_CONNECTIONS = 4_096
MESSAGE_BYTES = 32_000_000
"""The longest message of somebody who logged in; files are not sent in messages."""


def most_connections() -> int:
    """The number of connections that this process can hold open with the descriptors that it may have."""
    if sys.platform == "win32":
        return MOST_CONNECTIONS
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return max(8, min(MOST_CONNECTIONS, (soft - KEPT_DESCRIPTORS) // DESCRIPTORS_PER_SESSION))


Key = TypeVar("Key", bound=Hashable)


@dataclass
class _Guest:
    address: str
    last_active: float
    is_busy: bool = False


class Pool(Generic[Key]):
    """Open connections, and which of them is closed when there are too many.

    Args:
        most: The most connections at once.
        most_guests: The most of them without a login.
    """

    def __init__(self, most: int, most_guests: int = MOST_GUESTS) -> None:
        self._most = most
        self._most_guests = min(most_guests, max(1, most // 2))
        self._guests: dict[Key, _Guest] = {}
        self._known: set[Key] = set()

    def open(self, connection: Key, address: str, now: float | None = None) -> list[Key]:
        """Adds a connection of a guest, and returns those to close for it: itself, where no other one can go."""
        self._guests[connection] = _Guest(address, self._now(now))
        closed = []
        while len(self._guests) > self._most_guests or len(self._guests) + len(self._known) > self._most:
            closed.append(self._next_to_close(connection))
            self.close(closed[-1])
            if closed[-1] is connection:
                break
        return closed

    def touch(self, connection: Key, *, is_busy: bool = False, now: float | None = None) -> None:
        """Notes that a guest sent something; while their answer is under way they are not idle."""
        if connection in self._guests:
            found = self._guests[connection]
            found.last_active, found.is_busy = self._now(now), is_busy

    def came_from(self, connection: Key, address: str) -> None:
        """Notes the address that a proxy gave."""
        if connection in self._guests:
            self._guests[connection].address = address

    def admit(self, connection: Key) -> None:
        """Takes a connection out of the guests: it has a login."""
        if self._guests.pop(connection, None) is not None:
            self._known.add(connection)

    def close(self, connection: Key) -> None:
        """Forgets a connection."""
        self._guests.pop(connection, None)
        self._known.discard(connection)

    def _next_to_close(self, newest: Key) -> Key:
        """One of the address with the most guests: idle before busy ones, and the one that was idle for longest.

        A connection is idle until its first byte, so that those of other addresses must not pay for busy ones.
        """
        others = {one: guest for one, guest in self._guests.items() if one is not newest}
        if not others:
            return newest
        counts = Counter(guest.address for guest in self._guests.values())
        return min(
            others,
            key=lambda one: (-counts[others[one].address], others[one].is_busy, others[one].last_active),
        )

    @staticmethod
    def _now(now: float | None) -> float:
        return time.monotonic() if now is None else now


class _Http(H11Protocol):
    """Uvicorn's HTTP protocol, whose connections are in a pool from their first byte to their last."""

    pool: Pool[asyncio.Transport]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._inner, self.app = self.app, self._connected
        self._is_admitted = False

    async def _connected(self, scope: Any, receive: Any, send: Any) -> None:
        if not self._is_admitted:
            scope["extensions"] = {**scope.get("extensions", {}), CONNECTION: self}
        await self._inner(scope, receive, send)

    def came_from(self, address: str) -> None:
        self.pool.came_from(self.transport, address)

    def admit(self) -> None:
        self._is_admitted = True
        self.pool.admit(self.transport)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        for one in self.pool.open(transport, self.client[0] if self.client else ""):
            one.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.pool.close(self.transport)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self.pool.touch(self.transport, is_busy=self.cycle is not None and not self.cycle.response_complete)

    def on_response_complete(self) -> None:
        self.pool.touch(self.transport)
        super().on_response_complete()


class _WebSocket(WebSocketsSansIOProtocol):
    """Uvicorn's websocket protocol over a connection that is in the pool."""

    pool: Pool[asyncio.Transport]

    def handle_connect(self, event: Request) -> None:
        self.conn.max_message_size = GUEST_BYTES
        super().handle_connect(event)

    async def run_asgi(self) -> None:
        self.scope["extensions"][CONNECTION] = self  # type: ignore[assignment]
        await super().run_asgi()

    def came_from(self, address: str) -> None:
        self.pool.came_from(self.transport, address)

    def admit(self) -> None:
        self.pool.admit(self.transport)
        self.conn.max_message_size = self.config.ws_max_size

    def data_received(self, data: bytes) -> None:
        self.pool.touch(self.transport)
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.pool.close(self.transport)
        super().connection_lost(exc)


def protocols(pool: Pool[asyncio.Transport]) -> tuple[type[H11Protocol], type[WebSocketsSansIOProtocol]]:
    """The web server's protocols, whose connections are in ``pool``."""
    return type("Http", (_Http,), {"pool": pool}), type("WebSocket", (_WebSocket,), {"pool": pool})
