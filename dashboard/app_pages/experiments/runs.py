"""The parts of the Experiments page that show studies: the list, one study's report, and Table 1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import access_checks
from dashboard.app_pages.experiments import data, start
from dashboard.app_pages.experiments.data import ShownStudy
from dashboard.shared import state
from dashboard.shared.answer import Fact, answer
from dashboard.shared.clicked_marks import remember_click
from dashboard.shared.drawing import cockpit_rows, marks_legend
from dashboard.shared.formatting import PICKER, told_apart
from dashboard.shared.jobs.judging_form import limit_inputs
from dashboard.shared.local_time import local_time
from dashboard.shared.notices import plain
from dashboard.shared.status_table import status_table
from dashboard.shared.version_notes import trust_facts
from evaluation.experiments.ab_runner import ABConfig
from evaluation.experiments.experiment import AB_TEST, EXPERIMENT
from evaluation.experiments.study import StudyStatus
from evaluation.experiments.tables import (
    CAVEAT,
    SCRIPTED_NOTE,
    activity_cells,
    activity_words,
    basis_words,
    comparison_cells,
    finding_words,
    missing_words,
    published_experiments,
    report_cells,
    run_cells,
    runs_by_status,
    table1_cells,
    variant_cells,
    verdict_words,
)
from evaluation.judging.model_client.budget import SPENT
from evaluation.statistics.words import stricter_words
from evaluation.store import Store
from evaluation.text.display import cost_text, counted, shortened
from evaluation.workflows.jobs import latest_order, running_order

_PARAMETERS = {EXPERIMENT: "experiment", AB_TEST: "ab_test"}
"""The query parameters that name the study which is looked at."""
_MARKS = "experiment_marks"
_LONGEST_NAME = 40
_BAND = "band: where the true change may lie"
"""It is the one interval of a row, in words below its name, and as wide as the test that decided asks for."""
START = "start"
"""The key of the form that runs an experiment, and in the address whether it is open."""


def choose(found: Sequence[ShownStudy], kind: str) -> ShownStudy:
    """The study that is looked at; it stands in the URL, and under its key in the session."""
    by_id = {one.study.id: one for one in found}
    titles, parameter, key = {name: one.title for name, one in by_id.items()}, _PARAMETERS[kind], start.CHOSEN[kind]
    state.tell_unknown(titles, parameter)
    if st.session_state.get(key) not in titles:
        st.session_state[key] = state.chosen(parameter, titles) or next(iter(titles))
    label = "A/B test" if kind == AB_TEST else "Experiment"
    with state.head():
        chosen = st.selectbox(label, list(titles), format_func=told_apart(titles).__getitem__, key=key, width=PICKER)
    state.choose(**{parameter: chosen})
    return by_id[chosen]


def study_view(store: Store, shown: ShownStudy, label: str, key: str) -> None:
    """One study: how far it is, what it shows and why, its numbers, and its games.

    Args:
        store: Where it is.
        shown: The study.
        label: Of the button that opens the form for another one; empty for no button.
        key: Of that form.
    """
    study, plan = shown.study, shown.study.plan
    about = ""
    if not isinstance(plan, ABConfig):
        about = f"Treatment: {plan.scenario.treatment_words}. {activity_words(study.result)}"
    has_report = bool(study.result.comparisons)
    if about and not has_report:
        plain(about)
    if job := running_order(store, plan.kind, study.id):
        progress = f"{job.done} of {counted(job.total, 'run')} done" if shown.is_test else shown.progress
        st.info(f"It is at work: {progress}.", icon=":material/timer:")
    elif study.status != StudyStatus.COMPLETED or study.result.skipped:
        _unfinished(store, shown)
    action = None
    if has_report and shown.is_test:
        action = _test_report(shown)
    elif has_report:
        action = _experiment_report(shown, about)
    if label:
        with action or state.head():
            st.button(label, "open_study", type="primary" if action else "secondary", on_click=_open, args=(key,))
    label, key = ("Game of a run", "game_of_run") if shown.is_test else ("Conversation", "conversation")
    games = data.stored_games(store, shown.games)
    if not games:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox(label, list(games), format_func=games.__getitem__, key=f"{key}_{study.id}", width=PICKER)
        if st.button("Read it", icon=":material/forum:", key=f"read_{key}"):
            st.switch_page("app_pages/games/page.py", query_params={"transcript": chosen})


def _experiment_report(shown: ShownStudy, about: str) -> DeltaGenerator:
    study, plan, rows = shown.study, shown.study.experiment, shown.study.result.comparisons
    found, pairs = finding_words(rows), counted(len(shown.games) // 2, "pair")
    # A script's finding must not stand alone.
    headline, _, note = SCRIPTED_NOTE.partition(": ") if plan.is_scripted else (found, "", "")
    told = f"{note[:1].upper()}{note[1:]} {found}" if note else about
    action = answer(headline, told, [Fact(f"{pairs} of conversations")])
    if words := verdict_words([study]):
        st.caption(words)
    legend = marks_legend("with the treatment", "without it", "a conversation, open without it", band=_BAND)
    _draw(shown, legend, "with it", [0, 3, 6, 9])
    if note:
        plain(about)
    with st.expander("Show the numbers", icon=":material/table:", key="run_numbers"):
        status_table(report_cells(study), "The report in the layout of Table 1, the paper's values beside it")
        status_table(
            activity_cells(study), "How often each part of the treatment took effect, and calls and cost of each side"
        )
        st.caption(f"Experiment {study.id[:8]}, scale {plan.scale:g}, seed {plan.seed}.")
        if missing := missing_words(rows):
            st.caption(missing)
        st.caption(CAVEAT)
    return action


def _test_report(shown: ShownStudy) -> DeltaGenerator:
    study, result = shown.study, shown.study.result
    is_only_pair = len(result.variants) == 2
    cells = [comparison_cells(one, is_only_pair=is_only_pair) for one in result.comparisons]
    table = "Every pair of variants on every measure"
    assert isinstance(study.plan, ABConfig)
    action = answer(
        result.recommendation,
        basis_words(result),
        trust_facts(
            [one.metric_name for one in result.comparisons], result.primary, "The recommendation", study.plan.decides
        ),
        color="green" if result.winner else "gray",
    )
    before, after, *_ = (shortened(name, _LONGEST_NAME) for name in result.variants)
    kind = "stored game" if study.plan.source == "transcripts" else "run"
    legend = marks_legend(after, before, f"a {kind}, open of {before}", band=_BAND)
    is_drawn = _draw(shown, legend, after) and data.is_drawn(result.primary)
    if not is_drawn:
        status_table(cells, table)
    with st.expander("Show the numbers", icon=":material/table:", key="ab_numbers"):
        spent = f" Spent: {cost_text(result.spent_usd)}." if result.spent_usd != 0 else ""
        ended = f" Ended {local_time(study.completed_at)}." if study.completed_at else ""
        runs = f"Runs: {runs_by_status(result.runs)}."
        st.caption(f"{runs}{spent}{ended} {stricter_words('The deciding measure')}")
        for reason in result.reasons:
            plain(reason)
        if is_drawn:
            status_table(cells, table)
        st.caption(
            "Significant: the deciding measure is tested apart, the others adjusted together (Holm), as on the "
            "Overview; intervals are as wide as that asks for. Practical: more than 10 "
            "% of the larger mean, unless the test says otherwise. Effect size: Cohen's d. Detectable: the smallest "
            "difference that so many runs would find in 8 of 10 tests."
        )
        variants = [variant_cells(one) for one in result.variants.values()]
        status_table(variants, "The variants: runs by status, checks passed, means")
        status_table([run_cells(run) for run in result.runs], "Every run with its status and cost")
    return action


def _draw(shown: ShownStudy, legend: Sequence[str], now: str, ticks: Sequence[int] | None = None) -> bool:
    """The two arms as rows of marks; whether there was anything to draw."""
    rows = data.mark_rows(shown)
    if rows:
        on_open = access_checks.event("cockpit_open", remember_click(_MARKS, [targets for _, targets in rows]))
        payload = {"rows": [row for row, _ in rows], "legend": list(legend), "now": now, "ticks": ticks}
        cockpit_rows(key=_MARKS, data=payload, on_open_change=on_open)
    return bool(rows)


def _unfinished(store: Store, shown: ShownStudy) -> None:
    """The rest that is not done and why; the button that goes on with it, and the limits that hold then."""
    study, result = shown.study, shown.study.result
    st.warning(
        f"This run is not done: {shown.progress}. What is done is stored; start the same run again to go on, nothing "
        "is paid for twice.",
        icon=":material/pause_circle:",
    )
    if trouble := result.error or result.stopped:
        plain(f"Why it stopped: {trouble}")
    options = latest_order(store, study.plan.kind, study.plan.id).get("options", {})
    if result.stopped == SPENT:
        # As much again as last time, unless the person enters others.
        options |= limit_inputs(f"go_on_{study.id}", options)
    start.start_button(store, study.plan, options, "Go on with it", f"go_on_{study.plan.kind}")
    st.caption(_words(options))


def _words(options: Mapping[str, Any]) -> str:
    """The limits that it will go on with; its address is not named, somebody may have written a key into it."""
    usd, calls = options.get("max_usd"), options.get("max_calls")
    limits = [*([] if usd is None else [f"{usd:,.2f} US dollars"]), *([] if calls is None else [f"{calls:,} calls"])]
    if not limits:
        return "It continues with the limit from Settings."
    return f"It goes on as it was started, with at most {' and '.join(limits)} from now on."


def table1(found: Sequence[ShownStudy]) -> None:
    """The 19 published rows, and how far the latest runs by a model agree with them."""
    published = [row for one in published_experiments() for row in one.rows]
    counts = Counter(row.direction for row in published)
    said = f"{counts[-1]} worse, {counts[1]} better and {counts[0]} could be luck, of {len(published)} means."
    with answer("In the paper, corrections mostly did not help", f"{said} {data.table1_words(found)}"):
        st.button("Run an experiment", key="run_for_table1", on_click=_open, args=(START,))
    groups = [f"{one.name}: {one.setting}, {one.treatment}" for one in published_experiments() for _ in one.rows]
    rows = []
    for one, cells in zip(published, table1_cells(), strict=True):
        _, dimension, treatment, control, difference, p = map(str, cells.values())
        change = f"{('', '▲ ', '▼ ')[one.direction]}{difference}".replace("-", "\u2212")
        rows.append({"Dimension": dimension, "Treatment": treatment, "Control": control, "Difference": change, "p": p})
    status_table(rows, "Table 1 as published", groups=groups)
    st.caption(
        "Mean and standard deviation of the scores, from 0 to 9; of ideas, their number. The TinyTroupe paper "
        "(arXiv:2507.09788) let the same agents talk with corrections, the treatment, and without."
    )


def _open(form: str) -> None:
    st.session_state["experiments_view"], st.session_state[form] = "A/B tests" if form != START else "Runs", True
