"""A server that speaks OpenAI's protocol and answers from a script: for trying things out without a key, and for tests.

It is a real HTTP server on loopback, so that everything between an experiment and a model is in play: connections,
concurrency, latency, retries.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from evaluation.errors import InfrastructureError

Answer = Callable[[Sequence[Mapping[str, str]]], str]
"""What the model writes, given the conversation."""

LOOPBACK = "127.0.0.1"
_LENGTH = re.compile(rb"content-length:\s*(\d{1,9})", re.IGNORECASE)
_LARGEST_REQUEST = 20_000_000
_BACKLOG = 512


class ScriptedServer:
    """Answers ``POST .../chat/completions`` with what ``answer`` makes of the conversation.

    Args:
        answer: Writes the answers; called in the server's own thread.
        latency_seconds: How long every answer takes.
        port: Where to listen on loopback; 0 takes a free one.

    Attributes:
        url: The address to give as base URL, once it listens.
        asked: How many requests came.
        most_in_flight: The most of them at the same time.
    """

    def __init__(self, answer: Answer, *, latency_seconds: float = 0.0, port: int = 0) -> None:
        self._answer = answer
        self._latency = latency_seconds
        self._port = port
        self._writers: set[asyncio.StreamWriter] = set()
        self._in_flight = 0
        self.url = ""
        self.asked = 0
        self.most_in_flight = 0

    async def start(self) -> asyncio.Server:
        """Begins to listen.

        Raises:
            InfrastructureError: The port is taken.
        """
        try:
            server = await asyncio.start_server(self._connection, LOOPBACK, self._port, backlog=_BACKLOG)
        except OSError as error:
            raise InfrastructureError(
                f"Nothing can listen on port {self._port}: {error.strerror}.", remedy="Choose another port with --port."
            ) from None
        self.url = f"http://{LOOPBACK}:{server.sockets[0].getsockname()[1]}/v1"
        return server

    async def serve(self, tell: Callable[[str], None]) -> None:
        """Serves until it is cancelled; ``tell`` gets the address first."""
        server = await self.start()
        tell(self.url)
        async with server:
            await server.serve_forever()

    @contextmanager
    def in_thread(self) -> Iterator[ScriptedServer]:
        """Serves from a thread of its own until the block ends."""
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, name="scripted-server", daemon=True)
        thread.start()
        try:
            server = asyncio.run_coroutine_threadsafe(self.start(), loop).result()
            try:
                yield self
            finally:
                asyncio.run_coroutine_threadsafe(self._shut_down(server), loop).result()
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    async def _shut_down(self, server: asyncio.Server) -> None:
        server.close()
        for writer in list(self._writers):
            writer.transport.abort()
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()}, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while (body := await _request(reader)) is not None:
                await self._respond(body, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # The client went away, or does not speak HTTP.
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _respond(self, raw: bytes, writer: asyncio.StreamWriter) -> None:
        self.asked += 1
        self._in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            await asyncio.sleep(self._latency)
            status, payload = self._answered(raw)
        finally:
            self._in_flight -= 1
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(payload)}\r\n\r\n"
        writer.write(head.encode("ascii") + payload)
        await writer.drain()

    def _answered(self, raw: bytes) -> tuple[str, bytes]:
        try:
            body = json.loads(raw)
            messages = [{"role": str(m["role"]), "content": str(m["content"])} for m in body["messages"]]
            model = str(body["model"])
        except (ValueError, KeyError, TypeError, RecursionError):
            return "400 Bad Request", b'{"error": {"message": "give model and messages as JSON"}}'
        return "200 OK", _completion(model, messages, self._answer(messages))


async def _request(reader: asyncio.StreamReader) -> bytes | None:
    """The body of the next request; ``None`` when the client is done."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    found = _LENGTH.search(head)
    length = int(found[1]) if found else 0
    return await reader.readexactly(length) if length <= _LARGEST_REQUEST else None


def _completion(model: str, messages: Sequence[Mapping[str, str]], content: str) -> bytes:
    read = sum(len(message["content"]) for message in messages) // 4
    written = len(content) // 4
    body: dict[str, Any] = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
    }
    return json.dumps(body).encode("ascii")
