"""Import and export of ratings as CSV."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import access_checks
from dashboard.shared.identity import identity
from dashboard.shared.notices import plain
from dashboard.shared.status_table import status_table
from evaluation.access.roles import Action
from evaluation.errors import DramaturgError
from evaluation.rating_desk.sheet_format import COLUMNS
from evaluation.store import Store
from evaluation.text.display import counted
from evaluation.workflows.rating_sheets import SheetImport, export_ratings, import_ratings

LARGEST_MEGABYTES = 50
_DONE = "sheet_done"
_MOST_PROBLEMS = 200


def sheets(store: Store, rater: str) -> None:
    """Import and export of one's own ratings; of everybody's for leads."""
    is_lead = identity.allowed(Action.EDIT)
    _export(store, rater, is_lead)
    _import(store, rater, is_lead)


def _export(store: Store, rater: str, is_lead: bool) -> None:
    st.markdown(
        "CSV that a spreadsheet opens; nothing in it can run as a formula, and it can be imported again as it is."
    )
    with st.container(horizontal=True):
        # With a mark, so that spreadsheets take it for UTF-8.
        access_checks.download_button(
            "export_own",
            "My ratings",
            lambda: export_ratings(store, rater=rater).encode("utf-8-sig"),
            "my-ratings.csv",
            "text/csv",
            key="export_own",
        )
        if is_lead:
            access_checks.download_button(
                "export_all",
                "Everybody's ratings",
                lambda: export_ratings(store).encode("utf-8-sig"),
                "ratings.csv",
                "text/csv",
                key="export_all",
            )


def _import(store: Store, rater: str, is_lead: bool) -> None:
    st.subheader("Import a sheet", anchor=False)
    whose = "Rows without a rater become yours." if is_lead else "Only your own ratings are taken."
    st.markdown(
        f"For who rates in a spreadsheet. The first line names the columns; `score` and `game` (or `transcript_id`) "
        f"are enough, rows without a score are left out. {whose} A sheet with a mistake is not stored at all."
    )
    st.code(", ".join(COLUMNS), language=None)
    st.markdown(
        "Answers are yes, no or empty; for question 4 yes means that it flowed naturally. Leave `rated_at` empty in "
        "rows that you write yourself: the same sheet imported again then adds nothing, and a row that was changed "
        "since becomes a revision."
    )
    file = st.file_uploader("CSV file", type=["csv", "tsv", "txt"], max_upload_size=LARGEST_MEGABYTES, key="sheet")
    if message := st.session_state.pop(_DONE, None):
        st.success(message, icon=":material/check:")
    if file is None:
        return
    data = file.getvalue()
    try:
        found = import_ratings(store, data, rater=rater, is_own=not is_lead, is_dry=True)
    except DramaturgError as error:
        st.error("The sheet cannot be checked right now. Nothing was stored.")
        plain(str(error))
        return
    if found.problems:
        _problems(found)
        return
    st.info(_words(found))
    st.button(
        f"Store {counted(found.added, 'rating')}",
        type="primary",
        key="sheet_store",
        disabled=not found.added,
        on_click=_store,
        args=(store, data, rater, not is_lead),
    )


def _store(store: Store, data: bytes, rater: str, is_own: bool) -> None:
    try:
        identity.require(Action.RATE)
        done = import_ratings(store, data, rater=rater, is_own=is_own)
    except DramaturgError as error:
        st.toast(str(error))
        return
    if not done.problems:
        st.session_state[_DONE] = f"{counted(done.added, 'rating')} stored."


def _words(found: SheetImport) -> str:
    words = f"{counted(found.added, 'new rating')}"
    if found.known:
        words += f", {found.known} stored before"
    if found.blank:
        words += f", {counted(found.blank, 'row')} without a score"
    if found.flagged:
        words += f". {found.flagged} of them say yes four times or more, yet score below 3: look again"
    return f"{words}. Nothing is stored yet."


def _problems(found: SheetImport) -> None:
    count = len(found.problems)
    st.error(f"{counted(count, 'mistake')}: nothing of the sheet was stored.", icon=":material/error:")
    frame = pd.DataFrame(
        [
            {
                "Line": one.line,
                "Column": one.column,
                "Value": one.value,
                "Mistake": one.message,
                "What to do": one.remedy,
            }
            for one in found.problems[:_MOST_PROBLEMS]
        ]
    )
    status_table(frame, "Mistakes in the sheet")
    if count > _MOST_PROBLEMS:
        st.caption(f"The first {_MOST_PROBLEMS} of {count:,}.")
