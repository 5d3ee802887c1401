"""The Numbers tab of the Overview: every metric's difference, what limits it, its test, and the files."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.shared.comparison_tables import METRIC_LABELS, TEST_COLUMNS, difference_rows, limit_rows
from dashboard.shared.formatting import label_with_unit
from dashboard.shared.notices import plain
from dashboard.shared.status_table import csv_download, json_download, status_table
from evaluation.comparison.iterations import IterationComparison, comparison_data
from evaluation.statistics.comparison import Outcome
from evaluation.statistics.words import needs_many, stricter_words
from evaluation.text.display import cost_text, counted


def numbers(found: IterationComparison, *, with_files: bool) -> None:
    """Every metric's difference with its test, what limits it, the reasons of the rule, and the files."""
    labels = {one: label_with_unit(one, METRIC_LABELS) for one in found.comparison}
    rows = difference_rows(found.comparison, labels, found.names)
    for row, one in zip(rows, found.comparison.values(), strict=True):
        usd = found.more_usd(one) if one.outcome is Outcome.NO_EVIDENCE and not needs_many(one) else None
        row["Games needed"] = " ".join((str(row["Games needed"]), *([] if usd is None else [f"({cost_text(usd)})"])))
    differences = pd.DataFrame(rows)
    status_table(differences.drop(columns=[*TEST_COLUMNS]), "Every metric's difference with its interval and verdict")
    pairs = f" {counted(len(found.pairs), 'pair')} with the same scenario or seed." if found.pairs else ""
    st.caption(f"Games needed: on each side, and the cost of those that are missing.{pairs}")
    with st.expander("What limits the scores, the tests, the rule's reasons", key="numbers_tests"):
        if limits := limit_rows(found):
            status_table(limits, "What limits each metric's scores, and what they rest on")
            st.caption(
                "Counted: what a score rests on, of what was looked at. Ahead: games that are better than scrambled "
                "copies of themselves beyond luck."
            )
        tests = differences[["Metric", *TEST_COLUMNS]]
        status_table(tests.loc[:, (tests != "").any()], "Every metric's test")
        st.caption(
            "Welch's test at 5 %: the named target is tested alone, the others "
            "together (Holm). Each interval is at the level of the test that decided its metric: it excludes 0 where "
            "the verdict is beyond luck, and holds 0 where it could be luck. Any other verdict concludes nothing, "
            "whatever the interval. "
            f"{stricter_words('The target')}"
        )
        plain("\n".join(filter(None, (f"A further game costs {found.price_words}.", found.other_pair))))
        if found.decision_words:
            status_table([{"Reasons of the rule": words} for words in found.decision_words], "The reasons of the rule")
    if with_files:
        with st.container(horizontal=True):
            csv_download("Download the table (CSV)", lambda: differences, "comparison.csv")
            json_download("Download everything (JSON)", lambda: comparison_data(found), "comparison.json")
