"""The person who uses the dashboard, and what that person may do: known from a login, or from a name asked once.

Without a login, everybody who reaches the dashboard may do everything, and rates under the name that they type. With
a login, name and role come from it, and nothing that the browser sends can change them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import quote, unquote

import streamlit as st
from itsdangerous import BadData, URLSafeTimedSerializer
from streamlit import runtime
from streamlit.auth_util import get_cookie_with_chunks
from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette import starlette_app_utils
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from dashboard.shared import state
from dashboard.shared.notices import words_of
from evaluation.access import ALLOW_ANONYMOUS_VARIABLE, Access, Action, Role, may, read_access
from evaluation.errors import DramaturgError, InputError, NotAllowedError
from evaluation.rating_desk.assignments import DiscardReason
from evaluation.ratings import new_rater_name as checked_name
from evaluation.store import Store

COOKIE = "dramaturg_rater"
"""Where the browser keeps the name of a rater who did not log in."""

_TYPED = "typed_name"

NOBODY = "somebody at the dashboard"
_AT_DESK = "at_desk"
_SCORES_SEEN = "scores_seen"
_RATINGS_SEEN = "ratings_seen"

_CHUNK = f"{USER_COOKIE_NAME}_1"
_CHUNK_NAME = re.compile(rf"{re.escape(USER_COOKIE_NAME)}_[0-9]{{1,4}}")
_SIGNED_WITHIN_SECONDS = 1.0
_LONGEST_LOGIN_SECONDS = 31 * 24 * 3600
# Logins that somebody ended, by what tells them apart, with the time; kept for longer than the cookie is taken.
_ended_logins: dict[str, float] = {}


@dataclass(frozen=True, slots=True)
class Person:
    """A person at the dashboard.

    Attributes:
        name: What their ratings and changes stand under; empty while somebody without a login gave none.
        shown: What they are called on screen. It may be untrusted text.
        role: What they may do; ``None`` when they logged in but nobody gave them a role.
        is_signed_in: Whether a login says who they are.
    """

    name: str
    shown: str
    role: Role | None
    is_signed_in: bool


def access() -> Access | None:
    """The rules of the login, read again each time; ``None`` when none is configured.

    Raises:
        InputError: The login is configured wrongly.
    """
    return read_access([Path(path) for path in st.get_option("secrets.files")], os.environ)


def current_person() -> Person | None:
    """The person of the session; ``None`` when a login is configured and they have not logged in.

    Raises:
        InputError: The login is configured wrongly.
    """
    rules = access()
    if rules is None:
        name = _given_name()
        return Person(name, name, Role.ADMIN, is_signed_in=False)
    claims = _claims()
    if claims is None:
        return None
    name = rules.name_of(claims)
    return Person(name, str(claims.get("name") or name), rules.role_of(claims), is_signed_in=True)


def rater_name() -> str | None:
    """The name that this person's ratings stand under; ``None`` while it is not known: see ``ask_for_name``."""
    person = current_person()
    return (person.name or None) if person else None


def decider_name() -> str:
    """The name under which this person rates, decides and signs; empty while it is not known."""
    return rater_name() or ""


def decide_as(typed: str) -> str:
    """The name under which this person decides: the known one, else the typed one, which is known from then on.

    Raises:
        InputError: What was typed cannot be a name.
    """
    return decider_name() or use_name(typed)


def author_name() -> str:
    """The name that is stored with this person's changes, with a default for people without a name."""
    return rater_name() or NOBODY


def allowed(action: Action) -> bool:
    """Whether this person may do it: for what is shown. What is done calls ``require``.

    Where there is no session there is no person, so nobody may. Jobs ask nothing here: they work on a store without
    the guard, which only the one who begins them can hand over.
    """
    return may(_role(), action)


def asker() -> Callable[[Action], bool]:
    """Asks later, from any thread and outside of the script, whether the person of this session may do something then.

    Where there is no session the answer is always no.
    """
    context = get_script_run_ctx(suppress_warning=True)

    def ask(action: Action) -> bool:
        if context is not None:
            add_script_run_ctx(threading.current_thread(), context)
        return allowed(action)

    def ask_apart(action: Action) -> bool:
        # In a thread of its own, which ends with the question: those of the server are used again by others.
        with ThreadPoolExecutor(1, thread_name_prefix="may-they") as thread:
            return thread.submit(ask, action).result()

    return ask_apart


def require(action: Action) -> None:
    """Call before acting; a page that is hidden, or was drawn before a role changed, is not authorization.

    Raises:
        NotAllowedError: This person may not do it.
    """
    if not allowed(action):
        raise refusal(action)


@contextmanager
def permitted(action: Action) -> Iterator[None]:
    """Does what is inside, of a widget's callback, where this person may; a refusal is told in passing."""
    try:
        require(action)
        yield
    except DramaturgError as error:
        st.toast(words_of(error))


