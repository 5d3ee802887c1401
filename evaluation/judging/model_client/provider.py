"""The connection to providers of models: the only place that imports litellm, and only for the first call."""

from __future__ import annotations

import asyncio
import atexit
import gc
import logging
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext, suppress
from functools import cache
from types import ModuleType
from typing import Any

from evaluation.judging.model_client._secrets import scrubbed
from evaluation.judging.model_client.calls import Completion, Messages
from evaluation.judging.model_client.event_loop import prepared_at_once
from evaluation.judging.model_client.retry import CallFailure, FailureKind, kind_of_status, seconds_to_wait
from evaluation.judging.model_client.usage import Price

# litellm's name for any server that speaks OpenAI's protocol. It costs two thirds of the time of its "openai", which
# goes through a second library, and lets us own the connections.
_COMPATIBLE = "hosted_vllm"
_OPENAI_PREFIX = "openai/"
_NO_KEY = "none"
_REHEARSED = "rehearsal"
# As a proxy of litellm's says what an answer cost: without it, litellm searches its prices at every call, which takes a
# fifth of a call's processor time. Nobody reads it: costs are computed from ``LiteLLMProvider.price``.
_PRICED = {"x-litellm-response-cost": "0"}
_WHOLE_ANSWER = 2.0
"""How many times as long as a silence a whole answer may take."""

_import_lock = threading.Lock()


def _import_litellm() -> ModuleType:
    """Takes seconds and much memory, once, however many ask for it at the same time.

    A second rehearsal would take the place of litellm's worker in the loop that is calling, and be complained about.
    """
    with _import_lock:
        return _prepared_litellm()


@cache
def _prepared_litellm() -> ModuleType:
    """litellm, offline and silent."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    # What a model does not know, such as a temperature, is left out and not refused.
    litellm.drop_params = True
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    asyncio.run(_rehearse(litellm))
    # Half a million objects that never go away: looking through them again and again takes a twentieth of every call.
    gc.collect()
    gc.freeze()
    # At the end they have to go after all: what is still frozen then, DuckDB reports as leaked, in fifty lines.
    atexit.register(gc.unfreeze)
    return litellm


async def _rehearse(litellm: Any) -> None:
    """Makes a call that goes nowhere: a fifth of what litellm imports, it imports when the first answer comes.

    So that takes part of the loading, in a thread, and neither delays the first answer nor holds up the event loop.
    """
    import httpx
    from openai import OpenAIError

    async def post(_: Any, url: str, **__: Any) -> Any:
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "ready"}}
        body = {"id": "0", "object": "chat.completion", "created": 0, "model": _REHEARSED, "choices": [choice]}
        return httpx.Response(200, json=body, headers=_PRICED, request=httpx.Request("POST", url))

    handler = type("Rehearsal", (litellm.llms.custom_httpx.http_handler.AsyncHTTPHandler,), {"post": post})()
    # Whatever ails it here, the first call will tell.
    with suppress(OpenAIError):
        await litellm.acompletion(
            model=_REHEARSED,
            messages=[{"role": "user", "content": "ready?"}],
            custom_llm_provider=_COMPATIBLE,
            base_url="http://localhost",
            api_key=_NO_KEY,
            client=handler,
        )
    await handler.close()


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keeps litellm from preparing a record of the call for loggers that nobody uses; we keep records of our own."""
    from litellm._internal_context import is_internal_call

    token = is_internal_call.set(True)
    try:
        yield
    finally:
        is_internal_call.reset(token)


