"""Why messages fail: the reasons of an iteration as a picture, and all messages of one reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd
import streamlit as st

from dashboard import access_checks
from dashboard.app_pages.verdicts.failure_atlas_data import (
    FailureAtlas,
    count_words,
    failure_atlas,
    find_reason,
    rare_count,
    reason_key,
    trend_words,
)
from dashboard.shared import resources, state
from dashboard.shared.marks.pictures import define_picture, remember_click, remember_target
from dashboard.shared.marks.targets import MarkTarget
from dashboard.shared.notices import plain
from dashboard.shared.queries import iteration_sizes
from dashboard.shared.status_table import status_table
from evaluation.comparison import Example, FailureReason, IterationFailures
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.text.display import counted, shortened
from evaluation.workflows.comparisons import stored_failing_messages, stored_failure_reasons

_REASON = "reason"
_LAST_ITERATION = "reasons_last_of"
_KEY = "failure_atlas"
_MOST_ROWS = 500
_LONGEST = 300
_picture = define_picture("dramaturg_failure_atlas", Path(__file__).parent, "failure_atlas")


def why_messages_fail() -> None:
    """Draw the reasons of the chosen iteration, or the messages of the chosen reason."""
    sizes = resources.read(iteration_sizes)
    names = [name for name in reversed(sizes) if sizes[name]]
    if not names:
        st.info("No game is in an iteration yet. Games of one prompt version make an iteration.")
        st.page_link("app_pages/overview/page.py", label="Put games into an iteration", icon=":material/arrow_forward:")
        return
    last = st.session_state.get(_LAST_ITERATION)
    place = names.index(last) if last in names else 0
    name = st.selectbox("Games of", names, place, key=state.REASONS_OF, bind="query-params", filter_mode="contains")
    st.session_state[_LAST_ITERATION] = name
    found = resources.share(stored_failure_reasons, name)
    chosen = state.chosen(_REASON)
    reason = find_reason(found, chosen) if chosen else None
    if reason is not None:
        _messages(found, reason)
    elif found.metrics:
        _reasons(found)
    else:
        st.success("No judged message loses points in these games.")


def _reasons(found: IterationFailures) -> None:
    trend = "The trend is since its reference." if found.reference else "It has no reference, so there is no trend."
    st.caption(f"{counted(found.games, 'game')}. {trend}")
    rare = rare_count(found)
    with_rare = bool(rare) and st.toggle(f"Also {counted(rare, 'rare reason')}", key="rare", bind="query-params")
    atlas = failure_atlas(found, with_rare=with_rare)
    _picture(key=_KEY, data=dict(atlas.data), on_open_change=access_checks.event("atlas_open", _react(atlas)))


def _react(atlas: FailureAtlas) -> Callable[[], None]:
    """A callback: an example opens its message, a reason the list of all of its messages."""
    remember = remember_click(_KEY, atlas.targets)

    def react() -> None:
        remember()
        row = read_reason(state.sent(_KEY, "open"), len(atlas.reasons))
        if row is not None:
            state.choose(**{_REASON: reason_key(atlas.reasons[row])})

    return react


def read_reason(value: object, reasons: int) -> int | None:
    """The row of the reason that a message of the browser names; ``None`` for anything else."""
    if not isinstance(value, Mapping) or value.get("kind") != "reason":
        return None
    row = value.get("row")
    return row if isinstance(row, int) and not isinstance(row, bool) and 0 <= row < reasons else None


def _messages(found: IterationFailures, reason: FailureReason) -> None:
    st.button("All reasons", icon=":material/arrow_back:", key="all_reasons", on_click=_leave)
    st.subheader(DEFINITIONS[reason.metric].label, anchor=False)
    plain(reason.label)
    trend, color = trend_words(reason)
    with st.container(horizontal=True, vertical_alignment="center"):
        if trend:
            st.badge(trend, color=color)
        st.caption(f"{count_words(reason)}. Select a row to open it.")
    rows = resources.share(stored_failing_messages, found.iteration, reason.metric, reason.label)[:_MOST_ROWS]
    if reason.count > len(rows):
        st.caption(f"The first {len(rows)} are shown.")
    key = f"failing_{reason_key(reason)}"
    status_table(
        _table(rows),
        "Messages with this reason",
        on_select=lambda: _remember_row(key, reason.metric, rows),
        selection_mode="single-row",
        key=key,
        height=min(38 + 35 * len(rows), 560),
        column_config={"Message": st.column_config.TextColumn(width="large")},
    )


def _remember_row(key: str, metric: str, rows: tuple[Example, ...]) -> None:
    """Make the next run open the message of the selected row."""
    selected = st.session_state[key].selection.rows
    if selected and 0 <= selected[0] < len(rows):
        one = rows[selected[0]]
        remember_target(MarkTarget(metric, one.transcript_id, one.message_id))


def _leave() -> None:
    state.choose(**{_REASON: None})


def _table(rows: tuple[Example, ...]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Game": [one.game_id for one in rows],
            "Player": [one.player for one in rows],
            "Message": [shortened(one.text, _LONGEST) for one in rows],
            "Reason": [one.reason for one in rows],
        }
    )
