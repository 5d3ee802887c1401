"""The entry script: the registry of pages, running jobs, and a message if the database cannot be read."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dashboard import access_checks, visitors
from dashboard.shared import resources, state
from dashboard.shared.database_panel import way_out
from dashboard.shared.go_to import go_to
from dashboard.shared.identity.identity import Person
from dashboard.shared.identity.sign_in import admitted, identity_panel
from dashboard.shared.jobs import jobs
from dashboard.shared.jobs.job_status import job_banner
from dashboard.shared.notices import show_error
from evaluation.access import Action, Role
from evaluation.errors import DramaturgError, StoreBusyError, StoreError

# In the groups of the navigation.
PAGES = {
    "": [
        st.Page(
            "app_pages/overview/page.py",
            title="Overview",
            icon=":material/dashboard:",
            default=True,
            help="Whether an iteration is better than its reference, and what is still missing to decide.",
        ),
        st.Page(
            "app_pages/trends/page.py",
            url_path="trends",
            title="Trends",
            icon=":material/trending_up:",
            help="Every metric over iterations, game by game; cost and behaviour.",
        ),
        st.Page(
            "app_pages/games/page.py",
            url_path="games",
            title="Games",
            icon=":material/forum:",
            help="All games, each with the verdict on every message; adding games, and verdicts to check.",
        ),
    ],
    "Ratings": [
        st.Page(
            "app_pages/rate/page.py",
            url_path="rate",
            title="Rate",
            icon=":material/rate_review:",
            help="Rate games from 1 to 5 without seeing their scores.",
        ),
        st.Page(
            "app_pages/team/page.py",
            url_path="team",
            title="Team",
            icon=":material/groups:",
            help="Who rates what, and how far raters agree with each other and with the metrics.",
        ),
    ],
    "Personas": [
        st.Page(
            "app_pages/agents/page.py",
            url_path="agents",
            title="Agents",
            icon=":material/theater_comedy:",
            help="Agents on five dimensions, and what was done to their messages before they were sent.",
        ),
        st.Page(
            "app_pages/experiments/page.py",
            url_path="experiments",
            title="Experiments",
            icon=":material/science:",
            help="The same agents with corrections and without, A/B tests, and Table 1 of the TinyTroupe paper.",
        ),
    ],
    "More": [
        st.Page(
            "app_pages/settings/page.py",
            url_path="settings",
            title="Settings and help",
            icon=":material/settings:",
            help="Thresholds, judge, backup; what the metrics mean and whether to trust them, formats, terms.",
        ),
    ],
}


# Images of our own: a Material icon or an emoji in the browser's tab would be fetched from another server.
IMAGES = Path(__file__).parent / "static"
SIDEBAR_WIDTH = 230
st.set_page_config(
    page_title="Dramaturg", page_icon=str(IMAGES / "icon.svg"), layout="wide", initial_sidebar_state=SIDEBAR_WIDTH
)
st.logo(str(IMAGES / "logo.svg"), size="large")
st.html(Path(__file__).with_name("app.css"))


def show_jobs(page: str) -> None:
    """Shows background jobs. The desk says itself why the database cannot be used, and keeps what was filled in."""
    store = resources.store()
    is_desk = access_checks.PAGES[page] is Action.RATE
    try:
        jobs.start_samples_on_first_start(store)
        # The banner has a place of its own: the browser would build everything below it again when it comes or goes.
        with st.container():
            job_banner(store, page, is_blind=is_desk)
    except StoreError:
        if not is_desk:
            raise


def frame(person: Person) -> None:
    """The pages that the person may see, and the one that was asked for."""
    visitors.admit()
    # A page that is not registered cannot be reached, neither by its address nor by a message that a browser makes up.
    reachable = {
        group: [one for one in pages if access_checks.may_open(one.title, person)] for group, pages in PAGES.items()
    }
    page = st.navigation({group: pages for group, pages in reachable.items() if pages}, expanded=True)
    st.set_page_config(page_title=f"{page.title} · Dramaturg")
    go_to([one for pages in reachable.values() for one in pages], page.title)
    identity_panel(person)
    state.keep_one_history_entry_per_page()
    state.apply_next_choices()
    state.begin_page(page.title)
    try:
        if person.role is Role.ADMIN:
            show_jobs(page.title)
        page.run()
        state.keep_begun_forms()
    except DramaturgError as error:
        show_error(error)
        if isinstance(error, StoreError) and not isinstance(error, StoreBusyError):
            way_out(resources.store(), page.title)


# Nobody is to be let in without having logged in. Never st.stop(): Streamlit throws clicks away that wait for their
# turn while it runs.
admitted_person = admitted()
if admitted_person is not None:
    frame(admitted_person)
