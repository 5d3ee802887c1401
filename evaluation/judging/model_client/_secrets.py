"""Keep providers' keys out of answers, messages, logs and the database."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from urllib.parse import quote, urlsplit, urlunsplit

_HIDDEN = "[key]"
_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)\Z", re.IGNORECASE)
# Providers quote parts of a key in their refusals.
_SECRET_SHAPE = re.compile(r"\b(?:sk|pk|rk|gsk|xai|key)-[\w*.-]{4,200}|\bBearer\s{1,4}[^\s\"',]{1,500}")
_SHORTEST_SECRET = 6
_LONGEST_MESSAGE = 2_000


def without_secrets(text: str, more: Sequence[str] = (), environment: Mapping[str, str] | None = None) -> str:
    """``text`` without the secrets of the environment and of ``more``, however JSON, HTML or Base64 write them."""
    named = (os.environ if environment is None else environment).items()
    # What is sent in a header comes back without the blanks around it.
    secrets = [value.strip() for name, value in named if _SECRET_NAME.search(name)] + [one.strip() for one in more]
    # The longest first: a shorter one may be a part of it.
    for secret in sorted({one for one in secrets if len(one) >= _SHORTEST_SECRET}, key=len, reverse=True):
        text = _written_forms(secret).sub(_HIDDEN, text)
    return text


_MOST_BACKSLASHES = 3


@lru_cache(maxsize=64)
def _written_forms(secret: str) -> re.Pattern[str]:
    """Matches a secret as it is, with escapes of JSON and HTML in it, quoted for addresses, in hex, and in Base64."""
    escaped = "".join(_written_sign(sign) for sign in secret)
    written = secret.encode("utf-8", "replace")
    others = {quote(secret, safe=""), written.hex(), *_base64_cores(written)}
    return re.compile("|".join([escaped, *(re.escape(one) for one in sorted(others, key=len, reverse=True))]), re.I)


def _written_sign(sign: str) -> str:
    code = ord(sign)
    most = _MOST_BACKSLASHES
    in_json = rf"\\{{0,{most}}}{re.escape(sign)}|\\{{1,{most}}}u{code:04x}"
    return rf"(?:{in_json}|&#0{{0,4}}{code};|&#x0{{0,4}}{code:x};)"


def _base64_cores(written: bytes) -> set[str]:
    """The signs that stand for all of a secret in Base64, wherever it begins in the encoded text."""
    found = set()
    for before in range(3):
        encoded = base64.b64encode(b"x" * before + written)
        first = (8 * before + 5) // 6
        core = encoded[first : (8 * (before + len(written))) // 6].decode()
        found |= {core, core.translate(str.maketrans("+/", "-_"))}
    return found


def message_without_secrets(text: str, more: Sequence[str] = (), environment: Mapping[str, str] | None = None) -> str:
    """A provider's message without secrets, and without what looks like part of one; at most 2,000 characters."""
    return _SECRET_SHAPE.sub(_HIDDEN, without_secrets(text, more, environment)[:_LONGEST_MESSAGE])


def without_password(url: str) -> str:
    """``url`` as it may be shown: without a user name and password in it, and without a query."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))
