"""Keep providers' keys out of answers, messages, logs and the database."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote, urlsplit, urlunsplit

_HIDDEN = "[key]"
_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)\Z", re.IGNORECASE)
# Providers quote parts of a key in their refusals.
_SECRET_SHAPE = re.compile(r"\b(?:sk|pk|rk|gsk|xai|key)-[\w*.-]{4,200}|\bBearer\s{1,4}[^\s\"',]{1,500}")
_SHORTEST_SECRET = 6
_LONGEST_MESSAGE = 2_000


def without_secrets(text: str, more: Sequence[str] = (), environment: Mapping[str, str] | None = None) -> str:
    """``text`` without the secrets of the environment and of ``more``, also in Base64 and quoted for addresses."""
    named = (os.environ if environment is None else environment).items()
    secrets = [value for name, value in named if len(value) >= _SHORTEST_SECRET and _SECRET_NAME.search(name)]
    # The longest first: a shorter one may be a part of it.
    for secret in sorted({form for one in (*secrets, *more) for form in _forms(one)}, key=len, reverse=True):
        text = text.replace(secret, _HIDDEN)
    return text


def _forms(secret: str) -> set[str]:
    written = secret.encode("utf-8", "replace")
    encoded = {base64.b64encode(written).decode().rstrip("="), base64.urlsafe_b64encode(written).decode().rstrip("=")}
    return {form for form in {secret, quote(secret, safe=""), *encoded} if len(form) >= _SHORTEST_SECRET}


def message_without_secrets(text: str, more: Sequence[str] = (), environment: Mapping[str, str] | None = None) -> str:
    """A provider's message without secrets, and without what looks like part of one; at most 2,000 characters."""
    return _SECRET_SHAPE.sub(_HIDDEN, without_secrets(text, more, environment)[:_LONGEST_MESSAGE])


def without_password(url: str) -> str:
    """``url`` as it may be shown: without a user name and password in it, and without a query."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))
