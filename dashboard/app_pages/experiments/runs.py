"""The parts of the Experiments page that show runs: the list, one run's report, and links to its conversations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard.app_pages.experiments import data, start
from dashboard.app_pages.experiments.data import MeasuredRuns, ShownRun
from dashboard.shared import state
from dashboard.shared.answer import answer
from dashboard.shared.charts.metric_charts import ACCENT, LIMIT, NEUTRAL, error_bars, escaped_label
from dashboard.shared.drawing import draw_chart
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
    row_words,
    verdict_words,
)
from evaluation.experiments.table1 import table1_cells
from evaluation.judging.model_client.budget import SPENT
from evaluation.judging.propositions import Dimension
from evaluation.statistics.words import stricter_words
from evaluation.store import Store
from evaluation.text.display import counted
from evaluation.workflows.jobs import running_order
from evaluation.workflows.studies import latest_options

_ID = "experiment"


def choose(found: Sequence[ShownRun]) -> ShownRun:
    """The run that is looked at; it stands in the URL."""
    by_id = {run.record.id: run for run in found}
    return by_id[_choose("Experiment", {key: run.title for key, run in by_id.items()}, _ID, start.CHOSEN[EXPERIMENT])]


def _choose(label: str, titles: Mapping[str, str], parameter: str, key: str) -> str:
    """The id that is looked at; it stands in the URL under ``parameter``, and under ``key`` in the session."""
    state.tell_unknown(titles, parameter)
    if st.session_state.get(key) not in titles:
        st.session_state[key] = state.chosen(parameter, titles) or next(iter(titles))
    chosen = st.selectbox(label, list(titles), format_func=told_apart(titles).__getitem__, key=key, width=PICKER)
    state.choose(**{parameter: chosen})
    return chosen


def run_view(store: Store, run: ShownRun) -> None:
    """One experiment: what it is, its report, and its conversations."""
    record = run.record
    if run.record.rows:
        if record.is_scripted:
            st.markdown(f"**{SCRIPTED_NOTE}**")
        pairs = counted(len(run.sessions) // 2, "pair")
        found = f"{finding_words(run.record.rows)} It rests on {pairs} of conversations."
        st.markdown(found if record.is_scripted else f"**{found}**")
    treatment = f"Treatment: {data.treatment_words(record.config['scenario'].get('treatment_words', ''))}."
    plain(f"{treatment} {activity_words(record)}")
    if run.record.rows:
        _report(run)
    else:
        _unfinished(store, run)
    _conversations(run)


def _report(run: ShownRun) -> None:
    rows = run.record.rows
    if words := verdict_words(rows):
        st.caption(words)
    ideas = [row for row in rows if row["dimension"] == Dimension.IDEAS_QUANTITY]
    for title, ends, shown in (
        ("difference in points of 9", ("worse", "better"), [row for row in rows if row not in ideas]),
        ("difference in number of ideas", ("fewer", "more"), ideas),
    ):
        if shown:
            key = f"differences_{run.record.id}_{len(shown)}"
            draw_chart(difference_figure(shown, title, ends), key=key, alt=difference_alt(shown))
    paper = ", diamond: the paper's difference" if any(row["published"] for row in rows) else ""
    st.caption(f"With the treatment, as against without. Bar: where the true difference may lie (95 %){paper}.")
    with st.expander("Show the numbers", key="run_numbers"):
        _numbers(run)


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
    st.markdown(f"**{data.published_words()} {data.table1_words(found)}**")
    shown = data.table1_directions(found)
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
    if drawn := data.measured_runs(results, summary.measures):
        draw_chart(
            measures_figure(drawn),
            key=f"measures_{chosen.id}",
            alt=". ".join(f"{one.label}. {_means_in_words(one)}" for one in drawn),
        )
        kind = "stored games" if chosen.config.get("test", {}).get("source") == _STORED_GAMES else "runs"
        pair = (
            "In brackets: where the true difference may lie, in points. "
            if len(results.get("variants", {})) == 2
            else ""
        )
        st.caption(f"Marks are {kind}, a line is their mean. {pair}".strip())
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


def _means_in_words(one: MeasuredRuns) -> str:
    return ", ".join(f"{name} {fmean(values):.1f} %" for name, values in one.runs.items() if values)


def measures_figure(rows: Sequence[MeasuredRuns]) -> go.Figure:
    """Every run of every variant as a dot and their means, one band a measure, its words above it."""
    figure = go.Figure()
    names = list(dict.fromkeys(name for row in rows for name in row.runs))
    lane = 0.6 / max(len(names), 1)
    for number, name in enumerate(names):
        places = [place + 0.5 + lane * (number + 0.5 - len(names) / 2) for place in range(len(rows))]
        values = [row.runs.get(name, ()) for row in rows]
        known = [(place, fmean(own)) for place, own in zip(places, values, strict=True) if own]
        color = _VARIANT_COLORS[number % len(_VARIANT_COLORS)]
        figure.add_trace(
            go.Scatter(
                x=[value for own in values for value in own],
                y=[place for place, own in zip(places, values, strict=True) for _ in own],
                mode="markers",
                name=escaped_label(name),
                marker={"size": 9, "color": color, "symbol": _VARIANT_SYMBOLS[number % len(_VARIANT_SYMBOLS)]},
                hovertemplate="%{x:.1f} %<extra></extra>",
            )
        )
        # A line, so that the runs on it are seen.
        figure.add_trace(
            go.Scatter(
                x=[value for _, value in known],
                y=[place for place, _ in known],
                mode="markers",
                marker={"size": 20, "symbol": "line-ns", "line": {"width": 3, "color": color}},
                hovertemplate="mean %{x:.1f} %<extra></extra>",
                showlegend=False,
            )
        )
        for place, value in known:
            figure.add_annotation(
                text=f"{value:.1f} %",
                x=1,
                xref="paper",
                xanchor="right",
                xshift=_MEAN_WIDTH,
                y=place,
                font={"size": 14, "weight": 600},
                showarrow=False,
            )
    for place, row in enumerate(rows):
        figure.add_annotation(
            text=escaped_label(row.label, 90),
            font={"size": 14},
            x=0,
            y=place + 0.02,
            xref="paper",
            xanchor="left",
            yanchor="middle",
            showarrow=False,
        )
    figure.update_layout(
        height=_HEAD_HEIGHT + 30 + (32 + 20 * len(names)) * len(rows),
        margin={"l": 10, "r": _MEAN_WIDTH + 4, "t": 36, "b": 30},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
        dragmode=False,
        xaxis={"range": [-2, 102], "ticksuffix": " %", "zeroline": False, "fixedrange": True},
        yaxis={"range": [len(rows), -0.3], "visible": False, "fixedrange": True},
    )
    return figure


_VARIANT_COLORS = (NEUTRAL, ACCENT, "#0f8a7d", "#b3541e")
_VARIANT_SYMBOLS = ("circle", "diamond", "square", "triangle-up")
_STORED_GAMES = "transcripts"
"""The source of a test whose runs are games that are stored already."""
_MEAN_WIDTH = 52
"""Pixels beside the picture in which the means stand."""
_ROW_HEIGHT = 48
_HEAD_HEIGHT = 48
_LABEL_WIDTH = 128
_SHIFT = 0.16


def difference_figure(rows: Sequence[Mapping[str, Any]], title: str, ends: tuple[str, str]) -> go.Figure:
    """Treatment minus control of every dimension with its 95 % interval, and the paper's difference as a diamond.

    Args:
        rows: Of one unit: marks of 9, or numbers of ideas.
        title: The unit, below the axis.
        ends: What lies left and what lies right of no difference, in a word each.
    """
    figure = go.Figure()
    known = [(place, row) for place, row in enumerate(rows) if row["difference"] is not None]
    figure.add_trace(
        go.Scatter(
            x=[row["difference"] for _, row in known],
            y=[place for place, _ in known],
            mode="markers",
            name="here, with 95 % interval",
            marker={"size": 11, "color": ACCENT},
            error_x=error_bars((row["difference"], row["difference_low"], row["difference_high"]) for _, row in known),
            text=[difference_words(row) for _, row in known],
            hovertemplate="%{text}<extra></extra>",
        )
    )
    theirs = [(place, row["published"]["difference"]) for place, row in enumerate(rows) if row["published"]]
    if theirs:
        figure.add_trace(
            go.Scatter(
                x=[value for _, value in theirs],
                y=[place + _SHIFT for place, _ in theirs],
                mode="markers",
                name="in the paper",
                marker={"size": 10, "symbol": "diamond-open", "color": NEUTRAL, "line": {"width": 2}},
                hovertemplate="paper: %{x:+.2f}<extra></extra>",
            )
        )
    # The sentence above says it once.
    is_all_alike = len({row_words(row) for row in rows}) == 1
    edges = [abs(row[end] or 0.0) for row in rows for end in ("difference", "difference_low", "difference_high")]
    most = 1.1 * max([1.0, *edges, *(abs(row["published"]["difference"]) for _, row in known if row["published"])])
    for anchor, shift, words in (("right", -8, f"◀ {ends[0]}"), ("left", 8, f"{ends[1]} ▶")):
        figure.add_annotation(
            text=words, x=0, y=1, yref="paper", xanchor=anchor, xshift=shift, yanchor="bottom", showarrow=False
        )
    figure.add_vline(x=0, line={"color": LIMIT, "dash": "dash", "width": 1})
    figure.update_layout(
        height=_HEAD_HEIGHT + 20 + _ROW_HEIGHT * len(rows),
        # As wide on the left in every figure, so that rows of two figures stand below each other.
        margin={"l": _LABEL_WIDTH, "r": 10, "t": 24, "b": 40},
        showlegend=False,
        xaxis={"title": {"text": title}, "zeroline": False, "fixedrange": True, "range": [-most, most]},
        yaxis={
            "tickvals": list(range(len(rows))),
            "ticktext": [row["label"] if is_all_alike else f"{row['label']}<br>{row_words(row)}" for row in rows],
            "range": [len(rows) - 0.5, -0.5],
            "tickfont": {"size": 14},
            "fixedrange": True,
        },
    )
    return figure


def difference_words(row: Mapping[str, Any]) -> str:
    """One row in words: "Fluency: +1.20, 95 % interval +0.40 to +2.00, higher; paper -0.52"."""
    if row["difference"] is None:
        return f"{row['label']}: cannot be compared"
    low, high = row["difference_low"], row["difference_high"]
    interval = f", 95 % interval {low:+z.2f} to {high:+z.2f}" if low is not None and high is not None else ""
    paper = f"; paper {row['published']['difference']:+z.2f}" if row["published"] else ""
    return f"{row['label']}: {row['difference']:+z.2f}{interval}, {row['outcome']}{paper}"


def difference_alt(rows: Sequence[Mapping[str, Any]]) -> str:
    """The figure in words."""
    return "Treatment minus control. " + ". ".join(difference_words(row) for row in rows) + "."
