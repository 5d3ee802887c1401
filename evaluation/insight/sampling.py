"""Which messages are looked at more closely: a sample that a seed decides, whatever the order of asking."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

_RANGE = 2**64


def place_of(key: str, seed: int) -> float:
    """Where ``key`` falls between 0 and 1: the same for the same seed, evenly spread over keys."""
    digest = hashlib.sha256(f"{seed}:{key}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") / _RANGE


def sample_of(keys: Sequence[str], rate: float, seed: int) -> frozenset[str]:
    """A share of ``keys``, rounded up: every key is as likely as any other, the first ones no more than the last.

    A larger rate with the same seed adds keys and drops none.

    Args:
        keys: All there are.
        rate: From 0 (none) to 1 (all).
        seed: Chooses.
    """
    # 0.3 * 10 is more than 3 in floating-point arithmetic.
    size = min(len(keys), math.ceil(rate * len(keys) - 1e-9))
    return frozenset(sorted(keys, key=lambda key: (place_of(key, seed), key))[:size])
