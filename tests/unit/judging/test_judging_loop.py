"""The loop of whoever asks models: what litellm prepares is done at once, everything else in threads."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from functools import partial

import pytest

from evaluation.judging.model_client.event_loop import prepared_at_once, run_asking


def where() -> int:
    return threading.get_ident()


def of_litellm(function: Callable[[], int]) -> Callable[[], int]:
    """A function as litellm hands it to the executor."""
    function.__module__ = "litellm.main"
    return partial(contextvars.copy_context().run, partial(function))


def broken() -> int:
    raise ValueError("it cannot be prepared")


async def asked(function: Callable[[], int]) -> int:
    return await asyncio.get_running_loop().run_in_executor(None, function)


def test_only_what_litellm_prepares_is_done_at_once() -> None:
    async def main() -> list[bool]:
        prepared = of_litellm(lambda: where())
        with prepared_at_once():
            places = [await asked(prepared), await asked(where), await asyncio.to_thread(where)]
        return [place == where() for place in [*places, await asked(prepared)]]

    assert run_asking(main()) == [True, False, False, False]


def test_an_error_is_that_of_the_caller() -> None:
    async def main() -> None:
        with prepared_at_once(), pytest.raises(ValueError, match="cannot be prepared"):
            await asked(of_litellm(broken))

    run_asking(main())
