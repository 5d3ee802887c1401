"""Change inputs by chance: bytes, text and values of JSON; the same changes for the same seed."""

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

TOKENS = (
    *(b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\r", b"\n\n", b"\t"),
    *(b'"', b"'", b"\\", b"|", b",", b";"),
    *(b"{", b"}", b"[", b"]", b"[" * 300, b'{"a":' * 120, b"NaN", b"-Infinity", b"1e999", b"9" * 400, b"-1", b"null"),
    *(b"true", b'"\\ud83d"', b"&a [*a, *a]", b"*a", b"!!python/object:os.system", b"<<: *a", b"%s{0}", b"../../x"),
    *(b"<script>", b"=cmd()", b"\xe2\x80\xae", b"\xc2\xa0", "İß".encode(), b"---", b"#", b": ", b"0x1F", b"2024-99-99"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 7, 10**30, 2**63, 1.5, -1e300, 1e999, float("nan")),
    *("", " ", "\x00", "\ud800", "NaN"),
    *("x" * 5000, "İ", "=1+1", "2024-01-01T00:00:00Z", [], [None], [[]], {}, {"": None}, {"a": {"b": []}}, [1, "x"]),
)
MOST_BYTES = 200_000


def mutate(seeds: Sequence[bytes], random: Random) -> bytes:
    """One of the seeds, changed in one to four ways."""
    content = random.choice(seeds)
    for _ in range(random.choice((1, 1, 1, 2, 3, 4))):
        content = random.choice(_WAYS)(content, random, seeds)[:MOST_BYTES]
    return content


def mutated_value(value: Any, random: Random) -> Any:
    """A value of JSON in which one place holds something else, is missing, or is there twice."""
    if not isinstance(value, dict | list) or not value or random.randrange(6) == 0:
        return random.choice(VALUES)
    if isinstance(value, list):
        place = random.randrange(len(value))
        changed = [*value]
        how = random.randrange(4)
        if how == 0:
            del changed[place]
        elif how == 1:
            changed.insert(place, changed[place])
        else:
            changed[place] = mutated_value(value[place], random)
        return changed
    key = random.choice([*value])
    how = random.randrange(5)
    if how == 0:
        return {name: held for name, held in value.items() if name != key}
    if how == 1:
        return {("x" if name == key else name): held for name, held in value.items()}
    return value | {key: mutated_value(value[key], random)}


def minimised(content: bytes, fails: Callable[[bytes], bool], tries: int = 300) -> bytes:
    """A shorter input that still fails: parts of it are left out as long as it does."""
    size = len(content) // 2
    while size and tries > 0:
        place = 0
        while place < len(content) and tries > 0:
            shorter = content[:place] + content[place + size :]
            tries -= 1
            if fails(shorter):
                content = shorter
            else:
                place += size
        size //= 2
    return content


def _flip(content: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    if not content:
        return content
    place = random.randrange(len(content))
    return content[:place] + bytes([content[place] ^ (1 << random.randrange(8))]) + content[place + 1 :]


def _insert(content: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    place = random.randint(0, len(content))
    return content[:place] + random.choice(TOKENS) + content[place:]


def _overwrite(content: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    token, place = random.choice(TOKENS), random.randint(0, len(content))
    return content[:place] + token + content[place + len(token) :]


def _remove(content: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    begin, end = sorted(random.randint(0, len(content)) for _ in "ab")
    return content[:begin] + content[min(end, begin + 200) :]


def _repeat(content: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    begin, end = sorted(random.randint(0, len(content)) for _ in "ab")
    part = content[begin : min(end, begin + 500)]
    return content[:begin] + part * random.choice((2, 3, 20)) + content[begin + len(part) :]


def _cut(content: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    return content[: random.randint(0, len(content))]


def _splice(content: bytes, random: Random, seeds: Sequence[bytes]) -> bytes:
    other = random.choice(seeds)
    return content[: random.randint(0, len(content))] + other[random.randint(0, len(other)) :]


def _lines(content: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    lines = content.splitlines(keepends=True)
    if len(lines) < 2:
        return content
    first, second = random.randrange(len(lines)), random.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    return b"".join(lines)


def _json(content: bytes, random: Random, seeds: Sequence[bytes]) -> bytes:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return _insert(content, random, seeds)
    return json.dumps(mutated_value(value, random)).encode()


_WAYS = (_flip, _insert, _overwrite, _remove, _repeat, _cut, _splice, _lines, _json, _json, _json)
