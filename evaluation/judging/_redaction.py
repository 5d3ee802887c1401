"""Keep providers' keys out of answers, messages, logs and the database."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from math import ceil
from pathlib import Path
from typing import Any
from unicodedata import normalize
from urllib.parse import unquote

_HIDDEN = "[key]"
_SECRET_NAME = re.compile(
    r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|(?<![a-z])PASS|CREDENTIAL)S?(?=_|\d|\Z)(?!.*_ID\Z)", re.IGNORECASE
)
_URL_PASSWORD = re.compile(r"://[^/\s:@]*:([^/\s@]+)@")
_MOST_OF_A_FILE = 20_000
# Providers quote parts of keys in their refusals, and models what they were sent. Plain words behind a hyphen or behind
# "Bearer" are none.
_SECRET_SHAPE = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|key)-(?=[\w*.-]{0,60}[\d*])[\w*.-]{4,200}"
    r"|\bBearer\s{1,4}(?=[^\s\"',\\]{0,60}(?:\d|[._*-]\w)|[^\s\"',\\]{16})[^\s\"',\\]{6,500}"
)
_PLAIN_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\u(00[2-7][0-9a-fA-F])")
_SHORTEST_SECRET = 6
_LONGEST_MESSAGE = 2_000


def without_secrets(text: str, environment: Mapping[str, str] | None = None) -> str:
    """``text`` without the secrets of the environment, and without what looks like a key.

    Secrets are values whose names say so, what stands in files that these name, those of JSON's texts whose names say
    so, and passwords in addresses. A secret is known by its letters and digits in any case, whatever stands between
    them; so is a piece of 12 of them, or of 60 % of them but at least 10. Plain characters that JSON's escapes stand
    for are written as themselves, so that none hides in what is kept of an answer. Takes time linear in the text.
    """
    text = _PLAIN_ESCAPE.sub(_as_itself, text) if r"\u00" in text else text
    named = (os.environ if environment is None else environment).items()
    # What is sent in a header comes back without the blanks around it.
    secrets = {secret.strip() for name, value in named for secret in _secrets(name, value)}
    secrets = {secret for secret in secrets if len(secret) >= _SHORTEST_SECRET}
    # The longest first: a shorter one may be a part of it.
    for secret in sorted(secrets, key=len, reverse=True):
        text = _without_pieces(re.sub(re.escape(secret), _HIDDEN, text, flags=re.IGNORECASE), secret)
    return _SECRET_SHAPE.sub(_HIDDEN, text)


def _secrets(name: str, value: str) -> Iterator[str]:
    for password in _URL_PASSWORD.findall(value):
        yield from (password, unquote(password))
    # "MAX_TOKENS" is a number of them.
    if not _SECRET_NAME.search(name) or (value.isdecimal() and name.upper().endswith("TOKENS")):
        return
    yield from _texts_of(value)
    # How containers hand over secrets, and Google its credentials.
    if value.startswith(("/", "~")):
        with suppress(OSError, ValueError):
            path = Path(value).expanduser()
            if path.is_file():
                with path.open(encoding="utf-8") as stream:
                    yield from _texts_of(stream.read(_MOST_OF_A_FILE))


def _texts_of(value: str) -> Iterator[str]:
    """The value itself; of a JSON object the secrets in it, whose other texts are none."""
    try:
        fields = json.loads(value) if value.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        yield value
        return
    yield from (text for key, text in fields.items() if isinstance(text, str) and _SECRET_NAME.search(key))


def _as_itself(escape: re.Match[str]) -> str:
    sign = chr(int(escape[2], 16))
    return escape[0] if sign in '"\\\x7f' else f"{escape[1]}{sign}"


def without_secrets_in(value: Any) -> Any:
    """A JSON value, each of its texts by itself without secrets."""
    if isinstance(value, str):
        return without_secrets(value)
    if isinstance(value, list):
        return [without_secrets_in(item) for item in value]
    if isinstance(value, dict):
        return {without_secrets(name): without_secrets_in(item) for name, item in value.items()}
    return value


_SHORTEST_PIECE, _LONGEST_PIECE = 10, 12
_PIECE_SHARE = 0.6
# No piece of a secret reaches across these, so that JSON stays JSON.
_WALLS = frozenset('"{}[]')
_JSON_ESCAPE = re.compile(r"(?<!\\)\\++(?:u(?P<code>[0-9a-fA-F]{4})|[nrtbf])")


def _without_pieces(text: str, secret: str) -> str:
    """``text`` without pieces of a secret, whatever signs stand between its letters and digits."""
    wanted = "".join([sign.lower() for sign in secret if sign.isalnum()])
    length = min(max(_SHORTEST_PIECE, ceil(_PIECE_SHARE * len(wanted))), _LONGEST_PIECE)
    pieces = {wanted[start : start + length] for start in range(len(wanted) - length + 1)}
    begins: dict[int, int] = {}

    def spelt(escape: re.Match[str]) -> str:
        """Puts what an escape of any depth stands for at its end, behind blanks in the place of the rest."""
        sign = chr(int(escape["code"], 16)) if escape["code"] else " "
        begins[escape.end() - 1] = escape.start()
        return " " * (len(escape[0]) - 1) + (sign if sign.isalnum() else " ")

    plain = _JSON_ESCAPE.sub(spelt, text)
    places = [place for place, sign in enumerate(plain) if sign.isalnum() or sign in _WALLS]
    packed = "".join([_folded(plain[place]) for place in places])
    kept, parts = 0, []
    covered = -2
    for first in range(len(packed) - length + 1):
        if packed[first : first + length] not in pieces:
            continue
        if first > covered + 1:
            parts += [text[kept : begins.get(places[first], places[first])], _HIDDEN]
        covered = first + length - 1
        kept = places[covered] + 1
    return "".join([*parts, text[kept:]])


def _folded(sign: str) -> str:
    """A letter or digit in lower case and of ordinary width."""
    return (sign if sign.isascii() else normalize("NFKC", sign) or sign).lower()[0]


_MOST_READ = 200_000


def message_without_secrets(text: str, environment: Mapping[str, str] | None = None) -> str:
    """A provider's message without secrets, as of ``without_secrets``; at most 2,000 characters."""
    return without_secrets(text[:_MOST_READ], environment)[:_LONGEST_MESSAGE]
