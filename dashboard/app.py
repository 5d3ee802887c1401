"""The entry script: the registry of pages, running jobs, and a message if the database cannot be read."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dashboard import access_checks, visitors
from dashboard.shared import resources, state, tour_progress
from dashboard.shared.database_panel import way_out
from dashboard.shared.identity.identity import Person
from dashboard.shared.identity.sign_in import admitted, identity_panel
from dashboard.shared.jobs import jobs
from dashboard.shared.jobs.job_status import job_banner
from dashboard.shared.notices import show_error
from evaluation.access.roles import Action, Role
from evaluation.errors import DramaturgError, StoreBusyError, StoreError, StoreReadOnlyError

# In the groups of the navigation.
PAGES = {
    "Work": [
        st.Page(
            "app_pages/overview/page.py",
            title="Overview",
            icon=":material/dashboard:",
            default=True,
            help="Every iteration against the rubric's thresholds, the checklist, and what to change next.",
        ),
        st.Page(
            "app_pages/transcripts/page.py",
            url_path="transcripts",
            title="Games",
            icon=":material/forum:",
            help="All games with their scores, each with the verdict on every message; and adding games.",
        ),
        st.Page("app_pages/upload/page.py", url_path="upload", title="Games", visibility="hidden"),
        st.Page(
            "app_pages/review/page.py",
            url_path="review",
            title="Review",
            icon=":material/rate_review:",
            help="Rate games from 1 to 5 without seeing their scores.",
        ),
        st.Page(
            "app_pages/verdicts/page.py",
            url_path="verdicts",
            title="Verdicts to check",
            icon=":material/fact_check:",
            help="Rows in doubt, one at a time: a person decides with one key, and sees what that changes.",
        ),
    ],
    "Decide": [
        st.Page(
            "app_pages/trends/page.py",
            url_path="trends",
            title="Trends",
            icon=":material/trending_up:",
            help="Every metric over iterations, game by game.",
        ),
        st.Page(
            "app_pages/compare/page.py",
            url_path="compare",
            title="Compare",
            icon=":material/compare_arrows:",
            help="Two iterations side by side: what changed, what that shows, and the messages behind it.",
        ),
        st.Page(
            "app_pages/agreement/page.py",
            url_path="agreement",
            title="Agreement",
            icon=":material/handshake:",
            help="Raters against each other, metrics against raters, and where to look first.",
        ),
        st.Page(
            "app_pages/validity/page.py",
            url_path="validity",
            title="Validity",
            icon=":material/verified:",
            help="Whether each metric notices when the thing that it measures is destroyed, on your own games.",
        ),
    ],
    "Agents": [
        st.Page(
            "app_pages/personas/page.py",
            url_path="personas",
            title="Personas",
            icon=":material/theater_comedy:",
            help="Agents on five dimensions, what they are held against, and the reason behind every score.",
        ),
        st.Page(
            "app_pages/corrections/page.py",
            url_path="corrections",
            title="Corrections",
            icon=":material/published_with_changes:",
            help="What the gate did to messages before they were sent, attempt by attempt, and what it checks.",
        ),
        st.Page(
            "app_pages/experiments/page.py",
            url_path="experiments",
            title="Experiments",
            icon=":material/science:",
            help="The same agents with corrections and without, compared, and Table 1 of the TinyTroupe paper.",
        ),
        st.Page(
            "app_pages/network/page.py",
            url_path="network",
            title="Insights",
            icon=":material/hub:",
            help="Who addresses whom, how much everybody says, checks of messages, and what asking models has cost.",
        ),
    ],
    "More": [
        st.Page(
            "app_pages/settings/page.py",
            url_path="settings",
            title="Settings",
            icon=":material/settings:",
            help="Thresholds, the size of a test, import limits, backup and restore.",
        ),
        st.Page(
            "app_pages/guide/page.py",
            url_path="guide",
            title="Guide",
            icon=":material/description:",
            help="A tour of a minute, the metrics and words, the shape that transcripts need, and a check of yours.",
        ),
    ],
}

# The pages that write their heading themselves: the Overview's is the decision on the iteration.
OWN_HEADINGS = {"Overview"}

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
    # Expanded: from a dozen pages on Streamlit would hide the last ones behind a button.
    page = st.navigation({group: pages for group, pages in reachable.items() if pages}, expanded=True)
    st.set_page_config(page_title=f"{page.title} · Dramaturg")
    identity_panel(person)
    state.keep_one_history_entry_per_page()
    tour_progress.way_back()
    if page.title not in OWN_HEADINGS:
        st.title(page.title, anchor=False)
    try:
        if person.role is Role.ADMIN:
            show_jobs(page.title)
        page.run()
    except DramaturgError as error:
        if page.title in OWN_HEADINGS:
            st.title(page.title, anchor=False)
        show_error(error)
        if isinstance(error, StoreError) and not isinstance(error, StoreBusyError | StoreReadOnlyError):
            way_out(resources.store(), page.title)


# Nobody is to be let in without having logged in. Never st.stop(): Streamlit throws clicks away that wait for their
# turn while it runs.
admitted_person = admitted()
if admitted_person is not None:
    frame(admitted_person)
