"""The rows behind a score: those of one message, and all of a metric."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import state
from dashboard.components.chat_view import rows_by_message
from dashboard.components.messages import plain
from dashboard.components.status_table import status_table
from dashboard.formatting import counted, look, shortened
from dashboard.queries import OpenTranscript
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.score import LedgerRow, MetricResult, RowVerdict
from evaluation.transcript import Transcript


def message_rows(opened: OpenTranscript, message_id: str, metric: str) -> None:
    """Why a message got its verdict: reason, evidence and what it rests on, for each row that concerns it."""
    transcript = opened.transcript
    message = transcript.message(message_id)
    assert message is not None
    rows = rows_by_message(opened.results).get(message_id, {}).get(metric, [])
    st.subheader(f"{DEFINITIONS[metric].label}, message {message.index + 1}", anchor=False)
    if not rows:
        st.caption("This metric has nothing to say about this message.")
    for row in rows[:_MOST_ROWS]:
        with st.container(border=True):
            _row(row, message_id, transcript)
    if len(rows) > _MOST_ROWS:
        st.caption(f"{len(rows) - _MOST_ROWS} more concern this message; all stand in the ledger.")
    result = opened.results[metric]
    if result.notes:
        st.caption("About the whole game")
        plain("\n".join(result.notes))


def _row(row: LedgerRow, message_id: str, transcript: Transcript) -> None:
    appearance = look(row.verdict)
    with st.container(horizontal=True):
        st.badge(appearance.label, color=appearance.color)
        st.badge(f"decided by {_DECIDERS[str(row.method)]}", color="gray")
    plain(row.reason)
    if row.evidence:
        st.caption("Evidence")
        st.code("\n".join(_evidence_lines(row, message_id, transcript)), language=None, wrap_lines=True)
    referred = transcript.message(row.refers_to) if row.refers_to else None
    if referred is not None:
        st.caption(f"Rests on message {referred.index + 1}")
        plain(f"{referred.speaker}: {shortened(referred.text, 300)}")
        st.button(
            f"Go to message {referred.index + 1}",
            key=f"go_{referred.index}_{_place(row, transcript)}",
            on_click=jump,
            args=(transcript.id, referred.id),
        )
    elif row.refers_to:
        st.caption("Rests on")
        st.code(row.refers_to, language=None)


_DECIDERS = {"rule": "the rule", "judge": "a judge model", "human": "a person"}
_MOST_EVIDENCE = 12
_MOST_ROWS = 6
_METRIC = "rows_of"


def _place(row: LedgerRow, transcript: Transcript) -> str:
    message = transcript.message(row.message_id) if row.message_id else None
    spans = "_".join(f"{evidence.start}" for evidence in row.evidence[:3])
    return f"{message.index if message else 'none'}_{spans}"


def _evidence_lines(row: LedgerRow, message_id: str, transcript: Transcript) -> list[str]:
    own = [evidence for evidence in row.evidence if (evidence.message_id or row.message_id) == message_id]
    others = [evidence for evidence in row.evidence if evidence not in own]
    lines = [evidence.text for evidence in own]
    for evidence in others:
        message = transcript.message(evidence.message_id) if evidence.message_id else None
        lines.append(f"{evidence.text}" + (f"   (message {message.index + 1})" if message else ""))
    hidden = len(lines) - _MOST_EVIDENCE
    return lines[:_MOST_EVIDENCE] + ([f"and {hidden} more"] if hidden > 0 else [])


def jump(transcript_id: str, message_id: str, metric: str | None = None) -> None:
    """Makes the conversation show that message, with the reason for its verdict on ``metric``. A widget callback."""
    state.aim(transcript_id, message_id, metric)
    st.session_state[state.VIEW] = state.CONVERSATION


def show_ledger(metric: str) -> None:
    """Makes the page show all rows of a metric. A widget callback."""
    st.session_state[state.VIEW] = state.LEDGER
    st.session_state[_METRIC] = metric


def ledger_table(opened: OpenTranscript) -> None:
    """All rows of one metric, those that count and those that were left out."""
    metric = st.pills(
        "Metric",
        list(opened.results),
        default=next(iter(opened.results)),
        required=True,
        format_func=lambda name: DEFINITIONS[name].label,
        key=_METRIC,
        wrap=True,
        bind="query-params",
    )
    result = opened.results[metric]
    if result.reason:
        plain(result.reason)
    if result.notes:
        plain("\n".join(result.notes))
    if not result.ledger:
        st.info("This metric considered nothing in this game.")
        return
    st.caption(ledger_summary(result))
    frame = ledger_frame(result, opened.transcript)
    event = status_table(
        frame,
        f"Ledger of {result.definition.label}",
        on_select="rerun",
        selection_mode="single-row",
        key="ledger_table",
        height=min(38 + 35 * len(frame), 560),
        column_config={"Reason": st.column_config.TextColumn(width="large")},
    )
    chosen = result.ledger[event.selection.rows[0]] if event.selection.rows else None
    if chosen is not None:
        with st.container(border=True):
            _row(chosen, chosen.message_id or "", opened.transcript)
            if chosen.message_id:
                st.button(
                    "Show it in the conversation",
                    key="show_in_conversation",
                    on_click=jump,
                    args=(opened.transcript.id, chosen.message_id, metric),
                )


def ledger_summary(result: MetricResult) -> str:
    """How many rows count, do not count, and were left out."""
    number = {verdict: sum(row.verdict is verdict for row in result.ledger) for verdict in RowVerdict}
    left_out = "unverified" if result.name == "memory_accuracy" else "left out"
    return (
        f"{counted(len(result.ledger), 'row')}: {number[RowVerdict.COUNTS]} count, "
        f"{number[RowVerdict.DOES_NOT_COUNT]} do not, {number[RowVerdict.EXCLUDED]} {left_out}. "
        "Select one to see it whole."
    )


def ledger_frame(result: MetricResult, transcript: Transcript) -> pd.DataFrame:
    """The ledger as a table: ``Verdict``, ``Message`` (number from 1), ``Player``, ``About``, ``Adds``, ``Reason``."""
    return pd.DataFrame(
        [
            {
                "Verdict": look(row.verdict).label,
                "Message": message.index + 1 if (message := transcript.message(row.message_id or "")) else None,
                "Player": row.player or (message.speaker if message else ""),
                "About": row.kind,
                "Adds": f"{row.numerator:g} of {row.denominator:g}",
                "Reason": row.reason,
                "Evidence": shortened("; ".join(evidence.text for evidence in row.evidence), 120),
            }
            for row in result.ledger
        ]
    ).astype({"Message": "Int64"})
