"""What a person can hand in costs time in proportion to its size: every parser and form, with inputs that grow."""

import gc
import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import product

import pytest

from evaluation.errors import DramaturgError
from tests.faults.fuzz import Target, targets

pytestmark = pytest.mark.long

BASE_BYTES = 32_000
TIMES_THE_SIZE = 8
TIMES_THE_TIME = 12
REPEATS = 3
TOO_SHORT_SECONDS = 0.05
"""Less is not measured: starting costs, and what a clock of the processor tells apart."""


def _lines(seed: bytes, size: int) -> bytes:
    first, _, rest = seed.partition(b"\n")
    line = (rest.splitlines() or [first])[-1] + b"\n"
    return first + b"\n" + rest + b"\n" + line * (size // len(line))


def _columns(seed: bytes, size: int) -> bytes:
    first, _, rest = seed.partition(b"\n")
    return first + b"".join(b",c%d" % number for number in range(size // 8)) + b"\n" + rest


def _same_columns(seed: bytes, size: int) -> bytes:
    first, _, rest = seed.partition(b"\n")
    return first + b",c" * (size // 2) + b"\n" + rest


def _listed(seed: bytes, size: int) -> bytes:
    return b"[" + b",".join([seed] * max(1, size // max(1, len(seed)))) + b"]"


def _keys(_seed: bytes, size: int) -> bytes:
    return json.dumps({f"key {number}": number for number in range(size // 16)}).encode()


def _repeated(part: bytes) -> Callable[[bytes, int], bytes]:
    return lambda seed, size: seed + part * (size // len(part))


def _between(sign: bytes) -> Callable[[bytes, int], bytes]:
    """A run within the text, closed by something else."""

    def grown(seed: bytes, size: int) -> bytes:
        first, _, rest = seed.partition(b"\n")
        return first + b"\n" + sign * size + b"x\n" + rest

    return grown


GROWN: Mapping[str, Callable[[bytes, int], bytes]] = {
    "lines": _lines,
    "columns": _columns,
    "columns of one name": _same_columns,
    "a list": _listed,
    "keys": _keys,
    **{
        f"repeated {part!r}": _repeated(part) for part in (b"a", b" ", b"\n", b'"', b",", b"[", b"{", b"<", b"- a: b\n")
    },
    **{f"a run of {sign!r}": _between(sign) for sign in (b"-", b"=", b"~", b"*", b" ")},
}


def _seconds(target: Target, content: bytes) -> float:
    """The least processor time of a few runs."""
    found = []
    # Collecting garbage costs what is alive, whoever made it.
    gc.collect()
    gc.disable()
    try:
        for _ in range(REPEATS):
            start = time.process_time()
            with suppress(DramaturgError):
                target.parse(content)
            found.append(time.process_time() - start)
    finally:
        gc.enable()
    return min(found)


def test_eight_times_the_size_takes_at_most_twelve_times_the_time() -> None:
    slow = {}
    for target, (name, grow) in product(targets(), GROWN.items()):
        seed = min(target.seeds, key=len)
        large = _seconds(target, grow(seed, BASE_BYTES * TIMES_THE_SIZE))
        if large > TOO_SHORT_SECONDS:
            small = _seconds(target, grow(seed, BASE_BYTES))
            if large > TIMES_THE_TIME * small:
                slow[target.name, name] = f"{small:.3f} s, then {large:.3f} s"
    assert slow == {}
