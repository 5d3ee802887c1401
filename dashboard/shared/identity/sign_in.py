"""Sign people in and out around every page, and refuse those without access."""

from __future__ import annotations

import logging
from importlib.util import find_spec

import streamlit as st

from dashboard.shared.identity import identity
from dashboard.shared.identity.identity import Person
from dashboard.shared.notices import plain, words_of
from evaluation.access import Access, Role
from evaluation.errors import InfrastructureError, InputError

_ROLE_WORDS = {Role.ADMIN: "admin", Role.RATER: "rater"}
_TITLE = "Dramaturg"
_keeper = st.components.v2.component(
    "dramaturg_kept_name",
    js="""
export default function ({ data }) {
  const age = data.value ? 31536000 : 0;
  document.cookie = `${data.name}=${data.value}; path=/; max-age=${age}; SameSite=Strict`;
}
""",
)


def admitted() -> Person | None:
    """The person who may see pages; ``None`` when access is refused, and then the screen says why and what to do."""
    try:
        rules = identity.access()
        if rules is not None and find_spec("authlib") is None:
            raise InfrastructureError(
                "Authlib is missing, which the login needs.", remedy="Install dramaturg with its extra auth."
            )
        person = identity.current_person()
    except (InputError, InfrastructureError) as error:
        _misconfigured(error)
        return None
    if identity.is_remote_without_login():
        _closed()
        return None
    if rules is not None and person is None:
        _log_in(rules)
        return None
    if person is not None and person.role is None:
        _without_role(person)
        return None
    return person


def _misconfigured(error: InputError | InfrastructureError) -> None:
    st.title(_TITLE, anchor=False)
    logging.getLogger(__name__).error("The login is not in order: %s", error)
    st.error("The login is not in order, so nobody is let in. Nothing is lost.", icon=":material/lock:")
    if identity.is_at_this_machine():
        plain(words_of(error))
    else:
        st.markdown("The log of the server says what is wrong. Tell the person who runs it.")


def _closed() -> None:
    st.title(_TITLE, anchor=False)
    st.error("This dashboard answers only the machine that it runs on.", icon=":material/lock:")
    st.markdown(
        "Nobody has to log in here, so everybody who reached it could change everything. Whoever runs it can configure "
        "a login (see the guide `docs/deployment.md`), or start it with `dramaturg serve --allow-anonymous`."
    )


def _log_in(rules: Access) -> None:
    st.title(_TITLE, anchor=False)
    st.markdown("Log in to rate games, or to work with them.")
    for number, provider in enumerate(rules.providers or ("",)):
        label = f"Log in with {provider}" if provider else "Log in"
        if st.button(label, key=f"log_in_{number}", type="primary", icon=":material/login:"):
            st.login(provider or None)


def _without_role(person: Person) -> None:
    st.title(_TITLE, anchor=False)
    st.warning("You are logged in, but nobody gave you a role here.", icon=":material/person_off:")
    plain(f"You are known as {person.name}.")
    st.markdown("Ask the person who runs this dashboard to add you as rater or admin. Or log in as somebody else.")
    st.button("Log out", key="log_out", icon=":material/logout:", on_click=identity.log_out)


def identity_panel(person: Person) -> None:
    """In the sidebar: who the person is and the way out. Nothing while somebody without a login gave no name."""
    with st.sidebar:
        if person.is_signed_in and person.role is not None:
            st.text(person.shown, width="stretch")
            st.caption(f"Logged in as {_ROLE_WORDS[person.role]}")
            st.button("Log out", key="log_out", icon=":material/logout:", type="tertiary", on_click=identity.log_out)
        elif person.name:
            st.text(person.name, width="stretch")
            st.button("Switch rater", key="not_me", type="tertiary", on_click=identity.forget_name)
        value = identity.name_to_keep()
        if value is not None:
            _keeper(
                key="kept_name", data={"name": identity.COOKIE, "value": identity.as_cookie(value)}, height="content"
            )
