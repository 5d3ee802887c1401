"""Start the dashboard in a container: write the login from the environment, then become ``dramaturg serve``.

OIDC_ISSUER (or OIDC_METADATA_URL), OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_COOKIE_SECRET and DRAMATURG_URL make the
login of docs/deployment.md; each may end in _FILE and name a file that holds the value. DRAMATURG_ADMINS and
DRAMATURG_RATERS say who may do what. Without any of them the dashboard starts only with DRAMATURG_ALLOW_ANONYMOUS=1.

``entry.py --healthy`` ends with 0 when the dashboard of this container answers.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path

PORT = 8501
LOGIN = {
    "client_id": "OIDC_CLIENT_ID",
    "client_secret": "OIDC_CLIENT_SECRET",
    "cookie_secret": "OIDC_COOKIE_SECRET",
}
ADDRESS = "DRAMATURG_URL"
ISSUER, METADATA = "OIDC_ISSUER", "OIDC_METADATA_URL"
BAD_INPUT = 2


class SettingError(Exception):
    """A variable that is missing or cannot be used."""


def value_of(name: str, environment: Mapping[str, str]) -> str:
    """A variable's value, or that of the file which its twin with ``_FILE`` names; empty when there is neither."""
    place = environment.get(f"{name}_FILE")
    if place is None:
        return environment.get(name, "").strip()
    try:
        return Path(place).read_text("utf-8").strip()
    except (OSError, ValueError) as error:
        raise SettingError(f"{name}_FILE: {place} cannot be read: {error}") from None


def secrets_text(environment: Mapping[str, str]) -> str | None:
    """The secrets file with the login; ``None`` when no variable of a login is set.

    Raises:
        SettingError: Some are set and others are missing.
    """
    names = [*LOGIN.values(), ISSUER, METADATA]
    given = {name: value_of(name, environment) for name in [*names, ADDRESS]}
    if not any(given[name] for name in names):
        return None
    metadata = given[METADATA] or (
        f"{given[ISSUER].rstrip('/')}/.well-known/openid-configuration" if given[ISSUER] else ""
    )
    missing = [name for name in [*LOGIN.values(), ADDRESS] if not given[name]]
    missing += [] if metadata else [ISSUER]
    if missing:
        raise SettingError(f"A login needs {', '.join(missing)} too (docs/deployment.md).")
    values = {key: given[name] for key, name in LOGIN.items()}
    values |= {"server_metadata_url": metadata, "redirect_uri": f"{given[ADDRESS].rstrip('/')}/oauth2callback"}
    # A basic string of TOML escapes as JSON does.
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    return "\n".join(["[auth]", *lines, ""])


def command(environment: Mapping[str, str], options: Sequence[str]) -> list[str]:
    """The command line that serves the dashboard; writes the secrets file, which only this user can read."""
    text = secrets_text(environment)
    found = ["dramaturg", "serve", "--host", environment.get("DRAMATURG_HOST", "0.0.0.0"), "--port"]
    found.append(environment.get("DRAMATURG_PORT", str(PORT)))
    if text is not None:
        place = Path(tempfile.mkdtemp(prefix="dramaturg-")) / "secrets.toml"
        place.touch(mode=0o600)
        place.write_text(text, "utf-8")
        found += ["--secrets", str(place)]
    elif environment.get("DRAMATURG_ALLOW_ANONYMOUS") == "1":
        found.append("--allow-anonymous")
    return [*found, *options]


def is_healthy(environment: Mapping[str, str]) -> bool:
    """Whether the dashboard answers."""
    address = f"http://127.0.0.1:{environment.get('DRAMATURG_PORT', PORT)}/_stcore/health"
    try:
        with urllib.request.urlopen(address, timeout=4) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def main(arguments: Sequence[str]) -> int:
    """Serves, or looks whether the dashboard is healthy; other commands of ``dramaturg`` are passed on as they are."""
    if list(arguments) == ["--healthy"]:
        return 0 if is_healthy(os.environ) else 1
    program = Path(sys.executable).with_name("dramaturg")
    try:
        is_command = arguments and not arguments[0].startswith("-")
        line = ["dramaturg", *arguments] if is_command else command(os.environ, arguments)
    except SettingError as error:
        sys.stderr.write(f"error: {error}\n")
        return BAD_INPUT
    # What the login is made of stays out of the server's environment.
    rest = {name: value for name, value in os.environ.items() if not name.startswith("OIDC_")}
    return os.execve(program, line, rest)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