class LiteLLMProvider:
    """Any model that litellm knows, or any server that speaks OpenAI's protocol.

    Keys come from the environment alone (``OPENAI_API_KEY``, ``ANTHROPIC_API_KEY``, ...).

    Args:
        model: The model's name, with the provider before it where that is not OpenAI ("anthropic/claude-haiku").
        base_url: The address of an OpenAI-compatible server; ``None`` for the provider's own.
    """

    def __init__(self, model: str, *, base_url: str | None = None) -> None:
        self.model = model
        self._base_url = base_url
        self._litellm: Any = None
        self._connections: dict[asyncio.AbstractEventLoop, _Connection] = {}

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        """Keeps connections open until the last session of this event loop ends."""
        loop = asyncio.get_running_loop()
        connection = self._connections.setdefault(loop, _Connection())
        connection.users += 1
        try:
            yield
        finally:
            connection.users -= 1
            if not connection.users:
                del self._connections[loop]
                await connection.close()

    async def complete(
        self, messages: Messages, *, temperature: float, max_tokens: int, timeout_seconds: float
    ) -> Completion:
        """The model's answer. The server may be silent for the time given and take twice as long over all of it.

        So a server that sends a byte now and then is given up, too.

        Raises:
            CallFailure: There is none.
        """
        litellm = await self._loaded()
        from openai import OpenAIError

        async with self.session():
            try:
                with _unlogged(), self._preparing():
                    response = await litellm.acompletion(
                        messages=list(messages),
                        temperature=temperature,
                        max_tokens=max_tokens,
                        timeout=timeout_seconds,
                        num_retries=0,
                        max_retries=0,
                        **self._destination(litellm),
                    )
            except OpenAIError as error:
                raise _failure(error) from None
        return _completion(response)

    async def price(self) -> Price | None:
        """The price in litellm's price map; ``None`` when the model is not in it."""
        litellm = await self._loaded()
        entry = litellm.model_cost.get(self.model) or litellm.model_cost.get(self._bare_name)
        if not entry or entry.get("input_cost_per_token") is None:
            return None
        read = float(entry["input_cost_per_token"])
        cached = entry.get("cache_read_input_token_cost")
        written = float(entry.get("output_cost_per_token") or 0.0)
        return Price(read, read if cached is None else float(cached), written)

    @property
    def _bare_name(self) -> str:
        return self.model.removeprefix(_OPENAI_PREFIX)

    async def _loaded(self) -> Any:
        if self._litellm is None:
            self._litellm = await asyncio.to_thread(_import_litellm)
        return self._litellm

    def _preparing(self) -> AbstractContextManager[None]:
        """Mark calls to a server of one's own, for which litellm waits in the loop and not in a thread."""
        return nullcontext() if self._base_url is None else prepared_at_once()

    def _destination(self, litellm: Any) -> dict[str, Any]:
        if self._base_url is None:
            return {"model": self.model}
        connection = self._connections[asyncio.get_running_loop()]
        return {
            "model": self._bare_name,
            "custom_llm_provider": _COMPATIBLE,
            "base_url": self._base_url,
            "api_key": os.environ.get("OPENAI_API_KEY") or _NO_KEY,
            "client": connection.opened(litellm),
        }


class _Connection:
    """The open connections of one event loop, and how many sessions need them."""

    def __init__(self) -> None:
        self.users = 0
        self._handler: Any = None

    def opened(self, litellm: Any) -> Any:
        if self._handler is None:
            self._handler = _handler_with_deadline(litellm)
        return self._handler

    async def close(self) -> None:
        if self._handler is not None:
            await self._handler.close()


def _handler_with_deadline(litellm: Any) -> Any:
    """litellm's own HTTP client with a deadline for the whole of an answer, which it calls priced.

    A deadline around litellm itself could fall into the time in which it prepares the call in a thread, and would leave
    a coroutine that nobody awaits.
    """
    base = litellm.llms.custom_httpx.http_handler.AsyncHTTPHandler

    async def post(handler: Any, *args: Any, timeout: Any = None, **options: Any) -> Any:
        silence = timeout if isinstance(timeout, int | float) else getattr(timeout, "read", None)
        async with asyncio.timeout(None if silence is None else _WHOLE_ANSWER * silence):
            response = await base.post(handler, *args, timeout=timeout, **options)
        response.headers.update(_PRICED)
        return response

    return type("HandlerWithDeadline", (base,), {"post": post})()


def _failure(error: Any) -> CallFailure:
    """The exception of litellm in our words."""
    status = getattr(error, "status_code", None)
    headers = getattr(error, "litellm_response_headers", None) or {}
    message = scrubbed(str(getattr(error, "message", "") or error))
    kind = _kind_of_network_fault(error)
    if kind is None and isinstance(status, int):
        wait = seconds_to_wait(headers.get("retry-after"))
        return CallFailure(kind_of_status(status), message, status=status, retry_after=wait)
    return CallFailure(kind or FailureKind.CONNECTION, message)


def _kind_of_network_fault(error: BaseException) -> FailureKind | None:
    """Whether the network failed; litellm gives that the status 500 or 408 and keeps the cause."""
    import httpx

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, httpx.TimeoutException | TimeoutError):
            return FailureKind.TIMEOUT
        if isinstance(cause, httpx.TransportError):
            return FailureKind.CONNECTION
        cause = cause.__cause__ or cause.__context__
    return None


def _completion(response: Any) -> Completion:
    if not response.choices:
        raise CallFailure(FailureKind.BROKEN_RESPONSE, "the answer holds no choices")
    choice, usage = response.choices[0], getattr(response, "usage", None)
    details = getattr(usage, "prompt_tokens_details", None)
    return Completion(
        content=choice.message.content or "",
        model=str(response.model or ""),
        input_tokens=getattr(usage, "prompt_tokens", 0),
        cached_tokens=getattr(details, "cached_tokens", 0),
        output_tokens=getattr(usage, "completion_tokens", 0),
        is_cut_off=choice.finish_reason == "length",
    )
