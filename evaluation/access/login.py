"""The settings of the login: read from Streamlit's secrets files and the environment, and refused when they are wrong.

What is wrong stops the dashboard. Going on without a login would open it to everybody.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from evaluation.access.roles import Access, Grant, GrantKind, parse_grant
from evaluation.errors import InputError
from evaluation.escaping import reading_fault

ADMINS_VARIABLE = "DRAMATURG_ADMINS"
RATERS_VARIABLE = "DRAMATURG_RATERS"
ALLOW_ANONYMOUS_VARIABLE = "DRAMATURG_ALLOW_ANONYMOUS"

_SHARED = ("redirect_uri", "cookie_secret")
_PER_PROVIDER = ("client_id", "client_secret", "server_metadata_url")
_ACCESS_KEYS = frozenset({"admins", "raters", "trust_email"})
_SHORTEST_SECRET = 32
_CALLBACK = "/oauth2callback"


def secrets_files(folder: Path | None = None) -> list[Path]:
    """The files in which Streamlit looks for secrets: the user's own folder, then the working folder of the server."""
    return [root / ".streamlit" / "secrets.toml" for root in (Path.home(), folder or Path.cwd())]


def read_access(files: Iterable[Path], environ: Mapping[str, str]) -> Access | None:
    """The people who may log in, with their roles; ``None`` when no login is configured.

    Args:
        files: Secrets files; those that are missing are passed over, a later one replaces sections of an earlier one.
        environ: ``DRAMATURG_ADMINS`` and ``DRAMATURG_RATERS`` replace the lists of the files; entries by commas.

    Raises:
        InputError: A file cannot be read, or the login is configured wrongly or by halves.
    """
    sections: dict[str, tuple[Any, Path]] = {}
    for path in files:
        sections |= {name: (section, path) for name, section in _parsed(path).items()}
    auth, place = sections.get("auth", (None, Path()))
    granted, granted_in = sections.get("access", ({}, place))
    if auth is None:
        _refuse_roles_without_login(environ, granted, granted_in)
        return None
    if not isinstance(granted, Mapping):
        raise InputError("[access] is not a section.", place=str(granted_in))
    providers = _checked_providers(auth, place)
    return Access(
        admins=_grants("admins", granted, granted_in, ADMINS_VARIABLE, environ),
        raters=_grants("raters", granted, granted_in, RATERS_VARIABLE, environ),
        providers=providers,
        trusts_email=_truth(granted, "trust_email", granted_in),
        host=urlsplit(str(auth["redirect_uri"])).hostname or "",
    )


def _parsed(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    # Integers of thousands of digits are a plain ValueError of the parser.
    except (OSError, ValueError, RecursionError) as error:
        # The message of the parser names line and column, never a value.
        raise InputError(
            f"The secrets cannot be read: {reading_fault(error)}.",
            place=str(path),
            remedy="Mend the file, or take it away.",
        ) from None


def _refuse_roles_without_login(environ: Mapping[str, str], granted: object, place: Path) -> None:
    named = [name for name in (ADMINS_VARIABLE, RATERS_VARIABLE) if environ.get(name, "").strip()]
    if named or granted:
        raise InputError(
            "Roles are given, but no login is configured, so nobody could be told apart.",
            place=named[0] if named else str(place),
            remedy="Add an [auth] section to the secrets (docs/deployment.md), or take the roles away.",
        )


def _checked_providers(auth: object, place: Path) -> tuple[str, ...]:
    if not isinstance(auth, Mapping):
        raise InputError("[auth] is not a section.", place=str(place))
    named = {
        name: section for name, section in auth.items() if isinstance(section, Mapping) and name != "client_kwargs"
    }
    for key in _SHARED:
        _required(auth, key, "[auth]", place)
    _check_redirect(str(auth["redirect_uri"]), place)
    if len(str(auth["cookie_secret"])) < _SHORTEST_SECRET:
        raise InputError(
            "cookie_secret is so short that it could be guessed, and a person who guesses it can be anybody.",
            place=f"{place}: [auth]",
            remedy=f"Give at least {_SHORTEST_SECRET} characters by chance, as from: openssl rand -hex 32",
        )
    for name, section in named.items() or [("", auth)]:
        if "_" in name:
            raise InputError(
                "A provider's name may hold no underscore.", place=f"{place}: [auth.{name}]", remedy="Rename it."
            )
        title = f"[auth.{name}]" if name else "[auth]"
        for key in _PER_PROVIDER:
            _required(section, key, title, place)
        _check_address(str(section["server_metadata_url"]), "server_metadata_url", title, place)
    return tuple(named)


def _required(section: Mapping[str, Any], key: str, title: str, place: Path) -> None:
    value = section.get(key)
    if not isinstance(value, str) or not value.strip():
        raise InputError(
            f"{key} is missing.", place=f"{place}: {title}", remedy="docs/deployment.md shows a whole example."
        )


def _check_address(url: str, key: str, title: str, place: Path) -> None:
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.netloc)
    except ValueError:
        is_address = False
    if not is_address:
        raise InputError(
            f"{key} {url!r} is not an address.", place=f"{place}: {title}", remedy="Begin it with https://."
        )


def _check_redirect(url: str, place: Path) -> None:
    _check_address(url, "redirect_uri", "[auth]", place)
    if not urlsplit(url).path.endswith(_CALLBACK):
        raise InputError(
            f"redirect_uri {url!r} does not lead back to the login.",
            place=f"{place}: [auth]",
            remedy=f"Give the address of this dashboard, with {_CALLBACK} at its end.",
        )


def _grants(
    key: str, section: Mapping[str, Any], place: Path, variable: str, environ: Mapping[str, str]
) -> tuple[Grant, ...]:
    if environ.get(variable, "").strip():
        entries: object = [part for part in environ[variable].split(",") if part.strip()]
        where = variable
    else:
        entries, where = section.get(key, []), f"{place}: [access] {key}"
    unknown = sorted(set(section) - _ACCESS_KEYS)
    if unknown:
        raise InputError(
            f"[access] has no {unknown[0]!r}.", place=str(place), remedy="It has admins, raters, trust_email."
        )
    if not isinstance(entries, list):
        raise InputError("That is not a list.", place=where, remedy='Write it like ["ada@example.org"].')
    grants = tuple(parse_grant(entry, where) for entry in entries)
    if key == "admins":
        _check_admins(grants, where)
    return grants


def _check_admins(grants: tuple[Grant, ...], where: str) -> None:
    if not grants:
        raise InputError(
            "Nobody is named as admin, so nobody could add games or change anything.",
            place=where,
            remedy=f"Name one, here or in {ADMINS_VARIABLE}.",
        )
    if any(grant.kind is GrantKind.EVERYBODY for grant in grants):
        raise InputError(
            "Everybody as admin is not an access rule.", place=where, remedy="Name people, a domain or a group."
        )


def _truth(section: Mapping[str, Any], key: str, place: Path) -> bool:
    value = section.get(key, False)
    if not isinstance(value, bool):
        raise InputError(f"{key} is {value!r}.", place=f"{place}: [access]", remedy="Write true or false.")
    return value
