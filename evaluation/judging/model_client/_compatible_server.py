"""The direct connection to a server that speaks OpenAI's protocol: one HTTP request a call, and no litellm."""

from __future__ import annotations

import asyncio
import json
import os
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import certifi

from evaluation.judging._redaction import message_without_secrets
from evaluation.judging.model_client._responses import Parameters, read_error
from evaluation.judging.model_client.calls import (
    OPENAI_PREFIX,
    CallFailure,
    FailureKind,
    LLMResponse,
    Messages,
    seconds_to_wait,
)
from evaluation.judging.model_client.prices import Price, listed_price
from evaluation.judging.model_client.provider import WHOLE_ANSWER

_PATH = "/chat/completions"
_NO_KEY = "none"
_SUCCESS = range(200, 300)
_MOST_BYTES = 20_000_000
"""In one answer, unpacked: a hundred times as much as the longest that models write."""


class CompatibleServerProvider:
    """A model behind a server that speaks OpenAI's protocol.

    The key comes from ``OPENAI_API_KEY`` alone. A redirection is refused, so that it goes nowhere else.

    Args:
        model: The model's name; a leading "openai/" is left out of the request.
        base_url: The address up to ``/chat/completions``, which may stand at its end.
    """

    def __init__(self, model: str, base_url: str) -> None:
        self.model = model
        address = base_url.rstrip("/")
        self._url = address if address.endswith(_PATH) else address + _PATH
        self._parameters = Parameters()
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
    ) -> LLMResponse:
        """The model's answer. The server may be silent for the time given and take twice as long over all of it.

        So a server that sends a byte now and then is given up, too.

        Raises:
            CallFailure: There is none.
        """
        sent = self._parameters.fields(temperature, max_tokens)
        asked = {"model": self.model.removeprefix(OPENAI_PREFIX), "messages": list(messages), **sent}
        async with self.session():
            client = self._connections[asyncio.get_running_loop()].client
            try:
                body = await self._answer(client, json.dumps(asked).encode("ascii"), timeout_seconds)
            except TimeoutError:
                raise CallFailure(FailureKind.TIMEOUT, f"no answer within {timeout_seconds:g} s") from None
            except (aiohttp.ClientError, OSError, ValueError) as error:
                # A ValueError: the address is none. What the connection was used for stands in the error's text.
                message = message_without_secrets(str(error) or type(error).__name__)
                raise CallFailure(FailureKind.CONNECTION, message) from None
            except CallFailure as failure:
                raise self._parameters.failure(failure, sent) from None
        return self._parameters.read(_json(body), sent)

    async def price(self) -> Price | None:
        """The price in litellm's price map; ``None`` when the model is not in it."""
        return await asyncio.to_thread(listed_price, self.model)

    async def _answer(self, client: aiohttp.ClientSession, asked: bytes, silence: float) -> bytes:
        headers = {
            "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY') or _NO_KEY}",
            "Content-Type": "application/json",
        }
        timeout = aiohttp.ClientTimeout(total=WHOLE_ANSWER * silence, sock_connect=silence, sock_read=silence)
        async with client.post(
            self._url, data=asked, headers=headers, timeout=timeout, allow_redirects=False, proxy=self._proxy
        ) as response:
            body = bytearray()
            async for part in response.content.iter_any():
                body += part
                if len(body) > _MOST_BYTES:
                    raise CallFailure(FailureKind.BROKEN_RESPONSE, f"the answer is longer than {_MOST_BYTES:,} bytes")
            if response.status not in _SUCCESS:
                wait = seconds_to_wait(response.headers.get("Retry-After"))
                raise read_error(_json(bytes(body)), response.status, retry_after=wait)
            return bytes(body)


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


def _json(body: bytes) -> Any:
    """The body as JSON, or as text where it is none. Not pydantic's reader: models sometimes write half a character."""
    text = body.decode("utf-8-sig", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