def refusal(action: Action) -> NotAllowedError:
    """The error for somebody who may not do it."""
    return NotAllowedError(f"You may not {action}.", remedy="Ask an admin to do it, or to make you one.")


def require_admin_to_write() -> None:
    """Stands before every change of the store but ratings and what goes with them, whichever page makes it.

    Raises:
        NotAllowedError: A session of somebody else than an admin wants to write, or none at all.
    """
    if _role() is not Role.ADMIN:
        raise NotAllowedError("You may not change what is stored, but for your own ratings.", remedy="Ask an admin.")


def _role() -> Role | None:
    if get_script_run_ctx(suppress_warning=True) is None:
        return None
    rules = access()
    if rules is None:
        return None if is_remote_without_login() else Role.ADMIN
    claims = _claims()
    return None if claims is None else rules.role_of(claims)


def _claims() -> Mapping[str, object] | None:
    """The login provider's claims about the person; ``None`` before the login and after its end."""
    return _current(dict(st.user))


def _current(claims: Mapping[str, object]) -> Mapping[str, object] | None:
    return None if not claims.get("is_logged_in") or _login(claims) in _ended_logins else claims


@dataclass(frozen=True, slots=True)
class Visitor:
    """A person who may see pages, as a connection shows them.

    Attributes:
        login: The name of a login; empty without logins, where nobody knows whose connections belong together.
        role: What they may do.
    """

    login: str
    role: Role


def visitor_of(cookies: Mapping[str, str], origin: str | None, address: str) -> Visitor | None:
    """The visitor behind a connection, if they may see pages now; for the web server, outside of any session.

    Args:
        cookies: What the browser sent.
        origin: The page that opened the connection; a login counts for its own only. ``None``: not asked.
        address: The visitor's address.
    """
    try:
        rules = access()
    except InputError:
        return None
    if rules is None:
        is_allowed = os.environ.get(ALLOW_ANONYMOUS_VARIABLE) == "1" or _is_loopback(address)
        return Visitor("", Role.ADMIN) if is_allowed else None

    def signed(name: str) -> bytes | None:
        # A browser's header is Latin-1.
        value = cookies.get(name, "").encode("latin-1", "replace")
        return starlette_app_utils.decode_signed_value(get_cookie_secret(), name, value)

    content = get_cookie_with_chunks(signed, USER_COOKIE_NAME)
    try:
        claims = json.loads(content) if content else None
    except ValueError:
        return None
    if not isinstance(claims, dict):
        return None
    own_origin = claims.pop("origin", None)
    if origin is not None and own_origin != origin:
        return None
    current = _current(claims)
    role = None if current is None else rules.role_of(current)
    return None if current is None or role is None else Visitor(rules.name_of(current), role)


def is_login_of_parts(cookies: Mapping[str, str]) -> bool:
    """Whether a login's cookie was put together from those of several logins.

    A long login comes in several cookies, each signed by itself with its time. All of one login are signed at once.
    """
    if _CHUNK not in cookies:
        return False
    times = []
    for name, value in cookies.items():
        if name == USER_COOKIE_NAME or _CHUNK_NAME.fullmatch(name):
            try:
                _, signed_at = URLSafeTimedSerializer(get_cookie_secret(), salt=name).loads(
                    value, return_timestamp=True
                )
            except BadData:
                continue
            times.append(signed_at.timestamp())
    return bool(times) and max(times) - min(times) > _SIGNED_WITHIN_SECONDS


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def log_out() -> None:
    """Ends the login in this tab and in every other one that was opened with it.

    Streamlit looks at the cookie when a tab connects and never again, so a tab that stays open would stay logged in.
    """
    claims, now = dict(st.user), time.time()
    if claims.get("is_logged_in"):
        for old in [one for one, ended in list(_ended_logins.items()) if now - ended > _LONGEST_LOGIN_SECONDS]:
            _ended_logins.pop(old, None)
        _ended_logins[_login(claims)] = now
    st.logout()


def _login(claims: Mapping[str, object]) -> str:
    """A digest of what the login provider said, which tells this login from others.

    The cookies themselves would not do: a browser can add others whose names begin alike, and spell the same signature
    in several ways. What was signed cannot be changed.
    """
    # Tokens come in a cookie of their own, which a browser may leave out.
    signed = {name: value for name, value in claims.items() if name != "tokens"}
    return hashlib.sha256(json.dumps(signed, sort_keys=True, default=str).encode()).hexdigest()


def is_remote_without_login() -> bool:
    """Whether this connection comes from another machine, without a login and without the setting that allows it."""
    return not is_at_this_machine() and os.environ.get(ALLOW_ANONYMOUS_VARIABLE) != "1" and access() is None


