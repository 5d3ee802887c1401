"""A judge behind the OpenAI protocol, on loopback: as quick as told, and as unreliable as told.

``python -m tests.judge_server`` serves until it is stopped and prints its address first. Tests serve it from a
thread and misbehave on a schedule.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import re
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

_ITEM = re.compile(r"^\[P(\d+)\]", re.MULTILINE)

Content = Callable[[dict[str, Any]], str]
"""What the judge writes, given the body of the request."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to misbehave.

    Attributes:
        status: The HTTP status to answer with.
        headers: Further headers, such as ``Retry-After``.
        content: What the model writes instead of a good answer.
        body: The whole body of the response instead of a completion.
        seconds: How long ``slow`` waits before a good answer.
        kind: ``slow`` answers well but late, ``hang`` answers nothing until the client gives up, ``reset`` breaks the
            connection in the middle of the body, ``drip`` sends a byte now and then; any other name misbehaves by the
            attributes above.
    """

    kind: str
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    content: str | None = None
    body: bytes | None = None
    seconds: float = 0.0


Misbehave = Callable[[dict[str, Any], int], Fault | None]
"""Given the body of a request and how often that prompt came before, the fault to commit; ``None`` to answer well."""


@dataclass
class Tally:
    """What the server saw, updated as it happens.

    Attributes:
        asked: How often each prompt (hash) came.
        answered: How often each prompt got a good answer.
        faults: How often each kind of fault was committed.
        most_in_flight: The largest number of requests at the same time.
    """

    asked: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    in_flight: int = 0
    most_in_flight: int = 0


class JudgeServer:
    """Serves ``POST .../chat/completions``, no models under ``GET .../models``, and its counts under ``GET .../tally``.

    Args:
        content: Writes the answers; the default gives every claim a score from its hash.
        latency_seconds: How long a good answer takes.
        misbehave: When to commit which fault.
        prompt_of: What identifies a prompt in the tally.
        slots: How many answers are worked on at the same time, the others waiting in the order in which they came;
            without limit when left out. An answer that a client does not wait for any more is worked on nevertheless.
    """

    def __init__(
        self,
        *,
        content: Content | None = None,
        latency_seconds: float = 0.0,
        misbehave: Misbehave | None = None,
        prompt_of: Callable[[dict[str, Any]], str] | None = None,
        slots: int | None = None,
    ) -> None:
        self._content = content or plausible_answer
        self._latency = latency_seconds
        self._misbehave = misbehave
        self._prompt_of = prompt_of or last_message
        self._slots = None if slots is None else asyncio.Semaphore(slots)
        self._writers: set[asyncio.StreamWriter] = set()
        self.tally = Tally()
        self.url = ""

    async def start(self) -> asyncio.Server:
        """Begins to listen on a free port of loopback; sets ``url``."""
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, backlog=512)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        return server

    @contextmanager
    def in_thread(self) -> Iterator[JudgeServer]:
        """Serves from a thread of its own until the block ends."""
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, name="judge-server", daemon=True)
        thread.start()
        server = asyncio.run_coroutine_threadsafe(self.start(), loop).result()
        try:
            yield self
        finally:
            asyncio.run_coroutine_threadsafe(self._shut_down(server), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    async def _shut_down(self, server: asyncio.Server) -> None:
        server.close()
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while (request := await _read_request(reader)) is not None:
                target, body = request
                if target.endswith("/tally"):
                    await self._tell(writer)
                    continue
                if target.endswith("/models"):
                    await _send(writer, 200, b'{"object": "list", "data": []}')
                    continue
                self.tally.in_flight += 1
                self.tally.most_in_flight = max(self.tally.most_in_flight, self.tally.in_flight)
                try:
                    await self._respond(body, reader, writer)
                finally:
                    self.tally.in_flight -= 1
                if writer.is_closing():
                    break
        except (OSError, asyncio.IncompleteReadError):
            pass  # The client went away.
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _tell(self, writer: asyncio.StreamWriter) -> None:
        """The counts so far, for who asks from another process; the most in flight begins anew."""
        counts = {"asked": self.tally.asked.total(), "most_in_flight": self.tally.most_in_flight}
        self.tally.most_in_flight = 0
        await _send(writer, 200, json.dumps(counts).encode("ascii"))

    async def _respond(self, raw: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        body = json.loads(raw)
        prompt = self._prompt_of(body)
        fault = self._misbehave(body, self.tally.asked[prompt]) if self._misbehave else None
        self.tally.asked[prompt] += 1
        if fault is None:
            async with self._slots or nullcontext():
                await asyncio.sleep(self._latency)
            # Counted before it is sent: what the client got must be in the count.
            self.tally.answered[prompt] += 1
            await _send(writer, 200, _completion(body, self._content(body)))
            return
        self.tally.faults[fault.kind] += 1
        content = self._content(body) if fault.content is None else fault.content
        payload = _completion(body, content) if fault.body is None else fault.body
        await _COMMIT.get(fault.kind, _answer_badly)(fault, payload, reader, writer)


async def _answer_badly(fault: Fault, payload: bytes, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await _send(writer, fault.status, payload, fault.headers)


async def _hang(_: Fault, __: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)
    writer.close()


async def _slow(fault: Fault, payload: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    gone = asyncio.ensure_future(reader.read(1))
    done, _pending = await asyncio.wait({gone}, timeout=fault.seconds)
    if done:
        writer.close()
        return
    gone.cancel()
    await _send(writer, 200, payload)
    writer.close()


async def _reset(_: Fault, payload: bytes, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await _send(writer, 200, payload, sent=len(payload) // 2)
    raw: socket.socket = writer.get_extra_info("socket")
    # With a linger time of nothing, closing sends a reset in place of an orderly end.
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.close()


async def _drip(_: Fault, payload: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await _send(writer, 200, payload, sent=0)
    gone = asyncio.ensure_future(reader.read(1))
    for position in range(len(payload)):
        writer.write(payload[position : position + 1])
        done, _pending = await asyncio.wait({gone}, timeout=0.02)
        if done:
            break
    writer.close()


_COMMIT = {"slow": _slow, "hang": _hang, "reset": _reset, "drip": _drip}


async def _read_request(reader: asyncio.StreamReader) -> tuple[str, bytes] | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    found = re.search(rb"content-length:\s*(\d+)", head, re.IGNORECASE)
    target = head.split(b" ", 2)[1].decode("ascii", "replace")
    return target, await reader.readexactly(int(found[1])) if found else b""


async def _send(
    writer: asyncio.StreamWriter,
    status: int,
    payload: bytes,
    headers: tuple[tuple[str, str], ...] = (),
    sent: int | None = None,
) -> None:
    lines = [
        f"HTTP/1.1 {status} Told",
        "Content-Type: application/json",
        f"Content-Length: {len(payload)}",
        *(f"{name}: {value}" for name, value in headers),
    ]
    writer.write("\r\n".join(lines).encode("ascii") + b"\r\n\r\n" + payload[:sent])
    await writer.drain()


def _completion(body: dict[str, Any], content: str) -> bytes:
    read = sum(len(str(message.get("content"))) for message in body.get("messages", ())) // 4
    written = len(content) // 4
    return json.dumps(
        {
            "id": "chatcmpl-local",
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model", ""),
            "choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
        }
    ).encode("utf-8")


def last_message(body: dict[str, Any]) -> str:
    """Identifies a prompt by the text of its last message."""
    return hashlib.sha256(str(body["messages"][-1]["content"]).encode("utf-8", "replace")).hexdigest()


def scripted(answer: Callable[[Sequence[Mapping[str, str]]], str]) -> Content:
    """Has somebody answer who reads the conversation alone."""
    return lambda body: answer(body["messages"])


def plausible_answer(body: dict[str, Any]) -> str:
    """A score from the hash of the prompt; one for every ``[P1]``, ``[P2]``, ... where there are several."""
    text = str(body["messages"][-1]["content"])
    items = [int(number) for number in _ITEM.findall(text)]
    if not items:
        return json.dumps(_verdict(text))
    return json.dumps({"answers": [{"item": number, **_verdict(f"{number} {text}")} for number in items]})


def _verdict(text: str) -> dict[str, Any]:
    digest = hashlib.sha256(text.encode("utf-8", "replace")).digest()
    reason = "The messages show it in their choice of words."
    return {"reason": reason, "score": digest[0] % 10, "confidence": 0.8, "citations": [1], "data_missing": False}


async def _serve(latency_seconds: float) -> None:
    judge = JudgeServer(latency_seconds=latency_seconds)
    server = await judge.start()
    print(judge.url, flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.judge_server", description=__doc__)
    parser.add_argument("--latency", type=float, default=0.05, help="seconds that an answer takes")
    asyncio.run(_serve(parser.parse_args().latency))
