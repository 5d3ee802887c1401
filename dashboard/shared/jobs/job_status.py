"""Progress of background jobs on every page and in every tab, with buttons to stop or continue them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from dashboard import access_checks
from dashboard.shared import resources, state
from dashboard.shared.formatting import duration_text
from dashboard.shared.jobs import jobs, judging_jobs
from dashboard.shared.notices import plain
from dashboard.shared.page_links import AGENTS_PAGE, GAMES_PAGE, OVERVIEW_PAGE
from dashboard.shared.status_table import status_table
from evaluation.errors import ConflictError
from evaluation.experiments import experiment
from evaluation.store import Job, JobState, Store
from evaluation.workflows.jobs import order_of

_WATCHED = "watched_job"
_TOLD_ON = "job_told_on"
_OPENS = "job_opens"
"""The job whose result opens when it is done, and the query of the view where it was started."""
_REVISION = "jobs_seen_at"
_GAMES = "games_seen"
_REFRESH_SECONDS = 0.5
_LOOK_SECONDS = 2.0
_LISTED = 20


def job_banner(store: Store, page: str, *, is_blind: bool) -> None:
    """Jobs that run, with their progress; those that a dead server left; and how the watched one ended.

    How it ended stands there until the person goes to another page. An interrupted job stays on every page until
    somebody goes on with it or leaves it.

    Args:
        store: Where jobs are recorded.
        page: The page that is shown.
        is_blind: Leave out remarks that may name files or iterations.
    """
    st.session_state[_REVISION] = resources.revision()
    st.session_state[_GAMES] = resources.read(store.transcripts.count)
    recent = [
        job for job in store.jobs.list(_LISTED) if job.kind not in jobs.QUIET or job.state is JobState.INTERRUPTED
    ]
    if not any(job.state is JobState.RUNNING for job in recent):
        _look_out(store, is_blind=is_blind)
    for job in recent:
        if job.state is JobState.RUNNING:
            st.session_state[_WATCHED] = job.id
            _progress(store, job.id)
        elif job.state is JobState.INTERRUPTED:
            _interrupted(store, job)
        elif st.session_state.get(_WATCHED) == job.id:
            if st.session_state.setdefault(_TOLD_ON, page) == page:
                _open_result(store, job)
                _ended(store, job, is_blind=is_blind)
            else:
                _dismiss()


@st.fragment(run_every=_LOOK_SECONDS)
@access_checks.fragment("job_lookout")
def _look_out(store: Store, *, is_blind: bool) -> None:
    """Draws nothing; a job that begins elsewhere shows here, and so do games that arrive, but not at the desk.

    Opens the database when it changed, only.
    """
    revision = resources.revision()
    if st.session_state.get(_REVISION) != revision:
        st.session_state[_REVISION] = revision
        if any(job.kind not in jobs.QUIET for job in store.jobs.running()):
            st.rerun()
        if not is_blind and st.session_state.get(_GAMES) != resources.read(store.transcripts.count):
            st.rerun()


@st.fragment(run_every=_REFRESH_SECONDS)
@access_checks.fragment("job_progress")
def _progress(store: Store, job_id: str) -> None:
    job = store.jobs.get(job_id)
    if job.state is not JobState.RUNNING:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(progress_text(job, datetime.now(UTC)), width="content")
        if job.kind in (judging_jobs.PERSONAS, judging_jobs.ROWS) and job.message:
            # What it has cost so far.
            st.text(job.message, width="content")
        st.progress(min(job.done / job.total, 1.0) if job.total else 0.0)
        if job.is_cancel_requested:
            st.caption("Stopping after what is under way; what is done stays.", width="content")
        else:
            st.button(
                "Cancel",
                key=f"cancel_job_{job_id}",
                type="tertiary",
                icon=":material/stop_circle:",
                on_click=store.jobs.cancel,
                args=(job_id,),
            )


def progress_text(job: Job, now: datetime) -> str:
    """The text above the progress bar: "Scoring uploaded games: 3 of 9, about 8 s left"."""
    if not job.total:
        return f"{job.label}: starting"
    if job.total == 1:
        return f"{job.label} …"
    text = f"{job.label}: {job.done} of {job.total}"
    begun, before = job.resumed_at or job.created_at, job.resumed_done or 0
    if job.done > before:
        left = (now - begun).total_seconds() / (job.done - before) * (job.total - job.done)
        text += f", about {duration_text(left)} left"
    return text


def _interrupted(store: Store, job: Job) -> None:
    with st.container(border=True):
        of_total = f"{job.done} of {job.total} done" if job.total else "nothing done"
        st.warning(
            f"{job.label}: interrupted, {of_total}. The server stopped; what was done is stored.",
            icon=":material/pause_circle:",
        )
        can_go_on = jobs.can_go_on(store, job)
        if not can_go_on:
            st.caption(
                "The rest is not known any more: start it again. What is stored is recognised and left as it is."
            )
        with st.container(horizontal=True):
            if can_go_on:
                _go_on_button(store, job)
            st.button("Leave it", key=f"leave_job_{job.id}", on_click=jobs.end, args=(store, job.id))


def _go_on_button(store: Store, job: Job) -> None:
    label = f"Go on with the other {job.total - job.done}" if job.total > job.done else "Go on"
    st.button(
        label,
        key=f"go_on_{job.id}",
        type="primary",
        icon=":material/play_arrow:",
        on_click=_go_on,
        args=(store, job.id),
    )


def _go_on(store: Store, job_id: str) -> None:
    _dismiss()
    # Told how it ended even if it has ended before the page is drawn.
    st.session_state[_WATCHED] = job_id
    try:
        jobs.go_on(store, job_id)
    except ConflictError as error:
        # Somebody pressed it in another tab a moment ago, or other games are being scored.
        st.toast(f"That did not start: {error.message}", icon=":material/info:")


def _ended(store: Store, job: Job, *, is_blind: bool) -> None:
    said = f"{job.label}: {job.state}{f', {job.done} of {job.total}' if job.total > 1 else ''}."
    message = "" if is_blind else job.message
    if job.state is JobState.DONE and job.kind in _BY_ITSELF:
        st.toast(said, icon=":material/check:", duration="long")
        _dismiss()
        return
    if job.state is JobState.FAILED:
        st.error(said)
    with st.container(horizontal=True, vertical_alignment="center"):
        if job.state is not JobState.FAILED:
            st.text(said, width="content")
        if jobs.can_go_on(store, job):
            _go_on_button(store, job)
        page, label, query = result_of(job.kind, order_of(store, job.id))
        st.page_link(page, label=label, query_params=query)
        st.button("Dismiss", key="dismiss_job", type="tertiary", on_click=_dismiss)
    if message:
        plain(message)


def open_when_done(job: Job) -> None:
    """Opens the job's result once it is done, if the person is still on the page and view where they started it."""
    st.session_state[_OPENS] = (job.id, st.query_params.to_dict())


