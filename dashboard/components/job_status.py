"""How far a background job is, on every page and in every tab, with a button that stops it."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from dashboard import jobs
from dashboard.components.messages import plain
from dashboard.formatting import duration_text
from evaluation.store import Job, JobState, Store

_WATCHED = "watched_job"
_TOLD_ON = "job_told_on"
_REFRESH_SECONDS = 0.5


def job_banner(store: Store, page: str, *, is_blind: bool) -> None:
    """The running job with its progress; once it has ended, how it ended, until the person goes to another page.

    Args:
        store: Where jobs are recorded.
        page: The page that is shown.
        is_blind: Leave out remarks that may name files or iterations.
    """
    job = jobs.latest(store)
    if job is None:
        return
    if job.state is JobState.RUNNING:
        st.session_state[_WATCHED] = job.id
        _progress(store, job.id)
    elif st.session_state.get(_WATCHED) == job.id:
        if st.session_state.setdefault(_TOLD_ON, page) == page:
            _ended(job, is_blind=is_blind)
        else:
            _dismiss()


@st.fragment(run_every=_REFRESH_SECONDS)
def _progress(store: Store, job_id: str) -> None:
    job = store.jobs.get(job_id)
    if job.state is not JobState.RUNNING:
        st.rerun()
    with st.container(border=True):
        share = job.done / job.total if job.total else 0.0
        st.progress(min(share, 1.0), text=progress_text(job, datetime.now(UTC)))
        if job.is_cancel_requested:
            st.caption("Stopping after the current game.")
        else:
            st.button(
                "Cancel", key="cancel_job", icon=":material/stop_circle:", on_click=store.jobs.cancel, args=(job_id,)
            )


def progress_text(job: Job, now: datetime) -> str:
    """What stands above the bar: "Scoring uploaded games: 3 of 9, about 8 s left"."""
    if not job.total:
        return f"{job.label}: starting"
    text = f"{job.label}: {job.done} of {job.total}"
    if job.done:
        left = (now - job.created_at).total_seconds() / job.done * (job.total - job.done)
        text += f", about {duration_text(left)} left"
    return text


def _ended(job: Job, *, is_blind: bool) -> None:
    with st.container(border=True):
        words, draw = _ENDINGS[job.state]
        draw(f"{job.label}: {words}, {job.done} of {job.total}.")
        if job.message and not is_blind:
            plain(job.message)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.page_link("app_pages/overview.py", label="See the overview", icon=":material/dashboard:")
            st.page_link("app_pages/transcripts.py", label="Read the games", icon=":material/forum:")
            st.button("Dismiss", key="dismiss_job", on_click=_dismiss)


def _dismiss() -> None:
    st.session_state.pop(_WATCHED, None)
    st.session_state.pop(_TOLD_ON, None)


_ENDINGS = {
    JobState.DONE: ("done", st.success),
    JobState.CANCELLED: ("cancelled", st.info),
    JobState.FAILED: ("failed", st.error),
    JobState.INTERRUPTED: (
        "interrupted, because the server stopped. What was done is stored; start it again",
        st.warning,
    ),
}
