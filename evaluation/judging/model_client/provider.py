"""The connection to providers of models: the only place that imports litellm, and only for the first call."""

from __future__ import annotations

import asyncio
import atexit
import gc
import json
import logging
import os
import re
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import cache
from traceback import walk_tb
from types import ModuleType
from typing import Any

from evaluation.judging._redaction import message_without_secrets
from evaluation.judging.model_client._responses import Parameters, read_error
from evaluation.judging.model_client.calls import (
    CallFailure,
    FailureKind,
    LLMResponse,
    Messages,
    Provider,
    seconds_to_wait,
)
from evaluation.judging.model_client.prices import Price, listed_price

WHOLE_ANSWER = 2.0
"""How many times as long as a silence a whole answer may take."""


@cache
def _import_litellm() -> ModuleType:
    """litellm, offline and silent; takes seconds and much memory, once."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    # What a model does not take, such as a temperature, is refused and left out by us, so that it is on record.
    litellm.drop_params = False
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    # The client below litellm complains of every odd value in an answer; what is odd is read by ``responses``.
    warnings.filterwarnings("ignore", message="Pydantic serializer warnings")
    # Half a million objects that never go away: looking through them again and again takes a twentieth of every call.
    gc.collect()
    gc.freeze()
    # At the end they have to go after all: what is still frozen then, DuckDB reports as leaked, in fifty lines.
    atexit.register(gc.unfreeze)
    return litellm


def provider_of(model: str, base_url: str | None) -> Provider:
    """The connection to ``model``: a direct one to the server at ``base_url``, else through litellm."""
    if base_url is None:
        return LiteLLMProvider(model)
    # Imported here: only calls need the library for HTTP.
    from evaluation.judging.model_client._compatible_server import CompatibleServerProvider

    return CompatibleServerProvider(model, base_url)


class LiteLLMProvider:
    """Any model that litellm knows.

    Keys come from the environment alone (``OPENAI_API_KEY``, ``ANTHROPIC_API_KEY``, ...).

    Args:
        model: The model's name, with the provider before it where that is not OpenAI ("anthropic/claude-haiku").
    """

    def __init__(self, model: str) -> None:
        self.model = model
        self._litellm: Any = None
        self._parameters = Parameters()

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        """Does nothing: litellm keeps connections by itself."""
        yield

    async def complete(
        self, messages: Messages, *, temperature: float, max_tokens: int, timeout_seconds: float
    ) -> LLMResponse:
        """The model's answer. The server may be silent for the time given.

        Raises:
            CallFailure: There is none.
        """
        litellm = await self._loaded()
        from openai import OpenAIError

        sent = self._parameters.fields(temperature, max_tokens)
        try:
            # The time that litellm heeds is that of a silence.
            response = await asyncio.wait_for(
                litellm.acompletion(
                    model=self.model,
                    messages=list(messages),
                    timeout=timeout_seconds,
                    num_retries=0,
                    max_retries=0,
                    **sent,
                ),
                WHOLE_ANSWER * timeout_seconds,
            )
        except TimeoutError:
            raise CallFailure(FailureKind.TIMEOUT, f"no answer within {timeout_seconds:g} s") from None
        except OpenAIError as error:
            body = _received_body(error)
            if body is None:
                raise self._parameters.failure(_failure(error), sent) from None
        else:
            body = _body(response)
        return self._parameters.read(body, sent)

    async def price(self) -> Price | None:
        """The price in litellm's price map; ``None`` when the model is not in it. Loads litellm for the first call."""
        await self._loaded()
        return listed_price(self.model)

    async def _loaded(self) -> Any:
        if self._litellm is None:
            self._litellm = await asyncio.to_thread(_import_litellm)
        return self._litellm


def _failure(error: Any) -> CallFailure:
    """The exception of litellm as what the server said."""
    status = getattr(error, "status_code", None)
    headers = getattr(error, "litellm_response_headers", None) or {}
    message = _OWN_WORDS.sub("", str(getattr(error, "message", "") or error))
    kind = _kind_of_network_fault(error)
    if kind is not None or not isinstance(status, int):
        return CallFailure(kind or FailureKind.CONNECTION, message_without_secrets(message))
    if any(isinstance(cause, ValueError | RecursionError) for cause in _causes(error)) or _NO_ANSWER in message:
        return CallFailure(FailureKind.BROKEN_RESPONSE, "the answer is not one of OpenAI's protocol")
    return read_error(_told(error, message), status, retry_after=seconds_to_wait(headers.get("retry-after")))


# What litellm puts before the words of a server.
_OWN_WORDS = re.compile(r"\Alitellm\.\w{1,40}: (?:\w{1,40}: ){0,2}(?:\w{1,40}Exception - )?")
_NO_ANSWER = "Empty or invalid response from LLM endpoint"


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _told(error: BaseException, message: str) -> Any:
    """The body that the server sent with an error: where a library kept it, else in litellm's message."""
    for cause in _causes(error):
        if isinstance(body := getattr(cause, "body", None), dict | list | str):
            return body
    try:
        found = json.loads(message[message.index("{") :])
    except (ValueError, RecursionError):
        return message
    return found if isinstance(found, dict) else message


def _kind_of_network_fault(error: BaseException) -> FailureKind | None:
    """Whether the network failed; litellm gives that the status 500 or 408 and keeps the cause."""
    import httpx

    for cause in _causes(error):
        if isinstance(cause, httpx.TimeoutException | TimeoutError):
            return FailureKind.TIMEOUT
        if isinstance(cause, httpx.TransportError):
            return FailureKind.CONNECTION
    return None


def _body(response: Any) -> dict[str, Any]:
    """The response of litellm as the body that the server sent; not ``model_dump``, which warns of every odd value."""
    choices = []
    for choice in response.choices:
        message = choice.message
        extra = {"provider_specific_fields": getattr(message, "provider_specific_fields", None)}
        choices.append(
            {
                "message": {"content": message.content, **extra},
                "finish_reason": choice.finish_reason,
                "provider_specific_fields": getattr(choice, "provider_specific_fields", None),
            }
        )
    usage = getattr(response, "usage", None)
    details = getattr(usage, "prompt_tokens_details", None)
    return {
        "choices": choices,
        "model": response.model,
        "usage": {
            "prompt_tokens": getattr(usage, "prompt_tokens", 0),
            "completion_tokens": getattr(usage, "completion_tokens", 0),
            "prompt_tokens_details": {"cached_tokens": getattr(details, "cached_tokens", 0)},
        },
    }


def _received_body(error: BaseException) -> Any:
    """The body of a response that litellm could not take: content in parts, odd usage, an error beside 200.

    litellm's message leaves most of it out, so it is read where litellm converts it. ``None`` for any other error.
    """
    for cause in _causes(error):
        for frame, _ in walk_tb(cause.__traceback__):
            if frame.f_code.co_name == _CONVERSION:
                return frame.f_locals.get("response_object")
    return None


_CONVERSION = "convert_to_model_response_object"