def _open_result(store: Store, job: Job) -> None:
    begun, place = st.session_state.pop(_OPENS, (None, None))
    if begun != job.id or job.state is not JobState.DONE or place != st.query_params.to_dict():
        return
    page, _, query = result_of(job.kind, order_of(store, job.id))
    # What is shown already stays as it is, with all that was chosen in it.
    if not query.items() <= place.items():
        st.switch_page(page, query_params=query)


def result_of(kind: str, order: Mapping[str, Any]) -> tuple[str, str, dict[str, str]]:
    """The page that shows what a job of this kind made: its file, the words of the link, and the query.

    Args:
        kind: The kind of job.
        order: What it was ordered to do; empty where that is not known.
    """
    about = str(order.get("subject", ""))
    agents = [str(one) for one in order.get("agents") or ()]
    games = [str(one) for one in order.get("transcripts") or ()]
    subject = {"transcript": games[0]} if len(games) == 1 else {}
    match kind:
        case experiment.EXPERIMENT:
            return _EXPERIMENTS, "See the experiment", {"experiment": about}
        case experiment.AB_TEST:
            return _EXPERIMENTS, "See the A/B test", {"experiments_view": "A/B tests", "ab_test": about}
        case judging_jobs.PERSONAS:
            return AGENTS_PAGE, "See the agents", {"agent": agents[0]} if agents else {}
        case judging_jobs.CHECKS if subject:
            return GAMES_PAGE, "See the answers", {**subject, state.VIEW: state.INSIGHTS}
        case judging_jobs.ROWS if subject:
            return GAMES_PAGE, "Read the game", subject
        case jobs.EXAMPLES:
            return AGENTS_PAGE, "See the agents", {}
        case jobs.SAMPLES:
            return OVERVIEW_PAGE, "See the overview", {}
    # The list is named: on the page where games are added the link would leave everything as it is.
    return GAMES_PAGE, "Read the games", {state.GAMES_PART: state.GAME_LIST}


_EXPERIMENTS = "app_pages/experiments/page.py"


def _dismiss() -> None:
    st.session_state.pop(_WATCHED, None)
    st.session_state.pop(_TOLD_ON, None)


_BY_ITSELF = frozenset({jobs.SAMPLES, jobs.EXAMPLES})
"""Jobs that nobody ordered: what they made is on the pages already."""


def job_history(store: Store) -> None:
    """The latest jobs that failed or were cancelled, folded, with what was wrong; nothing when there was none."""
    recent = [job for job in store.jobs.list(_LISTED) if job.state in (JobState.FAILED, JobState.CANCELLED)]
    if not recent:
        return
    rows = [
        {
            "What": job.label,
            "State": str(job.state),
            "Done": f"{job.done} of {job.total}",
            "Started": job.created_at,
            "Remark": job.message,
        }
        for job in recent
    ]
    with st.expander("Jobs that failed or were cancelled"):
        status_table(rows, "The latest background jobs, newest first")
