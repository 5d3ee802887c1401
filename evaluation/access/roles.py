"""Roles, their permissions, and the role that follows from a person's login."""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from evaluation.errors import InputError

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
