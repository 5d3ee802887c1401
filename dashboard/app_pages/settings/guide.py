"""The guide: what this is, metrics and terms, the shapes of transcripts, and a check of the reader's own."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import streamlit as st

from dashboard import access_checks
from dashboard.app_pages.settings import explanations
from dashboard.shared import resources, state
from dashboard.shared.notices import plain, tell_beyond
from dashboard.shared.page_links import add_games_link
from dashboard.shared.status_table import status_table
from dashboard.shared.upload_questions import FORMATS, chosen_answers, chosen_columns
from evaluation.readers import ReadResult, read_uploads, understood
from evaluation.text.display import counted
from evaluation.workflows.validation import warnings_of

_LONGEST_PASTED = 200_000


def guide() -> None:
    """Draw the view of the guide that the address names."""
    view = state.choose_part(state.GUIDE_VIEWS, key=state.GUIDE_VIEW)
    if view == state.ABOUT:
        explanations.about()
    elif view == state.METRICS_TRUST:
        explanations.metrics()
    elif view == state.IN_CI:
        explanations.in_ci()
    elif view == state.TERMS:
        explanations.words()
    else:
        shapes()


def shapes() -> None:
    """The shapes that transcripts may have, and a check of a transcript that stores nothing."""
    limits = resources.read(resources.store().settings.limits)
    st.markdown(
        "Most transcripts are read as they are: check yours here, nothing is stored. To write one yourself, the "
        "simplest is a table with the columns speaker and text."
    )
    st.subheader("Check a transcript", anchor=False)
    pasted = st.text_area(
        "Paste a transcript",
        key="pasted",
        height=160,
        placeholder="Anna: I trust Ben.\nBen: Why would you?\n\nOr JSON, or a table with one row per message.",
    )
    with st.container(key="drop_zone"):
        files = st.file_uploader("Or drop files", accept_multiple_files=True, key="checked_files")
    if tell_beyond(pasted, _LONGEST_PASTED):
        st.caption("Save it as a file and drop that here.")
    elif pasted.strip() or files:
        given = [(file.name, file.getvalue()) for file in files]
        if pasted.strip():
            given.insert(0, ("what was pasted", pasted.encode("utf-8", "replace")))
        show_reports(list(read_uploads(given, limits, chosen_columns().get, answers=chosen_answers())))
    else:
        st.caption("Each problem is listed with its place and how to fix it.")

    st.subheader("Formats", anchor=False)
    table_shape()
    with st.expander("Native JSON"):
        native_shape()
    with st.expander("Other tools"):
        other_shapes()
    add_games_link("Add games")


EXAMPLES = Path(__file__).with_name("examples")
_MOST_SHOWN = 20


def example(name: str) -> str:
    """The text of an example that comes with Dramaturg."""
    return (EXAMPLES / name).read_text(encoding="utf-8")


def native_shape() -> None:
    """The native JSON: what each field is for, and an example to copy."""
    st.markdown(
        "One JSON file per game. `players` and `messages` are needed; everything else may be left out, and fields that "
        "are not listed are ignored."
    )
    alt = "The fields of the native JSON, what they hold and what they are for"
    status_table(list(csv.DictReader(StringIO(example("native_fields.csv")))), alt)
    _copyable(example("discussion.json"), "discussion.json", "json", "application/json")


def table_shape() -> None:
    """A table: one row per message."""
    st.markdown(
        "One row per message, as CSV, TSV, JSON Lines or Parquet. A column for the speaker and one for the text are "
        "needed. Columns are recognised by their names (`speaker`, `player`, `author`; `text`, `message`, `content`, "
        "...). If yours have other names, choose them when you upload the file, or use `--map speaker=COLUMN` on the "
        "command line. Several games in one table are told apart by a column such as `game_id`."
    )
    _copyable(example("messages.csv"), "messages.csv", None, "text/csv")


def _copyable(text: str, name: str, language: str | None, mime: str) -> None:
    st.code(text, language=language, wrap_lines=True)
    with st.container(horizontal=True):
        key = f"example_{mime.partition('/')[2]}"
        access_checks.download_button("example", f"Download {name}", text.encode, name, mime, key=key)


def other_shapes() -> None:
    """The other formats that are recognised."""
    known = (f"- **{kind}**: {formats}" for kind, formats in FORMATS.items())
    st.markdown("\n".join(("Recognised by their content:\n", *known)))
    st.markdown("Traces of observability tools, and files of agent frameworks:")
    alt = "Formats of traces and agent frameworks: their files, who speaks, and what a game is"
    status_table(explanations.trace_formats(), alt)


def show_reports(results: Sequence[ReadResult]) -> None:
    """Every problem of what was handed in, with its place and remedy; other people's text as it is."""
    refused = [result for result in results if result.error is not None]
    if refused:
        st.error(
            f"{counted(len(refused), 'game')} of {len(results)} would be refused. Nothing is stored here.",
            icon=":material/error:",
        )
    else:
        st.success(f"{counted(len(results), 'game')} can be uploaded as is.", icon=":material/check:")
    for result in (refused + [result for result in results if result.error is None])[:_MOST_SHOWN]:
        _report(result)
    if len(results) > _MOST_SHOWN:
        st.caption(f"The first {_MOST_SHOWN} of {counted(len(results), 'game')}; the Games page shows all.")


def _report(result: ReadResult) -> None:
    with st.container(border=True, gap="small"):
        plain(result.name)
        if (error := result.error) is not None:
            st.badge("✗ refused", color="red")
            if result.format:
                st.caption(f"Taken for: {result.format}")
            row = {"Where": error.place, "What is wrong": error.message, "What to do": error.remedy}
            plain("\n".join(f"{label}: {text}" for label, text in row.items() if text))
            return
        st.badge("✓ can be uploaded", color="green")
        if result.transcript is not None:
            st.caption(f"Recognised as {result.format}")
            plain(understood(result.transcript))
        for warning in warnings_of(result):
            st.caption(f":material/warning: {warning}")
