"""What no theme setting reaches."""

from __future__ import annotations

import streamlit as st

# Streamlit writes white on the primary colour. In the dark theme that is light, so that it can be read as text too.
# On a phone it leaves as much room above the title as below a toolbar that is not there.
_STYLE = """<style>
[data-testid="stBaseButton-primary"]:not(:disabled), [data-testid="stBaseButton-primaryFormSubmit"]:not(:disabled) {
    color: light-dark(#ffffff, #14131c);
}
@media (max-width: 768px) {
    [data-testid="stMainBlockContainer"] { padding-top: 4rem; }
}
/* It speaks to the rating desk and shows nothing. */
.st-key-desk_receipt { display: none; }
</style>"""


def page_style() -> None:
    """Adds the styles of every page; takes no room."""
    st.html(_STYLE)
