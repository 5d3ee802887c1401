"""Permissions for every page, download, fragment and component event: one table, and the checks made from it.

Streamlit runs a page's script once to draw it, but not when the reader asks for a download, when a fragment is drawn
again, or when a component reports an event. So each of these is listed in the table and is checked when it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import ParamSpec

import streamlit as st

from dashboard.shared.identity import identity
from dashboard.shared.identity.identity import Person
from evaluation.access import Action, may
from evaluation.errors import InputError

Parameters = ParamSpec("Parameters")

PAGES: Mapping[str, Action] = {
    "Overview": Action.READ,
    "Games": Action.READ,
    "Rate": Action.RATE,
    "Team": Action.SEE_RATINGS,
    "Trends": Action.READ,
    "Agents": Action.READ,
    "Experiments": Action.READ,
    "Settings and help": Action.READ,
}
"""By title: what somebody must be allowed to do to reach the page."""

DOWNLOADS: Mapping[str, Action] = {
    "backup": Action.RESTORE,
    "export_own": Action.RATE,
    "export_all": Action.READ,
    "table": Action.READ,
    "insights": Action.READ,
    "example": Action.READ,
}
"""By what a button gives away."""

FRAGMENTS: Mapping[str, Action] = {
    "go_to": Action.READ,
    "conversation": Action.READ,
    "why_this_verdict": Action.READ,
    "job_lookout": Action.READ,
    "job_progress": Action.READ,
    "team_cell": Action.EDIT,
}
"""By name: parts of a page that Streamlit draws without the rest of it."""

EVENTS: Mapping[str, Action] = {
    "atlas_open": Action.READ,
    "game_open": Action.READ,
    "chat_open": Action.READ,
    "cockpit_open": Action.READ,
    "trend_open": Action.READ,
    "profile_open": Action.READ,
    "desk_draft": Action.RATE,
    "desk_submit": Action.RATE,
    "desk_skip": Action.RATE,
    "desk_discard": Action.RATE,
    "desk_begun": Action.RATE,
    "desk_change": Action.RATE,
    "desk_guide": Action.RATE,
}
"""By component and event: what the browser reports by itself."""


def may_open(title: str, person: Person) -> bool:
    """Whether somebody may reach a page now."""
    return may(person.role, PAGES[title])


def download_button(
    kind: str,
    label: str,
    make: Callable[[], bytes],
    file_name: str,
    mime: str,
    *,
    key: str,
    icon: str = ":material/download:",
    help_text: str | None = None,
) -> None:
    """A button that gives a file away, made when it is asked for and only for who may have it at that moment.

    Args:
        kind: What it gives away: a key of ``DOWNLOADS``.
        label: What stands on it.
        make: Makes the file's content; called outside of any session.
        file_name: What the browser calls the file.
        mime: The file's type.
        key: Tells the button from others; without untrusted text.
        icon: What stands before the label.
        help_text: What shows when the pointer rests on it.
    """
    st.download_button(
        label,
        _checked_at_use(DOWNLOADS[kind], make),
        file_name,
        mime,
        key=key,
        icon=icon,
        help=help_text,
        on_click="ignore",
    )


def fragment(name: str) -> Callable[[Callable[Parameters, None]], Callable[Parameters, None]]:
    """Stands right under ``st.fragment`` or ``st.dialog``; who may not see the part gets the whole page drawn again.

    Args:
        name: A key of ``FRAGMENTS``.
    """
    action = FRAGMENTS[name]

    def checked(draw: Callable[Parameters, None]) -> Callable[Parameters, None]:
        @wraps(draw)
        def drawn(*args: Parameters.args, **options: Parameters.kwargs) -> None:
            if not _is_allowed(action):
                # The page's script says who is let in, and why somebody is not.
                st.rerun()
            draw(*args, **options)

        return drawn

    return checked


def event(name: str, react: Callable[[], None]) -> Callable[[], None]:
    """A component's callback that does nothing for somebody who may not.

    Args:
        name: A key of ``EVENTS``.
        react: What is done otherwise.
    """
    action = EVENTS[name]

    def checked() -> None:
        if _is_allowed(action):
            react()

    return checked


def _checked_at_use(action: Action, make: Callable[[], bytes]) -> Callable[[], bytes]:
    """``make`` for whoever the page was drawn for, as long as they may. Streamlit calls it outside of any session."""
    is_allowed = identity.asker()

    def checked() -> bytes:
        if not is_allowed(action):
            raise identity.refusal(action)
        return make()

    return checked


def _is_allowed(action: Action) -> bool:
    try:
        return identity.allowed(action)
    except InputError:
        # The login is configured wrongly, so nobody is let in.
        return False
