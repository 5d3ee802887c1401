"""Check what people type.

Inputs have no limit of their own: a browser drops what is pasted beyond it without a word.
"""

from __future__ import annotations

import streamlit as st

from dashboard.shared.identity import identity
from evaluation.errors import InputError

LONGEST_TEXT = 2_000
"""Characters of a reason, a note or a change in words."""


def beyond(text: str, longest: int) -> str:
    """The words for a text that is too long: "2,300 characters, at most 2,000."; empty for one that is not."""
    return f"{len(text):,} characters, at most {longest:,}." if len(text) > longest else ""


def tell_beyond(text: str, longest: int) -> bool:
    """Says below an input that its text is too long; whether it is."""
    fault = beyond(text, longest)
    if fault:
        st.markdown(f":red[:material/error: {fault}]")
    return bool(fault)


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


def take_name(key: str) -> None:
    """Takes the name that somebody gave with what they decide, for all that they do: it is asked once.

    Args:
        key: Of the input, which is not there once a name is known.

    Raises:
        InputError: It cannot be a name.
    """
    if given := str(st.session_state.get(key) or "").strip():
        identity.use_name(given)
