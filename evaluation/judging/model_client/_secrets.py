"""Keep providers' keys out of messages, logs and the database."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from urllib.parse import urlsplit, urlunsplit

_HIDDEN = "[key]"
_SECRET_NAME = re.compile(r"(?:_KEY|_TOKEN|_SECRET|PASSWORD)\Z", re.IGNORECASE)
# Providers quote parts of a key in their refusals.
_SECRET_SHAPE = re.compile(r"\b(?:sk|pk|rk|gsk|xai|key)-[\w*.-]{4,200}|\bBearer\s{1,4}[^\s\"',]{1,500}")
_SHORTEST_SECRET = 6
_LONGEST_MESSAGE = 2_000


def scrubbed(text: str, environment: Mapping[str, str] | None = None) -> str:
    """``text`` without keys: those in the environment, and what looks like one; at most 2,000 characters."""
    for name, value in (os.environ if environment is None else environment).items():
        if len(value) >= _SHORTEST_SECRET and _SECRET_NAME.search(name):
            text = text.replace(value, _HIDDEN)
    return _SECRET_SHAPE.sub(_HIDDEN, text[:_LONGEST_MESSAGE])


def without_password(url: str) -> str:
    """``url`` as it may be shown: without a user name and password in it, and without a query."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))
