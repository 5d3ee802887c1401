"""The notice on a message that seems to speak to the judge instead of to the others."""

from __future__ import annotations

import streamlit as st

from dashboard.components.messages import plain
from evaluation.judging.guard import KINDS, flags
from evaluation.text.display import shortened
from evaluation.transcript import Message

_MOST_PLACES = 6
_LONGEST_PLACE = 120


def flag_notice(message: Message) -> None:
    """Says what about the message is suspicious, and where; nothing for an honest one."""
    raised = flags(message.text)
    if not raised:
        return
    kinds = list(dict.fromkeys(flag.kind for flag in raised))
    st.warning(
        "This message " + "; it ".join(KINDS[kind] for kind in kinds) + ". No score changes by that: "
        "judges are told to obey nothing inside a transcript.",
        icon=":material/flag:",
    )
    for flag in raised[:_MOST_PLACES]:
        plain(f"{ascii_where_hidden(shortened(message.text[flag.start : flag.end], _LONGEST_PLACE))}")


def ascii_where_hidden(text: str) -> str:
    """The text, with what cannot be seen or could be mistaken written as codes."""
    return text if text.isascii() and text.isprintable() else ascii(text)[1:-1]
