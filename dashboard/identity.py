"""Who sits at the dashboard, what they may do, and how they say so: by a login, or by a name asked once.

Without a login everybody who reaches the dashboard may do everything, and rates under the name that they type. With
one, name and role come from the login, and nothing that the browser sends can change them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

import streamlit as st

from dashboard import state
from evaluation.access import Access, Action, Role, may
from evaluation.errors import InputError, NotAllowedError
from evaluation.login import ALLOW_ANONYMOUS_VARIABLE, read_access
from evaluation.ratings import rater_name as checked_name

COOKIE = "dramaturg_rater"
"""Where the browser keeps the name of a rater who did not log in."""

NOBODY = "somebody at the dashboard"


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody at the dashboard.

    Attributes:
        name: What their ratings and changes stand under; empty while somebody without a login gave none.
        shown: What they are called on screen. It may be text of strangers.
        role: What they may do; ``None`` when they logged in but nobody gave them a role.
        is_signed_in: Whether a login says who they are.
    """

    name: str
    shown: str
    role: Role | None
    is_signed_in: bool


def access() -> Access | None:
    """The rules of the login, read anew each time; ``None`` when none is configured.

    Raises:
        InputError: The login is configured wrongly.
    """
    return read_access([Path(path) for path in st.get_option("secrets.files")], os.environ)


def current_person() -> Person | None:
    """Whoever sits there; ``None`` when a login is configured and they have not logged in.

    Raises:
        InputError: The login is configured wrongly.
    """
    rules = access()
    if rules is None:
        name = _given_name()
        return Person(name, name, Role.ADMIN, is_signed_in=False)
    if not st.user.get("is_logged_in"):
        return None
    claims = dict(st.user)
    name = rules.name_of(claims)
    return Person(name, str(claims.get("name") or name), rules.role_of(claims), is_signed_in=True)


def rater_name() -> str | None:
    """The name that this person's ratings stand under; ``None`` while it is not known: see ``ask_for_name``."""
    person = current_person()
    return (person.name or None) if person else None


def author_name() -> str:
    """The name beside what this person changes, also where nobody gave one."""
    return rater_name() or NOBODY


def allowed(action: Action) -> bool:
    """Whether this person may do it: for what is shown. What is done calls ``require``."""
    person = current_person()
    return person is not None and may(person.role, action)


def require(action: Action) -> None:
    """Stands where something is carried out: a page that is hidden, or was drawn before a role changed, is no leave.

    Raises:
        NotAllowedError: This person may not do it.
    """
    if not allowed(action):
        raise NotAllowedError(f"You may not {action}.", remedy="Ask an admin to do it, or to make you one.")


def is_stranger() -> bool:
    """Whether this connection comes from another machine, though nobody has to log in and nobody allowed that."""
    # Where no browser is connected (AppTest) the address is no text.
    comes_from_elsewhere = isinstance(st.context.ip_address, str)
    return comes_from_elsewhere and os.environ.get(ALLOW_ANONYMOUS_VARIABLE) != "1" and access() is None


def use_name(name: str) -> str:
    """Takes the name that somebody without a login typed, for this session and later visits.

    Raises:
        InputError: It cannot be a name.
    """
    checked = checked_name(name)
    st.session_state[state.RATER] = checked
    return checked


def forget_name() -> None:
    """Lets another person give a name at this browser."""
    st.session_state[state.RATER] = ""
    state.choose(rater=None)


def _given_name() -> str:
    # The session knows best; then a link that says who rates; then what this browser kept.
    held = st.session_state.get(state.RATER)
    if held is not None:
        return str(held)
    for text in (state.chosen(state.RATER), unquote(_cookie())):
        if text:
            try:
                return use_name(text)
            except InputError:
                continue
    return ""


def name_to_keep() -> str | None:
    """What the browser has to keep for later visits: a name, empty to forget it; ``None`` when it is up to date."""
    held = st.session_state.get(state.RATER)
    return None if held is None or access() is not None or quote(held) == _cookie() else str(held)


def _cookie() -> str:
    kept = st.context.cookies.get(COOKIE)
    return kept if isinstance(kept, str) else ""
