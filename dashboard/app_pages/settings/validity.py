"""Planted faults, and the scores of the metrics that should notice them."""

from typing import Any

import pandas as pd
import streamlit as st

from dashboard.shared import queries, resources
from dashboard.shared.changes.actions import attempt
from dashboard.shared.jobs import jobs
from dashboard.shared.status_table import status_table
from evaluation.access import Action
from evaluation.rubric.control_words import COMPANION_LABELS
from evaluation.store import Store
from evaluation.text.display import counted


def validity() -> None:
    """The numbers behind "Can you trust it?" on the stored games, folded, with a button that measures them on all."""
    if not resources.read(queries.transcript_ids):
        return
    store = resources.store()
    report = resources.read(queries.validity_report)
    with st.expander("Show the numbers"):
        if report is None:
            st.caption("These figures are measured in the background once games are stored.")
        else:
            faults(report)
            moved(report)
        with st.container(horizontal=True):
            start_button(store)
            compare_button(store)


def start_button(store: Store) -> None:
    """Start the measurement on all stored games, in the background."""
    st.button(
        "Measure on all games",
        key="measure_validity",
        icon=":material/science:",
        disabled=jobs.running(store, jobs.VALIDITY) is not None,
        on_click=_measure,
        args=(store,),
    )


def _measure(store: Store) -> None:
    attempt(lambda: jobs.start_validity(store), "Planting faults.", Action.EVALUATE)


def _compare_with_chance(store: Store) -> None:
    attempt(lambda: jobs.start_controls(store), "Comparing scores with those of scrambled copies.", Action.EVALUATE)


def compare_button(store: Store) -> None:
    """Scores stored by an older version were never compared with chance; what is imported now is by itself."""
    missing = resources.read(queries.uncompared_games)
    if missing:
        st.button(
            f"Compare {counted(missing, 'game')} with scrambled copies",
            key="compare_with_chance",
            icon=":material/casino:",
            disabled=jobs.running(store, jobs.CONTROLS) is not None,
            on_click=_compare_with_chance,
            args=(store,),
        )


def faults(report: dict[str, Any]) -> None:
    """Share of comparisons in which a game's measure lies above that of its copies with a fault."""
    if not report["faults"]:
        st.caption("No game has 12 public messages or more, which a fault needs to show.")
        return
    st.caption(
        f"{counted(report['games'], 'game')}, each with {report['draws']} copies for every fault. Noticed: the share "
        "of copies that score below the game, ties half. 0.50 is chance, 1.00 is always. Intervals: 95 %, over games."
    )
    status_table(pd.DataFrame([fault_row(row) for row in report["faults"]]), "What each metric notices of its fault")


def fault_row(row: dict[str, Any]) -> dict[str, Any]:
    """One line of the table of faults, in words."""
    is_known = row["low"] is not None
    return {
        "Metric": row["label"],
        "Measure": COMPANION_LABELS.get(row["measure"], "the rubric's score"),
        "Fault": row["fault"],
        "Noticed": round(row["auc"], 2),
        "Interval": f"{row['low']:.2f} to {row['high']:.2f}" if is_known else "none, all values equal",
        "Games": row["games"],
        "In words": verdict(row["auc"], row["low"], row["high"]),
    }


def verdict(noticed: float, low: float | None, high: float | None) -> str:
    """The meaning of a share of noticed faults."""
    if low is None or high is None:
        return "too few games to tell" if noticed < 1 else "noticed every time"
    if low > 0.5:
        return "notices the fault"
    return "prefers the fault" if high < 0.5 else "cannot be told from chance"


def moved(report: dict[str, Any]) -> None:
    """Scores that changes moved which mean nothing."""
    st.subheader("Changes that must not matter", anchor=False)
    if not report["breaks"]:
        st.caption("Renaming all players, leaving out empty reply fields and adding private chat moved no score.")
        return
    st.caption(f"{counted(len(report['breaks']), 'score')} moved that should not have.")
    status_table(pd.DataFrame(report["breaks"]), "Scores that a meaningless change moved")
