"""The guide: what this is, metrics and terms with examples, transcript formats, and a check of a transcript."""

import streamlit as st

from dashboard.app_pages.settings import explanations
from dashboard.app_pages.settings import shapes as parts
from dashboard.shared import queries, resources, state
from dashboard.shared.column_mapping import chosen_columns
from dashboard.shared.open_questions import chosen_answers
from dashboard.shared.page_links import add_games_link
from dashboard.shared.typed_text import tell_beyond

ABOUT, METRICS, TERMS, SHAPES = "What this is", state.METRICS_TRUST, "Terms", state.FORMATS
_LONGEST_PASTED = 200_000


def guide() -> None:
    """Draw the view of the guide that the address names."""
    view = state.choose_part([ABOUT, METRICS, SHAPES, TERMS], key=state.GUIDE_VIEW)
    if view == ABOUT:
        explanations.about()
    elif view == METRICS:
        explanations.metrics()
    elif view == TERMS:
        explanations.words()
    else:
        shapes()


def shapes() -> None:
    """The shapes that transcripts may have, and a check of a transcript that stores nothing."""
    limits = resources.read(queries.import_limits)
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
    files = st.file_uploader("Or drop files", accept_multiple_files=True, key="checked_files")
    if tell_beyond(pasted, _LONGEST_PASTED):
        st.caption("Save it as a file and drop that here.")
    elif pasted.strip() or files:
        given = [(file.name, file.getvalue()) for file in files]
        if pasted.strip():
            given.insert(0, ("what was pasted", pasted.encode("utf-8", "replace")))
        parts.show_reports(parts.checked(given, limits, chosen_columns(), chosen_answers()))
    else:
        st.caption("Each problem is listed with its place and how to fix it.")

    st.subheader("Formats", anchor=False)
    table, native, others = st.tabs(["A table", "Native JSON", "Other tools"])
    with table:
        parts.table_shape()
    with native:
        parts.native_shape()
    with others:
        parts.other_shapes()
    add_games_link("Upload games")
