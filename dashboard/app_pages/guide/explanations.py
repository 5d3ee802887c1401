"""The Guide's metrics and terms: what they mean, today's thresholds, and examples from a sample game."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.app_pages.guide.explained import ExampleRow, ExplainedMetric, explained_metrics, terms
from dashboard.shared import queries, resources
from dashboard.shared.example_row import transcript_link
from dashboard.shared.formatting import threshold_text
from dashboard.shared.notices import plain
from evaluation.text.display import shortened

_LONGEST_QUOTE = 240


def metrics() -> None:
    """Each metric with its threshold, what it measures, and two rows of a sample game."""
    thresholds = resources.read(queries.thresholds)
    stored = set(resources.store().transcripts.ids())
    st.caption("The examples are rows of the first sample game. Thresholds are today's; Settings changes them.")
    for one in explained_metrics():
        with st.container(border=True):
            st.subheader(one.definition.label, anchor=False)
            st.caption(threshold_text(thresholds[one.definition.name], one.definition.scale))
            plain(one.text)
            _examples(one, stored)


def _examples(one: ExplainedMetric, stored: set[str]) -> None:
    if not one.examples:
        st.caption("People rate it; no message has a row of its own.")
    for example in one.examples:
        with st.container(gap="xsmall"):
            st.badge("✓ counts" if example.counts else "✗ does not count", color="green" if example.counts else "red")
            plain(_quote(example))
            if example.transcript_id in stored and example.message_id:
                link = {"transcript": example.transcript_id, "message": example.message_id}
                transcript_link("Open the message", **link, metric=one.definition.name)


def _quote(example: ExampleRow) -> str:
    quote = f"{example.player}: {shortened(example.text, _LONGEST_QUOTE)}" if example.text else example.player
    return f"{quote}\n{example.reason}".strip()


def words() -> None:
    """The glossary."""
    wanted = st.text_input("Find a word", key="find_word").casefold().strip()
    found = [(word, meaning) for word, meaning in terms() if wanted in f"{word} {meaning}".casefold()]
    if not found:
        st.info("No term holds that.")
        return
    frame = pd.DataFrame(found, columns=["Word", "Meaning"])
    st.dataframe(
        frame,
        hide_index=True,
        height="content",
        alt="Words that Dramaturg uses, with their meaning",
        column_config={"Word": st.column_config.TextColumn(width="small")},
    )
