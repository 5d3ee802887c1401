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
from websockets.frames import Frame
from websockets.http11 import Request

from dashboard.visitors import CONNECTION, GUEST_BYTES

DESCRIPTORS_PER_SESSION = 5
"""A socket, and what the thread that runs a session's script holds (an event loop takes three)."""
KEPT_DESCRIPTORS = 256
"""For the database, its lock, files that are read, and calls of models."""
MOST_GUESTS = 128
"""The most connections without a login, whether they ever send anything or not."""
MOST_CONNECTIONS = 4_096
MOST_OF_ONE_LOGIN = 64
"""The most connections of one login, of which each tab takes about two; where there are few in all, a quarter."""
LEFT_TO_A_LOGIN = 8
"""As many connections of a login are not closed to make room for others."""


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
class _Open:
    owner: str
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
        self._most_of_one = min(MOST_OF_ONE_LOGIN, max(LEFT_TO_A_LOGIN, most // 4))
        # Owners of guests' connections are addresses, those of the others logins.
        self._guests: dict[Key, _Open] = {}
        self._known: dict[Key, _Open] = {}

    def open(self, connection: Key, address: str, now: float | None = None) -> list[Key]:
        """Adds a connection of a guest, and returns those to close for it: itself, where no other one can go."""
        self._guests[connection] = _Open(address, self._now(now))
        closed: list[Key] = []
        while len(self._guests) > self._most_guests or len(self._guests) + len(self._known) > self._most:
            closed.append(self._next_to_close(connection))
            self.close(closed[-1])
            if closed[-1] is connection:
                break
        return closed

    def touch(self, connection: Key, *, is_busy: bool = False, now: float | None = None) -> None:
        """Notes that somebody sent something; while their answer is under way they are not idle."""
        found = self._guests.get(connection) or self._known.get(connection)
        if found is not None:
            found.last_active, found.is_busy = self._now(now), is_busy

    def came_from(self, connection: Key, address: str) -> None:
        """Notes the address that a proxy gave."""
        if connection in self._guests:
            self._guests[connection].owner = address

    def admit(self, connection: Key, login: str = "") -> list[Key]:
        """Takes a connection out of the guests, and returns those of the same login that are too many by now.

        Without logins nobody knows whose connections they are; then there are as many as there is room for.
        """
        found = self._guests.pop(connection, None)
        if found is None:
            return []
        found.owner = login
        self._known[connection] = found
        own = {one: held for one, held in self._known.items() if held.owner == login and one is not connection}
        if not login or len(own) < self._most_of_one:
            return []
        idlest = min(own, key=lambda one: (own[one].is_busy, own[one].last_active))
        self.close(idlest)
        return [idlest]

    def close(self, connection: Key) -> None:
        """Forgets a connection."""
        self._guests.pop(connection, None)
        self._known.pop(connection, None)

    def _next_to_close(self, newest: Key) -> Key:
        """One of the address with the most guests: idle before busy ones, and the one that was idle for longest.

        A connection is idle until its first byte, so that those of other addresses must not pay for busy ones. Where
        no other guest is left, the login with the most connections makes room, unless it has few.
        """
        others = {one: guest for one, guest in self._guests.items() if one is not newest}
        counts = Counter(guest.owner for guest in self._guests.values())
        if not others:
            counts = Counter(held.owner for held in self._known.values())
            others = {one: held for one, held in self._known.items() if counts[held.owner] > LEFT_TO_A_LOGIN}
        if not others:
            return newest
        return min(others, key=lambda one: (-counts[others[one].owner], others[one].is_busy, others[one].last_active))

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

    def admit(self, login: str) -> None:
        self._is_admitted = True
        for one in self.pool.admit(self.transport, login):
            one.abort()

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

    def admit(self, login: str) -> None:
        for one in self.pool.admit(self.transport, login):
            one.abort()

    def take_messages(self, most_bytes: int) -> None:
        self.conn.max_message_size = most_bytes

    def handle_bytes(self, event: Frame) -> None:
        # Answers to pings come from idle tabs, too.
        self.pool.touch(self.transport)
        super().handle_bytes(event)

    def connection_lost(self, exc: Exception | None) -> None:
        self.pool.close(self.transport)
        super().connection_lost(exc)


def protocols(pool: Pool[asyncio.Transport]) -> tuple[type[H11Protocol], type[WebSocketsSansIOProtocol]]:
    """The web server's protocols, whose connections are in ``pool``."""
    return type("Http", (_Http,), {"pool": pool}), type("WebSocket", (_WebSocket,), {"pool": pool})
