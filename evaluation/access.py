"""Roles, their permissions, and the settings of the login."""

from __future__ import annotations

import string
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from evaluation.errors import InputError
from evaluation.escaping import reading_fault

_SMALL = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


class Role(StrEnum):
    """The role of a person. A rater rates and sees no more than that; an admin does everything."""

    RATER = "rater"
    ADMIN = "admin"


class Action(StrEnum):
    """An action that needs permission, in words that complete "You may not ..."."""

    RATE = "rate games"
    READ = "see games, scores and settings"
    SEE_RATINGS = "see what others gave"
    ADD = "add games"
    EDIT = "change games, iterations or agents"
    EVALUATE = "start or stop evaluations"
    OVERRIDE = "override verdicts"
    DELETE = "delete or bring back what is stored"
    RESTORE = "make or restore backups"
    CONFIGURE = "change settings"


_ALLOWED: Mapping[Role, frozenset[Action]] = {Role.RATER: frozenset({Action.RATE}), Role.ADMIN: frozenset(Action)}


def may(role: Role | None, action: Action) -> bool:
    """Whether a person with that role may do it; without a role, no action is allowed."""
    return role is not None and action in _ALLOWED[role]


class GrantKind(StrEnum):
    """By what a login is recognised."""

    EVERYBODY = "everybody"
    EMAIL = "email"
    DOMAIN = "domain"
    SUBJECT = "subject"
    CLAIM = "claim"


@dataclass(frozen=True, slots=True)
class Grant:
    """One entry of a list of admins or raters.

    Attributes:
        kind: By what a login is recognised.
        value: The address, domain, subject, or value of the claim.
        name: The claim's name, or the issuer of a subject; empty where any will do.
    """

    kind: GrantKind
    value: str = ""
    name: str = ""

    def covers(self, claims: Mapping[str, object], *, trusts_email: bool) -> bool:
        """Whether these claims of an identity token are meant.

        Args:
            claims: What the provider says about somebody.
            trusts_email: Take an address also where the provider does not say that it checked it.
        """
        match self.kind:
            case GrantKind.EVERYBODY:
                return True
            case GrantKind.EMAIL:
                return verified_email(claims, trusts_email=trusts_email) == self.value
            case GrantKind.DOMAIN:
                email = verified_email(claims, trusts_email=trusts_email)
                return email is not None and email.rpartition("@")[2] == self.value
            case GrantKind.SUBJECT:
                return claims.get("sub") == self.value and self.name in ("", claims.get("iss"))
            case GrantKind.CLAIM:
                held = claims.get(self.name)
                return self.value in held if isinstance(held, list | tuple) else held == self.value


def parse_grant(entry: object, place: str) -> Grant:
    """An entry as a person writes it.

    ``*`` is everybody who can log in, ``ada@example.org`` an address, ``*@example.org`` a domain, ``sub:1234`` a
    subject, ``sub:1234@https://login.example.org`` one of that issuer, ``claim:groups=admins`` a claim that is or
    holds the value.

    Raises:
        InputError: It is none of these.
    """
    text = entry.strip() if isinstance(entry, str) else ""
    if text == "*":
        return Grant(GrantKind.EVERYBODY)
    if text.startswith("sub:") and len(text) > len("sub:"):
        subject, at, issuer = text.removeprefix("sub:").partition("@https://")
        return Grant(GrantKind.SUBJECT, subject, f"https://{issuer}" if at else "")
    if text.startswith("claim:"):
        name, equals, value = text.removeprefix("claim:").partition("=")
        if name.strip() and equals and value.strip():
            return Grant(GrantKind.CLAIM, value.strip(), name.strip())
    local, at, domain = text.rpartition("@")
    if at and local and domain and not text.startswith(("sub:", "claim:")) and " " not in text:
        if local == "*":
            return Grant(GrantKind.DOMAIN, folded(domain))
        return Grant(GrantKind.EMAIL, folded(text))
    raise InputError(
        f"{entry!r} names nobody.",
        place=place,
        remedy="Write an address, *@ and a domain, sub: and a subject, claim:name=value, or * for everybody.",
    )


def verified_email(claims: Mapping[str, object], *, trusts_email: bool = False) -> str | None:
    """The address in small letters, when the provider says that it belongs to this person."""
    email, verified = claims.get("email"), claims.get("email_verified")
    if not isinstance(email, str) or "@" not in email:
        return None
    # Some providers send the word instead of the truth value.
    return folded(email.strip(" \t\r\n")) if trusts_email or verified is True or verified == "true" else None


def folded(address: str) -> str:
    """The address with A to Z in small letters and every other character as it is.

    ``casefold`` would make a Kelvin sign a k and a sharp s two of them, and so one person's address another's.
    """
    return address.translate(_SMALL)


@dataclass(frozen=True, slots=True)
class Access:
    """The admins and raters, and the providers through which they log in.

    Attributes:
        admins: Checked first: an admin may rate too.
        raters: Everybody else who has a role.
        providers: Names of the providers to choose from; empty when there is one without a name.
        trusts_email: Take addresses also where the provider does not say that it checked them.
        host: The name under which browsers reach the dashboard, from the address that the login leads back to.
    """

    admins: tuple[Grant, ...]
    raters: tuple[Grant, ...] = ()
    providers: tuple[str, ...] = ()
    trusts_email: bool = False
    host: str = ""

    def role_of(self, claims: Mapping[str, object]) -> Role | None:
        """The role of the person with these claims; ``None`` when no role was given to them."""
        for role, grants in ((Role.ADMIN, self.admins), (Role.RATER, self.raters)):
            if any(grant.covers(claims, trusts_email=self.trusts_email) for grant in grants):
                return role
        return None

    def name_of(self, claims: Mapping[str, object]) -> str:
        """The name that somebody's ratings and changes stand under.

        It is the checked address, else the subject with its issuer: names that people choose for themselves would let
        one person rate as another. An address that a rater's name would not keep as it is becomes the subject, too.
        """
        email = verified_email(claims, trusts_email=self.trusts_email)
        if email and email == unicodedata.normalize("NFC", email).strip():
            return email
        return f"{claims.get('sub')} at {claims.get('iss')}"


ADMINS_VARIABLE = "DRAMATURG_ADMINS"
RATERS_VARIABLE = "DRAMATURG_RATERS"
ALLOW_ANONYMOUS_VARIABLE = "DRAMATURG_ALLOW_ANONYMOUS"

_SHARED = ("redirect_uri", "cookie_secret")
_PER_PROVIDER = ("client_id", "client_secret", "server_metadata_url")
_ACCESS_KEYS = frozenset({"admins", "raters", "trust_email"})
_SHORTEST_SECRET = 32
_CALLBACK = "/oauth2callback"


def secrets_files() -> list[Path]:
    """The files in which Streamlit looks for secrets: the user's own folder, then the working folder of the server."""
    return [root / ".streamlit" / "secrets.toml" for root in (Path.home(), Path.cwd())]


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
