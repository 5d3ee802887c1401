"""When a judge's server misbehaves, and how: by a seed, so that every run is the same."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from tests.judge_server import Fault, last_message

TRUNCATED = '{"reason": "it shows in the choice of wor'
OFF_THE_SCALE = '{"reason": "outstanding", "score": 12, "confidence": 0.9, "citations": [1]}'
NO_CHOICES = {
    "id": "x",
    "object": "chat.completion",
    "created": 0,
    "model": "m",
    "choices": [],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}

RATE_LIMITED = Fault("429", 429, (("Retry-After", "0.02"),), body=b'{"error": {"message": "slow down"}}')
BROKEN = Fault("500", 500, body=b"Internal Server Error")
UNAVAILABLE = Fault("503", 503, body=b'{"error": {"message": "overloaded"}}')
HANG = Fault("hang")
RESET = Fault("reset")
DRIP = Fault("drip")
EMPTY = Fault("empty choices", body=json.dumps(NO_CHOICES).encode("ascii"))
HALF_A_BODY = Fault("half a body", body=b'{"id": "x", "choi')

FIRST_FIVE = (RATE_LIMITED, BROKEN, UNAVAILABLE, HANG, RESET)
"""Those that the network or the server commits before a model has written anything."""

MOST_IN_A_ROW = 3


class Schedule:
    """Commits each of ``faults`` in a tenth of the calls, never more than three in a row for one prompt."""

    def __init__(self, seed: int, faults: tuple[Fault, ...] = FIRST_FIVE) -> None:
        self._seed = seed
        self._faults = faults

    def __call__(self, body: dict[str, Any], asked_before: int) -> Fault | None:
        if asked_before >= MOST_IN_A_ROW:
            return None
        drawn = hashlib.sha256(f"{self._seed} {asked_before} {last_message(body)}".encode()).digest()[0]
        # 256 / 10 values of the byte stand for each fault.
        index = int(drawn / 25.6)
        return self._faults[index] if index < len(self._faults) else None


def once(fault: Fault, times: int = 1) -> Any:
    """Misbehaves the first ``times`` calls with a prompt, then answers well."""
    return lambda _, asked_before: fault if asked_before < times else None
