"""Keep providers' keys out of answers, messages, logs and the database."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
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
_SHORTEST_SECRET = 6
_LONGEST_MESSAGE = 2_000


def without_secrets(text: str, environment: Mapping[str, str] | None = None) -> str:
    """``text`` without the secrets of the environment, and without what looks like a key.

    Secrets are values whose names say so, what stands in files that these name, those of JSON's texts whose names say
    so, and passwords in addresses, in any case. Takes time linear in the text.
    """
    named = (os.environ if environment is None else environment).items()
    # What is sent in a header comes back without the blanks around it.
    secrets = {secret.strip() for name, value in named for secret in _secrets(name, value)}
    secrets = {secret for secret in secrets if len(secret) >= _SHORTEST_SECRET}
    # The longest first: a shorter one may be a part of it.
    for secret in sorted(secrets, key=len, reverse=True):
        text = re.sub(re.escape(secret), _HIDDEN, text, flags=re.IGNORECASE)
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


_MOST_READ = 200_000


def message_without_secrets(text: str, environment: Mapping[str, str] | None = None) -> str:
    """A provider's message without secrets, as of ``without_secrets``; at most 2,000 characters."""
    return without_secrets(text[:_MOST_READ], environment)[:_LONGEST_MESSAGE]