def is_at_this_machine() -> bool:
    """Whether the browser runs on the machine that the server runs on."""
    # Where no browser is connected (AppTest) the address is not text, and without a server there is none to ask for.
    return not runtime.exists() or not isinstance(st.context.ip_address, str)


def use_name(name: str, known: Collection[str] = ()) -> str:
    """Takes the name that somebody without a login typed, for this session and later visits.

    Raises:
        InputError: It cannot be a name.
    """
    checked = name_among(name, known)
    st.session_state[state.RATER] = st.session_state[_TYPED] = checked
    return checked


def take_name(key: str) -> None:
    """Takes the name that somebody gave with what they decide, for all that they do: it is asked once.

    Args:
        key: Of the input, which is not there once a name is known.

    Raises:
        InputError: It cannot be a name.
    """
    if given := str(st.session_state.get(key) or "").strip():
        use_name(given)


def name_among(name: str, known: Iterable[str]) -> str:
    """The name of a person, as it was typed.

    "dana" is the "Dana" who has rated before: a name of ``known`` that differs in case alone stands for it.

    Raises:
        InputError: It cannot be a name.
    """
    typed = checked_name(name)
    return next((one for one in known if one.casefold() == typed.casefold()), typed)


def forget_name() -> None:
    """Lets another person give a name at this browser."""
    st.session_state[state.RATER] = st.session_state[_TYPED] = ""
    for seen in (_SCORES_SEEN, _RATINGS_SEEN):
        st.session_state.pop(seen, None)
    state.choose(rater=None)


def name_to_keep() -> str | None:
    """The name that the browser stores for later visits: empty to forget it; ``None`` when nothing changed.

    A name that came with a link is not kept: the next visitor would pass for whoever wrote the link.
    """
    typed = st.session_state.get(_TYPED)
    return None if typed is None or access() is not None or as_cookie(typed) == _cookie() else str(typed)


def as_cookie(name: str) -> str:
    """The name in letters that a cookie may hold."""
    return quote(name, safe="")


def _given_name() -> str:
    # The session knows best; then a link that says who rates; then what this browser kept.
    held = st.session_state.get(state.RATER)
    if held is not None:
        return str(held)
    for text in (state.chosen(state.RATER), unquote(_cookie())):
        if text:
            try:
                st.session_state[state.RATER] = checked_name(text)
            except InputError:
                continue
            return str(st.session_state[state.RATER])
    return ""


def _cookie() -> str:
    kept = st.context.cookies.get(COOKIE)
    return kept if isinstance(kept, str) else ""


def note_at_desk(rater: str) -> None:
    """Keeps for this session that the person rates, from the first game on that the desk shows."""
    st.session_state[_AT_DESK] = rater


def note_scores_seen(games: Iterable[str]) -> None:
    """Keeps for this session of which games the person was shown scores or reasons: to rate them is not blind."""
    st.session_state.setdefault(_SCORES_SEEN, set()).update(games)


def note_ratings_seen(games: Iterable[str]) -> None:
    """Keeps for this session of which games the person was shown what others gave: to hide it then says nothing."""
    st.session_state.setdefault(_RATINGS_SEEN, set()).update(games)


def has_seen_scores(game: str) -> bool:
    """Whether the person was shown scores or reasons of the game in this session."""
    return game in st.session_state.get(_SCORES_SEEN, ())


def has_seen_ratings(game: str) -> bool:
    """Whether the person was shown what others gave the game in this session, where somebody had rated it."""
    return game in st.session_state.get(_RATINGS_SEEN, ())


def is_asked(store: Store, rater: str) -> bool:
    """Whether another person asks this one to rate, where no login tells a lead from a rater."""
    given = store.rating_assignments.current() if access() is None else ()
    return any(one.rater == rater != one.who for one in given)


def hidden_games(store: Store, rater: str, games: Iterable[str]) -> frozenset[str]:
    """The games whose ratings a rater without a login must not see yet: those that only others have rated.

    With logins there is none: raters do not reach this page. Nor for a lead, who has rated nothing, has no games
    assigned and has not opened the desk, nor are games that the rater put aside as known.
    """
    if access() is not None or not rater:
        return frozenset()
    rated = {one.transcript_id for one in store.ratings.by_rater(rater)}
    # Whoever has begun a form, rated, or has games to rate, is a rater, also after a reload.
    is_rater = (
        rated
        or st.session_state.get(_AT_DESK) == rater
        or any(one.rater == rater for one in store.rating_assignments.current())
        or any(one == rater for _, one in store.drafts.begun())
    )
    if not is_rater:
        return frozenset()
    known = {one.transcript_id for one in store.discards.of(rater) if one.reason is DiscardReason.KNOWN}
    shown = {game for game in games if not has_seen_ratings(game)}
    return frozenset(shown & store.ratings.rater_counts().keys() - rated - known)
