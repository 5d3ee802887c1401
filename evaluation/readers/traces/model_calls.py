"""A call to a model as all kinds of traces have it, and the names of the agents that made the calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from evaluation.readers.traces.turns import ChatTurn

UNNAMED = "assistant"
_LONGEST_NAME = 200
_AROUND_NAMES = re.compile(r"^(?:invoke_agent|agent run:?)\s+|(?:\._execute_core| run)$")


@dataclass(slots=True)
class CallUsage:
    """Tokens and dollars of one call; ``None`` is unknown. ``cached_tokens`` are part of ``input_tokens``."""

    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    total_usd: float | None = None


@dataclass(slots=True)
class ModelCall:
    """One call to a model.

    Attributes:
        conversation: Calls of one conversation make one transcript.
        agent: Who called; ``None`` where nothing names it.
        start: When.
        inputs: The whole history that the model was given, its instructions (role ``system``) included.
        outputs: Its answer.
        model: The model's name.
        usage: Tokens and cost.
    """

    conversation: str
    agent: str | None
    start: datetime | None
    inputs: list[ChatTurn]
    outputs: list[ChatTurn]
    model: str | None = None
    usage: CallUsage = field(default_factory=CallUsage)

    @property
    def has_text(self) -> bool:
        """Whether anything was captured of it."""
        return any(not turn.is_empty for turn in [*self.inputs, *self.outputs])


def agent_name(written: Any) -> str | None:
    """An agent's name without what tools put around it ("invoke_agent Ann", "Ann run"); ``None`` for nothing."""
    if not isinstance(written, str):
        return None
    name = " ".join(_AROUND_NAMES.sub("", written.strip()).split())
    return name[:_LONGEST_NAME].strip() or None


def usage_of(
    fields: Mapping[str, Any], given: tuple[str, ...], cached: tuple[str, ...], output: tuple[str, ...], cost: str = ""
) -> CallUsage:
    """Tokens and cost under the first of each list of names that holds a number.

    Some providers count cached tokens beside the input instead of among it: then there are more of them than of the
    input, and they are added to it.
    """
    tokens, kept, made = (_count(fields, *names) for names in (given, cached, output))
    if tokens is not None and kept is not None and kept > tokens:
        tokens += kept
    usd = _number(fields.get(cost))
    return CallUsage(tokens, kept, made, usd)


def _count(fields: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        number = _number(fields.get(name))
        if number is not None:
            return int(number)
    return None


def _number(value: Any) -> float | None:
    """A number from 0 to 10^12, also one that is written as text; ``None`` for anything else."""
    if isinstance(value, str) and len(value) < 30:
        try:
            value = float(value)
        except ValueError:
            return None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= 1e12 else None
