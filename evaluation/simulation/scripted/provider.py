"""A provider whose answers a script writes, with known effects and without any server."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext

from evaluation.judging.model_client.calls import LLMResponse, Messages, Price, Usage
from evaluation.simulation.scripted.world import SCRIPTED_MODEL, ScriptedWorld


class ScriptedProvider:
    """Follows the protocol ``Provider``; answers at once and for nothing."""

    def __init__(self, world: ScriptedWorld) -> None:
        self._world = world
        self.asked = 0

    @property
    def model(self) -> str:
        """The name of the script."""
        return SCRIPTED_MODEL

    def session(self) -> AbstractAsyncContextManager[None]:
        """There are no connections."""
        return nullcontext()

    async def complete(
        self,
        messages: Messages,
        *,
        temperature: float,  # noqa: ARG002 - the protocol's arguments
        max_tokens: int,  # noqa: ARG002
        timeout_seconds: float,  # noqa: ARG002
    ) -> LLMResponse:
        """The script's answer."""
        self.asked += 1
        text = self._world.answer(messages)
        asked = sum(len(message["content"]) for message in messages)
        return LLMResponse(text, SCRIPTED_MODEL, Usage(input_tokens=asked // 4, output_tokens=len(text) // 4))

    async def price(self) -> Price | None:
        """Zero: the script costs nothing."""
        return Price(0.0, 0.0, 0.0)
