"""The parts of the Experiments page that show runs: the list, one run's report, and links to its conversations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import access_checks
from dashboard.app_pages.experiments import data, start
from dashboard.app_pages.experiments.data import ShownRun
from dashboard.shared import state
from dashboard.shared.answer import Fact, answer
from dashboard.shared.clicked_marks import remember_click
from dashboard.shared.drawing import cockpit_rows
from dashboard.shared.formatting import PICKER, told_apart
from dashboard.shared.jobs import jobs
from dashboard.shared.jobs.judging_form import limit_inputs
from dashboard.shared.local_time import local_time
from dashboard.shared.notices import empty_state, plain
from dashboard.shared.status_table import open_row, status_table
from dashboard.shared.version_notes import trust_facts
from evaluation.experiments.ab_results import ab_summary
from evaluation.experiments.conversation import stored_activity
from evaluation.experiments.plan import AB_TEST, EXPERIMENT, ExperimentRecord, ExperimentStatus
from evaluation.experiments.report import (
    CAVEAT,
    SCRIPTED_NOTE,
    activity_words,
    finding_words,
    missing_words,
    report_cells,
    verdict_words,
)
from evaluation.experiments.table1 import table1_cells
from evaluation.judging.model_client.budget import SPENT
from evaluation.statistics.words import stricter_words
from evaluation.store import Store
from evaluation.text.display import counted, shortened
from evaluation.workflows.jobs import running_order
from evaluation.workflows.studies import latest_options

_ID = "experiment"
_MARKS = "experiment_marks"
_LONGEST_NAME = 40
_WIDTH = 280
_BAND = "band, and figures below a name: range of the true difference"


def choose(found: Sequence[ShownRun]) -> ShownRun:
    """The run that is looked at; it stands in the URL."""
    by_id = {run.record.id: run for run in found}
    return by_id[_choose("Experiment", {key: run.title for key, run in by_id.items()}, _ID, start.CHOSEN[EXPERIMENT])]


def _choose(label: str, titles: Mapping[str, str], parameter: str, key: str) -> str:
    """The id that is looked at; it stands in the URL under ``parameter``, and under ``key`` in the session."""
    state.tell_unknown(titles, parameter)
    if st.session_state.get(key) not in titles:
        st.session_state[key] = state.chosen(parameter, titles) or next(iter(titles))
    with state.head():
        chosen = st.selectbox(label, list(titles), format_func=told_apart(titles).__getitem__, key=key, width=_WIDTH)
    state.choose(**{parameter: chosen})
    return chosen


def run_view(store: Store, run: ShownRun) -> None:
    """One experiment: what it is, its report, and its conversations."""
    record = run.record
    treatment = f"Treatment: {data.treatment_words(record.config['scenario'].get('treatment_words', ''))}."
    about = f"{treatment} {activity_words(record)}"
    if not record.rows:
        plain(about)
        _unfinished(store, run)
    else:
        found, pairs = finding_words(record.rows), counted(len(run.sessions) // 2, "pair")
        # A script's finding must not stand alone.
        headline, _, note = SCRIPTED_NOTE.partition(": ") if record.is_scripted else (found, "", "")
        answer(
            headline, f"{note[:1].upper()}{note[1:]} {found}" if note else about, [Fact(f"{pairs} of conversations")]
        )
        _report(run)
        if note:
            plain(about)
    _conversations(run)


def _report(run: ShownRun) -> None:
    if words := verdict_words(run.record.rows):
        st.caption(words)
    legend = ("○ without the treatment", "● with it", "· a conversation with it", _BAND)
    _draw(data.treatment_rows(run), legend, unit="own")
    with st.expander("Show the numbers", key="run_numbers"):
        _numbers(run)


def _draw(rows: Sequence[data.Row], legend: Sequence[str], unit: str = "%") -> None:
    on_open = access_checks.event("cockpit_open", remember_click(_MARKS, [targets for _, targets in rows]))
    payload = {"rows": [row for row, _ in rows], "legend": list(legend), "unit": unit}
    cockpit_rows(key=_MARKS, data=payload, on_open_change=on_open)


def _numbers(run: ShownRun) -> None:
    status_table(
        [report_cells(row) for row in run.record.rows],
        "The report in the layout of Table 1, the paper's values beside it",
    )
    headings = ("What happened", "Treatment", "Control")
    if activity := [dict(zip(headings, row, strict=True)) for row in stored_activity(run.record)]:
        status_table(activity, "How often each part of the treatment took effect, and calls and cost of each side")
    record = run.record
    st.caption(f"Experiment {record.id[:8]}, scale {record.scale:g}, seed {record.seed}.")
    if missing := missing_words(run.record.rows):
        st.caption(missing)
    st.caption(CAVEAT)


def _unfinished(store: Store, run: ShownRun) -> None:
    if running_order(store, EXPERIMENT, run.record.id):
        st.info(f"It is at work: {run.evaluated} of {run.wanted} conversations are evaluated.", icon=":material/timer:")
        return
    st.warning(
        f"This run is not done: {run.evaluated} of {run.wanted} conversations are evaluated. What is done is stored; "
        "start the same run again to go on, nothing is paid for twice.",
        icon=":material/pause_circle:",
    )
    if run.trouble:
        plain(f"Why it stopped: {run.trouble}")
    _go_on(store, run.record, latest_options(store, run.record) or {})


def _go_on(store: Store, record: ExperimentRecord, options: dict[str, Any]) -> None:
    """The button that goes on with what is not done, and the limits that hold then."""
    if record.stopped == SPENT:
        # As much again as last time, unless the person enters others.
        options |= limit_inputs(f"go_on_{record.id}", options)
    is_busy = jobs.running(store, record.kind) is not None
    if st.button(
        "Go on with it", icon=":material/play_arrow:", type="primary", disabled=is_busy, key=f"go_on_{record.kind}"
    ):
        start.start_study(store, record, options)
    st.caption("Another one is running; this one can go on when it is done." if is_busy else _words(options))


def _words(options: Mapping[str, Any]) -> str:
    """The limits that it will go on with; its address is not named, somebody may have written a key into it."""
    usd, calls = options.get("max_usd"), options.get("max_calls")
    limits = [*([] if usd is None else [f"{usd:,.2f} US dollars"]), *([] if calls is None else [f"{calls:,} calls"])]
    if not limits:
        return "It goes on without a limit of its own; the one in Settings holds."
    return f"It goes on as it was started, with at most {' and '.join(limits)} from now on."


def _conversations(run: ShownRun) -> None:
    names = data.session_names(run)
    if not names:
        return
    _read_one("Conversation", names, f"conversation_{run.record.id}", "read_conversation")
    st.caption(
        "Both conversations of a pair have the same agents and facilitator, one with the treatment, one without."
    )


def _read_one(label: str, names: Mapping[str, str], key: str, button_key: str) -> None:
    """A choice of stored games, by transcript id, and a button that opens the chosen one; nothing without games."""
    if not names:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox(label, list(names), format_func=names.__getitem__, key=key, width=PICKER)
        if st.button("Read it", icon=":material/forum:", key=button_key):
            st.switch_page("app_pages/games/page.py", query_params={"transcript": chosen})


def table1(found: Sequence[ShownRun]) -> None:
    """The directions of the 19 published rows beside the latest run of each scenario, and the numbers folded."""
    shown = data.table1_directions(found)
    headline, _, counts = data.published_words().partition(": ")
    with answer(f"{headline}.", f"{counts[:1].upper()}{counts[1:]} {data.table1_words(found)}"):
        if len(shown) == 1:
            st.button("Run an experiment", icon=":material/science:", key="run_for_table1", on_click=_open_form)
    for title, directions, runs in shown:
        st.subheader(title, anchor=False)
        alt = f"{title}: the direction of every difference"
        if not runs:
            status_table(directions, alt)
        elif (row := open_row(directions, alt, "table1_runs")) is not None:
            state.choose_next(experiments_view="Runs", chosen_experiment=runs[row])
    ours = "✓ the same way as in the paper, ✗ the other way. Select a row to open its run. " if len(shown) > 1 else ""
    st.caption(
        f"{ours}▲ higher (better) and ▼ lower (worse) with corrections, in points of 9; ideas in their number. The "
        "TinyTroupe paper (arXiv:2507.09788) let the same agents talk with corrections, the treatment, and without."
    )
    with st.expander("Show the numbers", key="table1_numbers"):
        status_table(table1_cells(), "Table 1 as published")
        st.caption("Mean and standard deviation of the scores, from 0 to 9; of ideas, their number.")


def _open_form() -> None:
    st.session_state["experiments_view"], st.session_state["start"] = "Runs", True


def ab_view(store: Store, found: Sequence[ExperimentRecord]) -> None:
    """The A/B tests: what each recommends and why, its variants, comparisons and runs, and links to their games."""
    if not found:
        empty_state(
            "No A/B tests yet",
            "An A/B test compares variants of a configuration on the same measures. Start one here, or with "
            "`dramaturg ab CONFIG`.",
        )
        return
    by_id = {test.id: test for test in found}
    titles = {key: test.name for key, test in by_id.items()}
    chosen = by_id[_choose("A/B test", titles, start.TEST, start.CHOSEN[AB_TEST])]
    job = running_order(store, AB_TEST, chosen.id)
    if job is not None:
        st.info(f"It is at work: {job.done} of {counted(job.total, 'run')} done.", icon=":material/timer:")
    elif not chosen.results or chosen.results.get("skipped") or chosen.status != ExperimentStatus.COMPLETED:
        _ab_unfinished(store, chosen)
    if chosen.results:
        _ab_results(store, chosen, chosen.results)


def _ab_unfinished(store: Store, test: ExperimentRecord) -> None:
    """A remark that runs are left, and a button that makes them where the test was started from the page."""
    options = latest_options(store, test)
    if options is None:
        st.info("Some runs are left. Run the same file again to make them: nothing is paid for twice.")
        return
    st.warning("Some runs are left. Those that are done are stored.", icon=":material/pause_circle:")
    _go_on(store, test, options)


def _ab_results(store: Store, chosen: ExperimentRecord, results: Mapping[str, Any]) -> None:
    summary = ab_summary(results)
    measured = [str(one["metric_name"]) for one in results.get("comparisons", [])]
    answer(
        str(results.get("recommendation", "")),
        summary.basis,
        trust_facts(measured, results.get("primary"), "The recommendation"),
        color="green" if results.get("winner") else "gray",
    )
    if drawn := data.variant_rows(results, summary.measures):
        before, after = (shortened(str(name), _LONGEST_NAME) for name in results["variants"])
        kind = "stored game" if chosen.config.get("test", {}).get("source") == _STORED_GAMES else "run"
        legend = (f"○ {before}", f"● {after}", f"· a {kind} of it", _BAND)
        _draw(drawn, legend)
    if summary.measures and not (drawn and data.is_drawn(next(iter(summary.measures)))):
        status_table(list(summary.measures.values()), "Every measure: what the runs show, and the mean of each variant")
    games = data.stored_games(store, summary.games)
    _read_one("Game of a run", games, f"game_of_run_{chosen.id}", "read_game_of_run")
    with st.expander("Show the numbers", key="ab_numbers"):
        spent = f" Spent: {summary.spent}." if results.get("spent_usd") != 0 else ""
        ended = f" Ended {local_time(chosen.completed_at)}." if chosen.completed_at else ""
        st.caption(f"Runs: {summary.runs}.{spent}{ended} {stricter_words('The deciding measure')}")
        for reason in results.get("reasons", []):
            plain(str(reason))
        if summary.comparisons:
            status_table(summary.comparisons, "Every pair of variants on every measure")
        st.caption(
            "Significant: the deciding measure is tested apart, the others adjusted together (Holm), as on the "
            "Overview; intervals of two variants are as wide as that asks for. Practical: more than 10 "
            "% of the larger mean, unless the test says otherwise. Effect size: Cohen's d. Detectable: the smallest "
            "difference that so many runs would find in 8 of 10 tests."
        )
        if summary.variants:
            status_table(summary.variants, "The variants: runs by status, checks passed, means")
        if summary.every_run:
            status_table(summary.every_run, "Every run with its status and cost")


_STORED_GAMES = "transcripts"
"""The source of a test whose runs are games that are stored already."""
