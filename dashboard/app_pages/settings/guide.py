"""The guide: what this is, metrics and terms, and the shapes of transcripts."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path

import streamlit as st

from dashboard import access_checks
from dashboard.app_pages.settings import explanations
from dashboard.shared import state
from dashboard.shared.page_links import add_games_link
from dashboard.shared.status_table import status_table
from dashboard.shared.upload_questions import FORMATS


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
    """The shapes that transcripts may have; where games are added, each is checked before it is stored."""
    st.markdown("Most transcripts are read as they are. To write one yourself, the simplest is a table.")
    add_games_link("Check yours: nothing is stored before you say so")
    st.subheader("A table", anchor=False)
    table_shape()
    st.subheader("Other tools", anchor=False)
    other_shapes()
    with st.expander("Native JSON"):
        native_shape()


EXAMPLES = Path(__file__).with_name("examples")


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
