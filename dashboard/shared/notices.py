"""Messages for empty pages, errors and texts that are too long, and untrusted text as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

from evaluation.errors import DramaturgError, InfrastructureError, InputError, StoreBusyError

# What helps in a terminal alone: a command beside a way on the pages, or a sentence of its own.
_COMMAND = re.compile(
    r",? or dramaturg (?:[^.;)]|\.(?=\S))*|(?:^|(?<=[.;,])) ?[^.;,]*\bdramaturg [a-z](?:[^.;]|\.(?=\S))*[.;]?"
)
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


LONGEST_TEXT = 2_000
"""Characters of a reason, a note or a change in words."""


def beyond(text: str, longest: int) -> str:
    """The words for a text that is too long: "2,300 characters, at most 2,000."; empty for one that is not."""
    return f"{len(text):,} characters, at most {longest:,}." if len(text) > longest else ""


def tell_beyond(text: str, longest: int, key: str) -> bool:
    """Says below the input ``key`` that its text is too long; whether it is."""
    fault = beyond(text, longest)
    if fault:
        tell_fault(fault, key)
    return bool(fault)


def tell_fault(words: str, key: str) -> None:
    """Says below the input ``key`` what is wrong with it; ``words`` may hold what was typed."""
    with st.container(key=f"fault_{key}"):
        plain(f"✗ {words}")


def require_length(text: str, longest: int, place: str) -> str:
    """The text, where it is not too long; for what is stored from a form, which keeps what was typed.

    Args:
        text: What was typed.
        longest: In characters.
        place: The label of the input.

    Raises:
        InputError: It is too long.
    """
    if fault := beyond(text, longest):
        raise InputError(fault, place=place, remedy="Shorten it; it is still in the form.")
    return text
