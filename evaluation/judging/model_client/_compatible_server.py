"""The direct connection to a server that speaks OpenAI's protocol: one HTTP request a call, and no litellm."""

from __future__ import annotations

import asyncio
import json
import os
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import certifi
from pydantic import BaseModel, ValidationError

from evaluation.judging.model_client._secrets import scrubbed
from evaluation.judging.model_client.calls import Completion, Messages
from evaluation.judging.model_client.price_map import OPENAI_PREFIX, listed_price
from evaluation.judging.model_client.retry import CallFailure, FailureKind, kind_of_status, seconds_to_wait
from evaluation.judging.model_client.usage import Price

_PATH = "/chat/completions"
_NO_KEY = "none"
_OK = 200
_WHOLE_ANSWER = 2.0
"""How many times as long as a silence a whole answer may take."""
_MOST_BYTES = 20_000_000
"""In one answer, unpacked: a hundred times as much as the longest that models write."""


class CompatibleServerProvider:
    """A model behind a server that speaks OpenAI's protocol.

    The key comes from ``OPENAI_API_KEY`` alone; a name and password in the address are sent in its place. A redirection
    is refused, so that they go nowhere else.

    Args:
        model: The model's name; a leading "openai/" is left out of the request.
        base_url: The address up to ``/chat/completions``, which may stand at its end.
    """

    def __init__(self, model: str, base_url: str) -> None:
        self.model = model
        address = base_url.rstrip("/")
        self._url, self._login = _without_login(address if address.endswith(_PATH) else address + _PATH)
        self._proxy = _proxy_for(self._url)
        self._connections: dict[asyncio.AbstractEventLoop, _Connection] = {}

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        """Keeps connections open until the last session of this event loop ends."""
        loop = asyncio.get_running_loop()
        connection = self._connections.get(loop)
        if connection is None:
            connection = self._connections[loop] = _Connection(self._url)
        connection.users += 1
        try:
            yield
        finally:
            connection.users -= 1
            if not connection.users:
                del self._connections[loop]
                await connection.client.close()

    async def complete(
        self, messages: Messages, *, temperature: float, max_tokens: int, timeout_seconds: float
    ) -> Completion:
        """The model's answer. The server may be silent for the time given and take twice as long over all of it.

        So a server that sends a byte now and then is given up, too.

        Raises:
            CallFailure: There is none.
        """
        asked = {
            "model": self.model.removeprefix(OPENAI_PREFIX),
            "messages": list(messages),
            "temperature": temperature,
            "max_tokens": max_tokens,
        }
        async with self.session():
            client = self._connections[asyncio.get_running_loop()].client
            try:
                body = await self._answer(client, json.dumps(asked).encode("ascii"), timeout_seconds)
            except TimeoutError:
                raise CallFailure(FailureKind.TIMEOUT, f"no answer within {timeout_seconds:g} s") from None
            except (aiohttp.ClientError, OSError, ValueError) as error:
                # A ValueError: the address is none. What the connection was used for stands in the error's text.
                raise CallFailure(FailureKind.CONNECTION, scrubbed(str(error) or type(error).__name__)) from None
        return _completion(body)

    async def price(self) -> Price | None:
        """The price in litellm's price map; ``None`` when the model is not in it."""
        return await asyncio.to_thread(listed_price, self.model)

    async def _answer(self, client: aiohttp.ClientSession, asked: bytes, silence: float) -> bytes:
        headers = {
            "Authorization": self._login or f"Bearer {os.environ.get('OPENAI_API_KEY') or _NO_KEY}",
            "Content-Type": "application/json",
        }
        timeout = aiohttp.ClientTimeout(total=_WHOLE_ANSWER * silence, sock_connect=silence, sock_read=silence)
        async with client.post(
            self._url, data=asked, headers=headers, timeout=timeout, allow_redirects=False, proxy=self._proxy
        ) as response:
            body = bytearray()
            async for part in response.content.iter_any():
                body += part
                if len(body) > _MOST_BYTES:
                    raise CallFailure(FailureKind.BROKEN_RESPONSE, f"the answer is longer than {_MOST_BYTES:,} bytes")
            if response.status != _OK:
                wait = seconds_to_wait(response.headers.get("Retry-After"))
                kind = kind_of_status(response.status)
                raise CallFailure(kind, _refusal(bytes(body)), status=response.status, retry_after=wait)
            return bytes(body)


def _without_login(url: str) -> tuple[str, str]:
    """The address without a name and password in it, and these as a header; empty where it has none."""
    parts = urlsplit(url)
    login, at, host = parts.netloc.rpartition("@")
    if not at:
        return url, ""
    name, _, password = login.partition(":")
    return urlunsplit(parts._replace(netloc=host)), aiohttp.encode_basic_auth(unquote(name), unquote(password))


def _proxy_for(url: str) -> str | None:
    """The proxy that the environment names for an address; ``None`` for none.

    Not aiohttp's ``trust_env``: it also looks for credentials in ``.netrc`` and refuses them beside a key.
    """
    parts = urlsplit(url)
    if not parts.hostname or proxy_bypass(parts.hostname):
        return None
    return getproxies().get(parts.scheme)


class _Connection:
    """The open connections of one event loop, and how many sessions need them."""

    def __init__(self, url: str) -> None:
        self.users = 0
        # Whoever calls limits the calls under way.
        connector = aiohttp.TCPConnector(limit=0, ssl=_certificates() if url.startswith("https:") else True)
        self.client = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())


def _certificates() -> ssl.SSLContext:
    """Trust the certificates that ``SSL_CERT_FILE`` names, else certifi's: not every Python finds the system's."""
    return ssl.create_default_context(cafile=os.environ.get("SSL_CERT_FILE") or certifi.where())


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: Any = None


class _Answer(BaseModel):
    choices: list[_Choice]
    model: Any = None
    usage: Any = None


def _completion(body: bytes) -> Completion:
    try:
        # Not pydantic's own reader of JSON: it refuses the half of a character that models sometimes write.
        answer = _Answer.model_validate(json.loads(body))
    except (ValidationError, ValueError, RecursionError):
        raise CallFailure(FailureKind.BROKEN_RESPONSE, "the answer is not one of OpenAI's protocol") from None
    if not answer.choices:
        raise CallFailure(FailureKind.BROKEN_RESPONSE, "the answer holds no choices")
    choice = answer.choices[0]
    usage = answer.usage if isinstance(answer.usage, dict) else {}
    details = usage.get("prompt_tokens_details")
    return Completion(
        content=choice.message.content or "",
        model=str(answer.model or ""),
        input_tokens=usage.get("prompt_tokens", 0),
        cached_tokens=details.get("cached_tokens", 0) if isinstance(details, dict) else 0,
        output_tokens=usage.get("completion_tokens", 0),
        is_cut_off=choice.finish_reason == "length",
    )


def _refusal(body: bytes) -> str:
    """The server's own words of why it refused, without keys; the whole body where it has no such words."""
    text = body.decode("utf-8", "replace")
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        told = None
    error = told.get("error", told) if isinstance(told, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    return scrubbed(message if isinstance(message, str) and message else text)
