"""Ratings as a table: their files, and the import of a sheet that somebody filled in."""

from __future__ import annotations

import json
from dataclasses import astuple
from functools import partial

import streamlit as st

from dashboard import access_checks
from dashboard.shared import state
from dashboard.shared.identity import identity
from dashboard.shared.notices import plain, refusal_told
from dashboard.shared.status_table import status_table
from evaluation.access import Action
from evaluation.rating_desk.sheet_format import COLUMNS
from evaluation.store import Store
from evaluation.text.display import counted
from evaluation.workflows.ratings import SheetImport, export_ratings, import_ratings, rating_rows

LARGEST_MEGABYTES = 50
_SHEETS_DONE = "sheet_done"
_MOST_PROBLEMS = 200


def rating_sheets(store: Store, rater: str) -> None:
    """A box with import and export of one's own ratings; of everybody's for leads. Closed, it reads nothing.

    Args:
        store: Where they are.
        rater: Who looks; empty for a lead who gave no name.
    """
    with state.linked_box("Ratings as a table: download, upload", "sheets") as is_open:
        if is_open:
            is_lead = identity.allowed(Action.EDIT)
            _export(store, rater, is_lead)
            _import(store, rater, is_lead)


def _export(store: Store, rater: str, is_lead: bool) -> None:
    st.markdown(
        "CSV that a spreadsheet opens; nothing in it can run as a formula, and it can be imported again as it is."
    )
    hidden = identity.hidden_games(store, rater, store.ratings.rater_counts()) if is_lead else frozenset()

    def csv(whose: str | None) -> bytes:
        # With a mark, so that spreadsheets take it for UTF-8.
        return export_ratings(store, rater=whose, hidden=() if whose else hidden).encode("utf-8-sig")

    def json_text() -> bytes:
        return json.dumps(rating_rows(store, hidden=hidden), ensure_ascii=False, indent=2).encode("utf-8")

    everybodys = (("CSV", partial(csv, None), "text/csv"), ("JSON", json_text, "application/json"))
    with st.container(horizontal=True):
        if rater:
            own = partial(csv, rater)
            access_checks.download_button(
                "export_own", "My ratings", own, "my-ratings.csv", "text/csv", key="export_own"
            )
        for kind, make, mime in everybodys if is_lead else ():
            name = f"ratings.{kind.lower()}"
            access_checks.download_button("export_all", f"All ratings ({kind})", make, name, mime, key=f"export_{kind}")
    if hidden:
        st.caption(f"What others gave {counted(len(hidden), 'game')} that you have not rated yet is left out.")


def _import(store: Store, rater: str, is_lead: bool) -> None:
    st.subheader("Import a sheet", anchor=False)
    enough = "`score` and `game` (or `transcript_id`)" if rater else "`rater`, `score` and `game` (or `transcript_id`)"
    whose = (" Rows without a rater become yours." if is_lead else " Only your own ratings are taken.") if rater else ""
    st.markdown(
        f"To rate in a spreadsheet: the first line names the columns; {enough} are enough, rows without a score are "
        f"left out.{whose} If any row has a mistake, nothing is stored."
    )
    st.code(", ".join(COLUMNS), language=None)
    st.markdown(
        "Answers are yes, no or empty; for question 4 yes means that it flowed naturally. Leave `rated_at` empty in "
        "rows that you write yourself: the same sheet imported again then adds nothing, and a row that was changed "
        "since becomes a revision."
    )
    file = st.file_uploader("CSV file", type=["csv", "tsv", "txt"], max_upload_size=LARGEST_MEGABYTES, key="sheet")
    if message := st.session_state.pop(_SHEETS_DONE, None):
        st.success(message, icon=":material/check:")
    if file is None:
        return
    data = file.getvalue()
    with refusal_told("The sheet cannot be checked right now. Nothing was stored."):
        found = import_ratings(store, data, rater=rater or None, is_own=not is_lead, is_dry=True)
        if found.problems:
            _problems(found)
            return
        st.info(_words(found))
        if found.added:
            plain("\n".join(f"{whose}: {counted(count, 'new rating')}" for whose, count in found.by_rater.items()))
            label, args = f"Store {counted(found.added, 'rating')}", (store, data, rater, not is_lead)
            st.button(label, type="primary", key="sheet_store", on_click=_store, args=args)


def _store(store: Store, data: bytes, rater: str, is_own: bool) -> None:
    with identity.permitted(Action.RATE):
        done = import_ratings(store, data, rater=rater or None, is_own=is_own)
        if not done.problems:
            st.session_state[_SHEETS_DONE] = f"{counted(done.added, 'rating')} stored."


def _words(found: SheetImport) -> str:
    if not found.added:
        return f"Nothing new: all {counted(found.known, 'rating')} of this sheet are stored."
    words = f"{counted(found.added, 'new rating')}"
    if found.known:
        words += f", {found.known} stored before"
    if found.blank:
        words += f", {counted(found.blank, 'row')} without a score"
    if found.flagged:
        words += f". {found.flagged} of them have answers that do not fit the score: look again"
    return f"{words}. Nothing is stored yet."


def _problems(found: SheetImport) -> None:
    count = len(found.problems)
    st.error(f"{counted(count, 'mistake')}: nothing of the sheet was stored.", icon=":material/error:")
    heads = ("Line", "Column", "Value", "Mistake", "What to do")
    rows = [dict(zip(heads, astuple(one), strict=True)) for one in found.problems[:_MOST_PROBLEMS]]
    status_table(rows, "Mistakes in the sheet")
    if count > _MOST_PROBLEMS:
        st.caption(f"The first {_MOST_PROBLEMS} of {count:,}.")
