"""Which requests are asked together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.judging.protocol import LARGEST_BATCH, JudgeRequest


@dataclass(frozen=True, slots=True)
class Unit:
    """What is asked in one call: requests with their positions, one of them or several of the same group."""

    positions: tuple[int, ...]
    requests: tuple[JudgeRequest, ...]


def units_of(requests: Sequence[JudgeRequest], largest: int = LARGEST_BATCH) -> list[Unit]:
    """``requests`` put together into units of at most ``largest``, units in the order of their first requests.

    Only requests of one group that share system prompt, context, kind of answer, version, repeat and double check are
    put together.
    """
    groups: dict[object, list[int]] = {}
    for position, request in enumerate(requests):
        groups.setdefault(position if request.batch_group is None else _shared(request), []).append(position)
    chunks = [places[start : start + largest] for places in groups.values() for start in range(0, len(places), largest)]
    return [Unit(tuple(chunk), tuple([requests[position] for position in chunk])) for chunk in sorted(chunks)]


def _shared(request: JudgeRequest) -> tuple[object, ...]:
    return (
        request.batch_group,
        request.prompt.system,
        request.prompt.user,
        request.answer,
        request.prompt_version,
        request.repeat,
        request.double_check,
    )
