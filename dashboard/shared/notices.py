"""Messages for empty pages and errors, and untrusted text as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

from evaluation.errors import DramaturgError, InfrastructureError, StoreBusyError, StoreReadOnlyError

# What helps in a terminal alone: a command beside a way on the pages, or a sentence of its own.
_COMMAND = re.compile(r",? or dramaturg [^.;)]*|(?:^|(?<=[.;,])) ?[^.;,]*\bdramaturg [a-z][^.;]*[.;]?")
# How Python writes a character that cannot be shown.
_ESCAPED = re.compile(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")
_MARK = Path(__file__).parents[1] / "static" / "icon.svg"


def empty_state(title: str, text: str) -> None:
    """The head of an empty page; the button that does something about it follows. The arguments are our own words."""
    with st.container(horizontal_alignment="center", gap="small"):
        st.space("small")
        st.image(str(_MARK), width=64, alt="")
        st.subheader(title, anchor=False, text_alignment="center")
        st.markdown(text, text_alignment="center")


def show_error(error: DramaturgError) -> None:
    """An error with its place and remedy, as inert text, and a way to try again. Nothing stored is lost by it."""
    if isinstance(error, StoreBusyError):
        st.error("The database is in use by another program. Nothing is lost.", icon=":material/lock:")
    elif isinstance(error, StoreReadOnlyError):
        st.error("Nothing was changed: what is shown here may only be read.", icon=":material/lock:")
    elif isinstance(error, InfrastructureError):
        st.error("The database cannot be used. Nothing in it was changed.", icon=":material/database_off:")
    else:
        st.error("That cannot be shown. Nothing is lost.", icon=":material/error:")
    plain(words_of(error))
    st.button("Try again", icon=":material/refresh:", key="try_again")


@contextmanager
def refusal_told(head: str, icon: str | None = None) -> Iterator[None]:
    """Shows the error of what is inside below ``head``, our own words; the rest of what is inside is left out then."""
    try:
        yield
    except DramaturgError as error:
        st.error(head, icon=icon)
        plain(words_of(error))


def words_of(error: DramaturgError) -> str:
    """The words of an error on a page: without the commands of a terminal, and without escapes of characters."""
    remedy = _COMMAND.sub("", error.remedy).strip().rstrip(";,")
    here = DramaturgError(error.message, place=error.place, remedy=remedy and remedy.rstrip(".") + ".")
    return _ESCAPED.sub("\N{REPLACEMENT CHARACTER}", str(here))


def plain(text: str) -> None:
    """Untrusted text: shown as it is, wrapped, never read as Markdown or HTML."""
    st.text(text, width="stretch")
