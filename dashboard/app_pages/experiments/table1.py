"""Table 1 of the TinyTroupe paper beside what was run here, and recomputed from the paper's raw scores."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import streamlit as st

from dashboard.app_pages.experiments import data
from dashboard.app_pages.experiments.data import ShownRun
from dashboard.shared import resources, state
from dashboard.shared.notices import refusal_told
from dashboard.shared.status_table import open_row, status_table
from evaluation.experiments.table1 import CAVEAT, Table1Row, published_experiments, table1_cells


def table1(found: Sequence[ShownRun]) -> None:
    """The 19 published rows with the latest run of each scenario, and a place for the raw files."""
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
    place = st.expander("Show the numbers", key="table1_numbers")
    raw = _raw_rows()
    with place:
        status_table(table1_cells(raw), "Table 1 as published")
        st.caption("Mean and standard deviation of the scores, from 0 to 9; of ideas, their number.")
        if raw:
            as_published = sum(row.has_published_values for row in raw)
            st.caption(f"{as_published} of {len(raw)} rows of the raw files have the published values. {CAVEAT}")


def _open_form() -> None:
    st.session_state["experiments_view"], st.session_state["start"] = "Runs", True


def _raw_rows() -> list[Table1Row]:
    with st.expander("Recompute the paper's columns from its raw scores"):
        st.caption("Upload the four files of the experiments, as TinyTroupe's repository has them:")
        st.code("\n".join(each.file for each in published_experiments()), language=None)
        given = st.file_uploader("Raw files", ["json"], accept_multiple_files=True, key="raw_scores")
        if not given:
            return []
        files = [(each.name, each.getvalue()) for each in given]
        key = tuple((name, hashlib.sha256(content).hexdigest()) for name, content in files)
        with (
            refusal_told("The table cannot be recomputed from these files."),
            st.spinner("Recomputing", show_time=True),
        ):
            return resources.once(data.recomputed, key, files)
        return []
