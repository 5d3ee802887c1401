"""Keep providers' keys out of answers, messages, logs and the database."""

from __future__ import annotations

import base64
import os
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from html import unescape
from itertools import accumulate
from math import ceil
from urllib.parse import urlsplit, urlunsplit

_HIDDEN = "[key]"
_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)\Z", re.IGNORECASE)
# Providers quote parts of keys in their refusals, and models what they were sent. Plain words behind a hyphen or behind
# "Bearer" are none.
_SECRET_SHAPE = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|key)-(?=[\w*.-]{0,60}[\d*])[\w*.-]{4,200}"
    r"|\bBearer\s{1,4}(?=[^\s\"',\\]{0,60}(?:\d|[._*-]\w)|[^\s\"',\\]{16})[^\s\"',\\]{6,500}"
)
_SHORTEST_SECRET = 6
_LONGEST_MESSAGE = 2_000


def without_secrets(text: str, more: Sequence[str] = (), environment: Mapping[str, str] | None = None) -> str:
    """``text`` without the secrets of the environment and of ``more``, and without what looks like a key.

    A secret is known by its letters and digits, whatever stands between them, also where they are escaped as in JSON,
    HTML or addresses, or written in hexadecimal, Base32, Base64 or Base64 of that; so is a piece of 12 of them, or of
    60 % of them but at least 10. Takes time linear in the text.
    """
    named = (os.environ if environment is None else environment).items()
    # What is sent in a header comes back without the blanks around it.
    secrets = {value.strip() for name, value in named if _SECRET_NAME.search(name)} | {one.strip() for one in more}
    secrets = {secret for secret in secrets if len(secret) >= _SHORTEST_SECRET}
    # The longest first: a shorter one may be a part of it.
    for secret in sorted(secrets, key=len, reverse=True):
        text = re.sub(re.escape(secret), _HIDDEN, text, flags=re.IGNORECASE)
    if secrets:
        text = _without_pieces(text, _pieces_of(frozenset(secrets)))
    return _SECRET_SHAPE.sub(_HIDDEN, text)


_SHORTEST_PIECE, _LONGEST_PIECE = 10, 12
_PIECE_SHARE = 0.6


@lru_cache(maxsize=16)
def _pieces_of(secrets: frozenset[str]) -> Mapping[int, frozenset[str]]:
    """Pieces by which secrets are known, in all forms in which they may be written, by length."""
    found: dict[int, set[str]] = {}
    for secret in secrets:
        for form in _written_forms(secret.encode("utf-8", "replace")) | {secret}:
            signs = "".join(_signs(form))
            length = min(max(_SHORTEST_PIECE, ceil(_PIECE_SHARE * len(signs))), _LONGEST_PIECE)
            if len(signs) >= length:
                found.setdefault(length, set()).update(_windows(signs, length))
    return {length: frozenset(pieces) for length, pieces in found.items()}


def _windows(text: str, length: int) -> Iterator[str]:
    return (text[start : start + length] for start in range(len(text) - length + 1))


def _written_forms(secret: bytes) -> set[str]:
    once = _base64_cores(secret)
    twice = {form for core in once for form in _base64_cores(core.encode())}
    return {secret.hex(), *once, *twice, *_cores(secret, base64.b32encode, bits=5, group=5)}


def _base64_cores(written: bytes) -> set[str]:
    cores = _cores(written, base64.b64encode, bits=6, group=3)
    return cores | {core.translate(str.maketrans("+/", "-_")) for core in cores}


def _cores(written: bytes, encode: Callable[[bytes], bytes], *, bits: int, group: int) -> set[str]:
    """The signs that stand for all of ``written`` in an encoding, wherever it begins in the encoded text."""
    found = set()
    for before in range(group):
        encoded = encode(b"x" * before + written)
        first = -(-8 * before // bits)
        found.add(encoded[first : (8 * (before + len(written))) // bits].decode())
    return found


# Escapes of JSON, of addresses and of HTML; what no piece of a secret reaches across, so that JSON stays JSON; and runs
# of letters and digits.
_UNIT = re.compile(
    r"\\{1,3}u(?P<json>[0-9a-f]{4})|%(?:25){0,3}(?P<percent>[0-9a-f]{2})"
    r"|&#(?P<decimal>\d{1,7});|&#x(?P<hexadecimal>[0-9a-f]{1,6});|&(?P<named>[a-z]{2,12});"
    r"|\\{1,3}(?P<blank>[nrtbf])|(?P<wall>[\"{}\[\]])|[^\W_]+",
    re.IGNORECASE,
)
_WALL = "\0"


def _decoded(unit: re.Match[str]) -> str:
    """The meaning of an escape or a run of letters, in lower case; empty for signs that only separate."""
    kind = unit.lastgroup
    if kind is None:
        return _signs(unit[0])
    value = unit[kind]
    if kind == "wall":
        return _WALL
    if kind in {"json", "percent", "hexadecimal"}:
        return _signs(chr(min(int(value, 16), sys.maxunicode)))
    if kind == "decimal":
        return _signs(chr(min(int(value), sys.maxunicode)))
    if kind == "named":
        return _signs(unescape(unit[0]))
    return ""


def _signs(text: str) -> str:
    """The letters and digits of a text in lower case, one sign for one."""
    if text.isascii() and text.isalnum():
        return text.lower()
    return "".join([sign.lower()[0] for sign in text if sign.isalnum()])


def _without_pieces(text: str, pieces: Mapping[int, Collection[str]]) -> str:
    units = [(unit, decoded) for unit in _UNIT.finditer(text) if (decoded := _decoded(unit))]
    packed = "".join([decoded for _, decoded in units])
    spans = _merged_spans(packed, pieces)
    if not spans:
        return text
    # Where each unit begins in the packed text.
    begins = list(accumulate((len(decoded) for _, decoded in units), initial=0))

    def place(sign: int) -> tuple[int, int]:
        """Beginning and end in ``text`` of a sign of the packed text: an escape is one, in a run each sign is."""
        number = bisect_right(begins, sign) - 1
        unit, offset = units[number][0], sign - begins[number]
        is_run = unit.lastgroup is None
        return (unit.start() + offset, unit.start() + offset + 1) if is_run else unit.span()

    kept, parts = 0, []
    for first, last in spans:
        parts += [text[kept : place(first)[0]], _HIDDEN]
        kept = place(last)[1]
    return "".join([*parts, text[kept:]])


def _merged_spans(packed: str, pieces: Mapping[int, Collection[str]]) -> list[tuple[int, int]]:
    """First and last sign of every stretch that pieces cover, in order."""
    hits = sorted(
        (start, start + length - 1)
        for length, known in pieces.items()
        for start in range(len(packed) - length + 1)
        if packed[start : start + length] in known
    )
    merged: list[tuple[int, int]] = []
    for start, end in hits:
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


_MOST_READ = 200_000


def message_without_secrets(text: str, more: Sequence[str] = (), environment: Mapping[str, str] | None = None) -> str:
    """A provider's message without secrets, as of ``without_secrets``; at most 2,000 characters."""
    return without_secrets(text[:_MOST_READ], more, environment)[:_LONGEST_MESSAGE]


def without_password(url: str) -> str:
    """``url`` as it may be shown: without a user name and password in it, and without a query."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))
