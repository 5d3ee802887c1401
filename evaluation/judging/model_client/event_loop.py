"""Run an event loop that makes many calls to models per second.

litellm prepares every call in a thread of the loop's executor. The preparation takes less than a millisecond, but
switching to a thread and back takes three, because both want the interpreter's lock at the same time. So this module
prepares each call in the loop's own thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, ParamSpec, TypeVar

Result = TypeVar("Result")
Parameters = ParamSpec("Parameters")

_is_preparing: ContextVar[bool] = ContextVar("is_preparing", default=False)


def run_asking(main: Coroutine[Any, Any, Result]) -> Result:
    """Like ``asyncio.run``, in a loop in which calls to models are prepared at once.

    Raises:
        RuntimeError: A loop is running in this thread already.
    """
    with asyncio.Runner() as runner:
        runner.get_loop().set_default_executor(PreparingExecutor())
        return runner.run(main)


@contextmanager
def prepared_at_once() -> Iterator[None]:
    """For calls of which litellm does nothing but the preparing in a thread; some wait there for the answer."""
    token = _is_preparing.set(True)
    try:
        yield
    finally:
        _is_preparing.reset(token)


class PreparingExecutor(ThreadPoolExecutor):
    """Threads for everything but what litellm prepares under ``prepared_at_once``."""

    def submit(
        self, function: Callable[Parameters, Result], /, *args: Parameters.args, **options: Parameters.kwargs
    ) -> Future[Result]:
        """Run the call like any executor; names are still looked up in a thread."""
        if not (_is_preparing.get() and _is_of_litellm(function)):
            return super().submit(function, *args, **options)
        future: Future[Result] = Future()
        # An error leaves by the same line of the caller's as one from a thread would.
        future.set_result(function(*args, **options))
        return future


def _is_of_litellm(function: object) -> bool:
    """Whether it is a function of litellm's in a context, ``partial(context.run, partial(completion, ...))``."""
    if not isinstance(function, partial) or not function.args:
        return False
    inner = function.args[0]
    inner = inner.func if isinstance(inner, partial) else inner
    return str(getattr(inner, "__module__", "")).partition(".")[0] == "litellm"
