"""The sections of the Compare page for two evaluation runs."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from dashboard.shared import personas, resources
from dashboard.shared.charts.comparison_charts import dimension_alt, dimension_figure
from dashboard.shared.charts.drawing import draw_chart
from dashboard.shared.comparison_tables import DIMENSION_LABELS, SYMBOLS, difference_frame, export_frame
from dashboard.shared.downloads import csv_download, json_download
from dashboard.shared.example_row import transcript_link
from dashboard.shared.notices import empty_state, plain
from dashboard.shared.status_table import status_table
from evaluation.comparison.runs import Run, RunComparison, RunMover, run_comparison_data
from evaluation.judging.propositions import ENVIRONMENT_DIMENSIONS, Dimension
from evaluation.statistics.comparison import Difference
from evaluation.statistics.words import difference_sentences
from evaluation.store import Store
from evaluation.text.display import counted, listed, shortened
from evaluation.workflows.iterations import stored_run_comparison

_LONGEST = 300
_NO_SCORES = "– → –"


def completed_runs(store: Store) -> list[Run]:
    """All completed runs, the oldest first."""
    runs = store.evaluations.runs()
    return [Run.of(row) for row in runs[runs["status"] == "completed"].to_dict("records")]


def compare_runs() -> None:
    """Two runs side by side, chosen by the URL; the last two of one agent at first."""
    runs = resources.read(completed_runs)
    if len(runs) < 2:
        empty_state(
            "Two completed evaluation runs are needed",
            "A run holds one agent against its propositions. Run again after a change of the persona, the prompt or "
            "the judge, and see here what it did.",
        )
        with st.container(horizontal=True, horizontal_alignment="center"):
            st.page_link("app_pages/agents/page.py", label="Evaluate agents", icon=":material/theater_comedy:")
        return
    before, after = _pick(runs)
    if before == after:
        st.info("Both sides are the same run. Choose another one to compare with.", icon=":material/info:")
        return
    found = resources.read(stored_run_comparison, before, after)
    plain(_sentence(found))
    _sides(found)
    if not any(one.before.n and one.after.n for one in found.comparison.differences):
        st.info(
            "Nothing to compare game by game: choose two runs of an agent that speaks in at least two games.",
            icon=":material/info:",
        )
        return
    _differences(found)
    _one_dimension(found)
    _movers(found)
    _export(found)


def _sentence(found: RunComparison) -> str:
    """Every dimension's score in both runs, in a sentence: untrusted text, as it names the agent."""
    told = [
        f"{DIMENSION_LABELS[one.name]} {words}"
        for one in found.comparison.differences
        if (words := _run_scores(found, one.name)) != _NO_SCORES
    ]
    return f"{shortened(found.after.agent, 60)}: {listed(told) if told else 'no score in either run'}."


def _pick(runs: list[Run]) -> tuple[str, str]:
    ids = [run.id for run in runs]
    names = {run.id: _label(number, run) for number, run in enumerate(runs, start=1)}
    # Of a channel no dimension is compared game by game, so an agent's runs come first.
    last = max(range(len(runs)), key=lambda place: (not ENVIRONMENT_DIMENSIONS.issuperset(runs[place].scores), place))
    earlier = [place for place, run in enumerate(runs[:last]) if run.agent == runs[last].agent]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        before, after = (
            st.selectbox(
                label,
                ids,
                index=place,
                format_func=names.__getitem__,
                key=key,
                bind="query-params",
                filter_mode="contains",
            )
            for label, key, place in (
                ("Before", "run_before", earlier[-1] if earlier else (last or 1) - 1),
                ("After", "run_after", last),
            )
        )
    return before, after


def _label(number: int, run: Run) -> str:
    return f"{shortened(run.agent, 40)}, run {number}, {run.created_at:%Y-%m-%d %H:%M}, {shortened(run.judge, 40)}"


def _sides(found: RunComparison) -> None:
    plain(
        "\n".join(
            f"{word}: {run.agent}, {counted(run.sample_size, 'message')} judged one by one, {run.judge or 'no judge'}"
            for word, run in (("Before", found.before), ("After", found.after))
        )
    )
    if found.before.judge != found.after.judge:
        st.warning(
            "Two judges: a difference may be theirs and not the agent's. Compare runs of one judge.",
            icon=":material/balance:",
        )
    if found.before.agent != found.after.agent:
        st.info("These are two agents.", icon=":material/info:")


def _differences(found: RunComparison) -> None:
    st.subheader("Every dimension", anchor=False)
    frame = difference_frame(found.comparison, DIMENSION_LABELS, "Dimension")
    scores = [_run_scores(found, one.name) for one in found.comparison.differences]
    frame.insert(2, "Scores of the runs", scores)
    status_table(frame, "Every dimension's difference with its interval and what it shows")
    st.caption(
        "From 0 to 9; ideas are counted. Means, intervals and tests are over games, each with one value; the scores of "
        "the runs are over all messages together. What is judged over all that an agent said has no value for a game."
    )


def _run_scores(found: RunComparison, name: str) -> str:
    parts = [personas.score_text(_score(run, name), Dimension(name)) for run in (found.before, found.after)]
    return " → ".join(parts)


def _score(run: Run, name: str) -> float | None:
    return {str(dimension): score for dimension, score in run.scores.items()}.get(name)


def _one_dimension(found: RunComparison) -> None:
    known = {one.name: one for one in found.comparison.differences if one.before.n and one.after.n}
    if not known:
        return
    st.subheader("One dimension, game by game", anchor=False)
    name = st.segmented_control(
        "Dimension",
        list(known),
        default=next(iter(known)),
        required=True,
        format_func=DIMENSION_LABELS.__getitem__,
        key="dimension_shown",
        bind="query-params",
        label_visibility="collapsed",
    )
    _dimension(known[name], DIMENSION_LABELS)


def _dimension(one: Difference, labels: Mapping[str, str]) -> None:
    draw_chart(
        dimension_figure(one),
        key="run_distribution",
        config={"displayModeBar": False},
        alt=dimension_alt(one, labels[one.name]),
    )
    st.caption("Dots are games, diamonds means with their 95 % intervals.")
    plain("\n".join([f"{labels[one.name]}: {SYMBOLS[one.outcome]}", *difference_sentences(one)]))


def _movers(found: RunComparison) -> None:
    st.subheader("What moved most", anchor=False)
    if not found.movers:
        st.caption("No proposition that both runs asked moved.")
    for one in found.movers:
        with st.container(border=True, gap="small"):
            _mover(one)


def _mover(one: RunMover) -> None:
    better = one.change > 0
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(DIMENSION_LABELS[str(one.dimension)], color="gray")
        st.badge(f"{'✓' if better else '✗'} {one.change:+z.1f}", color="green" if better else "red")
        st.caption(f"{one.before:.1f} before, {one.after:.1f} after")
    plain(shortened(one.claim, _LONGEST))
    for example in one.examples:
        with st.container(gap=None):
            plain(f"{example.before:.0f} before, {example.after:.0f} after: {shortened(example.reason, _LONGEST)}")
            transcript_link("Open the message", transcript=example.transcript_id, message=example.message_id)


def _export(found: RunComparison) -> None:
    with st.container(horizontal=True):
        csv_download(
            "Download the table (CSV)",
            lambda: export_frame(found.comparison, found.before.id, found.after.id),
            "runs.csv",
        )
        json_download("Download everything (JSON)", lambda: run_comparison_data(found), "runs.json")
