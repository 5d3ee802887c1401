"""Names of session-state entries and query parameters, and reading and writing selections in the URL.

Keys reach the browser, so none of them contains untrusted text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.shared.chat.conversation import Aim

TRANSCRIPT = "transcript"
MESSAGE = "message"
METRIC = "metric"
GAME = "game"
"""The game that the desk was opened on. Another name than a transcript's elsewhere: the desk follows no selection."""
REVISED = "revised"
"""The game whose rating is revised under My ratings."""
RATER = "rater"
VIEW = "show"
CONVERSATION = "Conversation"
LEDGER = "Ledger"
INSIGHTS = "Insights"
GAMES_PART = "part"
GAME_LIST = "List"
ADD_GAMES = "Add"
CHECK_VERDICTS = "Check"
"""The parts of the Games page."""
CHANGED_FROM = "changed_from"
"""The iteration from which the next one is begun, where games are added."""
CHECKED_GAMES = "queue_of"
"""The iteration whose verdicts are to be checked."""
TEAM_VIEW = "team"
TEAM_GAME = "team_game"
HABITS = "habits"
"""The game that a lead opened in the grid."""
ASSIGN = "Assign"
AGREEMENT = "Agreement"
TRENDS_VIEW = "trends"
METRIC_TRENDS = "Metrics"
COST_AND_BEHAVIOUR = "Cost and behaviour"
AGENTS_VIEW = "agents"
PROFILES = "Profiles"
CHOSEN_AGENT = "chosen_agent"
CHECKS = "Checks"
RUNS = "Runs"
HELP_VIEW = "help"
SETTINGS = "Settings"
GUIDE = "Guide"
GUIDE_VIEW = "guide_view"
ABOUT, METRICS_TRUST, FORMATS, IN_CI, TERMS = GUIDE_VIEWS = "What this is", "Metrics", "Formats", "In CI", "Terms"
ITERATION = "iteration"
"""The iteration that the Overview shows."""
OPENED_METRIC = "of_metric"
"""The metric whose games the Overview shows in place of the decision."""
PANEL = "panel"
"""The part of the Overview below the decision that is open."""
BESIDE = "beside"
"""The game that stands beside the one that is shown."""
NO_ITERATION_CHOICE = "none"
"""In the address of the list of games: those of no iteration."""
_AIMS = "aims"
_FOLLOWED = "followed"
_HISTORY = "browser_history"
_NEXT = "choices_of_next_run"
_BEGUN = "begun"
_BEGUN_FORMS = "begun_forms"
_LONGEST_BEGUN = 10_000
_head: ContextVar[DeltaGenerator] = ContextVar("page_head")
_history = st.components.v2.component(
    "dramaturg_history", js=Path(__file__).with_name("browser_history.js").read_text()
)

_begun_forms = st.components.v2.component(
    "dramaturg_begun_forms", js=Path(__file__).with_name("begun_forms.js").read_text()
)


def chosen(name: str, allowed: Collection[str] | None = None) -> str | None:
    """The query parameter ``name``; ``None`` when it is missing or not one of ``allowed``."""
    value = st.query_params.get(name)
    if not value or (allowed is not None and value not in allowed):
        return None
    return value


def tell_unknown(known: Collection[str], *names: str) -> None:
    """Says so where the address or the session names something that is not there.

    Args:
        known: All that could be named.
        names: The query parameters that name one, and the widgets of the same keys.
    """
    if any((wanted := chosen(name)) is not None and wanted not in known for name in names):
        st.warning("The link leads to something that was renamed or deleted. Here is another one.")
    elif any((held := st.session_state.get(name)) is not None and held not in known for name in names):
        st.warning("What was shown here was renamed or deleted. Here is another one.")


def choose(**selections: str | None) -> None:
    """Writes selections to the URL; ``None`` removes one."""
    for name, value in selections.items():
        if value:
            if st.query_params.get(name) != value:
                st.query_params[name] = value
        elif name in st.query_params:
            del st.query_params[name]


def choose_next(**choices: str | bool | None) -> None:
    """Runs the page again with these choices of its widgets, by key.

    Streamlit refuses to change a widget, or a query parameter that one is bound to, once it is drawn.
    """
    st.session_state[_NEXT] = choices
    st.rerun()


def apply_next_choices() -> None:
    """Makes the choices that :func:`choose_next` left, before any widget of the page is drawn."""
    for key, value in st.session_state.pop(_NEXT, {}).items():
        st.session_state[key] = value


def set_widgets(values: Mapping[str, Any]) -> None:
    """Gives widgets new values, by key: in a callback, or before they are drawn.

    Removing a key would not do: the browser goes on showing what was typed, and sends it again.
    """
    for key, value in values.items():
        st.session_state[key] = value


def follow_stored(name: str, stored: Mapping[str, Any]) -> None:
    """Makes inputs show what is stored, also where another tab changed it; call before they are drawn.

    An input that was changed in this tab keeps what was typed.

    Args:
        name: Of the form in the session state.
        stored: What is stored now, by the key of the input that shows it.
    """
    shown = st.session_state.get(name, stored)
    changed = {key: value for key, value in stored.items() if value != shown.get(key)}
    set_widgets({key: value for key, value in changed.items() if st.session_state.get(key) == shown.get(key)})
    st.session_state[name] = dict(stored)


def sent(component: str, event: str) -> Any:
    """The content of a component's event, in the callback that it runs.

    ``None`` where the message of the browser, which may hold anything, does not say.
    """
    held = st.session_state.get(component)
    return held.get(event) if isinstance(held, Mapping) else None


def aim(transcript_id: str, message_id: str, metric: str | None) -> None:
    """Makes the conversation go to a message and choose it."""
    _aim(transcript_id, message_id, metric)
    follow(transcript_id, message_id, metric)


def glance(transcript_id: str, message_id: str) -> None:
    """Makes the conversation show another message, without changing what is chosen."""
    _aim(transcript_id, message_id, None, is_glance=True)


def _aim(transcript_id: str, message_id: str, metric: str | None, *, is_glance: bool = False) -> None:
    count = aim_of(transcript_id).count + 1
    st.session_state[_AIMS][transcript_id] = Aim(message_id, metric, count, is_glance)


def follow(transcript_id: str, message_id: str, metric: str | None) -> None:
    """Puts into the URL what the conversation shows already, so that it need not be told.

    The game as well: a click may come with the address of before the game was opened.
    """
    choose(transcript=transcript_id, message=message_id, metric=metric)
    st.session_state.setdefault(_FOLLOWED, {})[transcript_id] = (message_id, metric)


def aim_of(transcript_id: str) -> Aim:
    """The message that the conversation was last told to show.

    It stays the same while a person clicks in the conversation, and follows the URL where that was changed elsewhere:
    by the link the person came by, the browser's back button, or the way back from the list.
    """
    aims = st.session_state.setdefault(_AIMS, {})
    followed = st.session_state.setdefault(_FOLLOWED, {})
    linked = (chosen(MESSAGE), chosen(METRIC))
    if transcript_id not in aims or followed.get(transcript_id) != linked:
        count = aims[transcript_id].count + 1 if transcript_id in aims else 1
        aims[transcript_id] = Aim(*linked, count)
        followed[transcript_id] = linked
    found: Aim = aims[transcript_id]
    return found


def keep_one_history_entry_per_page() -> None:
    """Make one press of the browser's "back" lead to the page before, with its choices.

    Addresses that pages write without a person's doing in between replace the one before.
    """
    _history(key=_HISTORY)


def begin_page(title: str) -> None:
    """Draws the head of a page: its title, and beside it, on one line, what the page puts into :func:`head`.

    A game that is opened once more, from the list or another page, goes to the message of its address again.
    """
    if chosen(TRANSCRIPT) is None:
        st.session_state.pop(_FOLLOWED, None)
    line = st.container(horizontal=True, vertical_alignment="center", gap="small", key="page_head")
    line.title(title, anchor=False, width="content")
    _head.set(line)


def head() -> DeltaGenerator:
    """The line with the title of the page that is drawn."""
    return _head.get()


def select_linked(
    label: str,
    options: Sequence[str],
    words: Callable[[str], str],
    *,
    parameter: str,
    key: str,
    at_first: str | None = None,
    width: int | Literal["stretch"] = "stretch",
) -> str:
    """A list whose choice stands in the address, and follows it where a link or the browser's "back" changed it.

    Args:
        label: Above the list.
        options: What can be chosen; an empty one is left out of the address.
        words: How an option is shown.
        parameter: Its name in the address.
        key: Of the widget.
        at_first: What is chosen where the address names nothing; the first option when left out.
        width: In pixels.
    """
    wanted, followed = chosen(parameter, options), f"{key}_followed"
    held = st.session_state.get(key)
    is_linked = held in options and wanted is not None and wanted != st.session_state.get(followed)
    if is_linked:
        set_widgets({key: wanted})
    # The default besides the session's value: a run that is interrupted may never tell the browser of that value.
    shown = held if held in options else wanted or at_first or options[0]
    index = 0 if is_linked else options.index(shown)
    picked: str = st.selectbox(label, options, index=index, format_func=words, key=key, width=width)
    st.session_state[followed] = picked
    choose(**{parameter: picked or None})
    return picked


def keep_begun(key: str, allowed: Collection[object] = ()) -> None:
    """Keeps what is begun in an input through a reload; call before it is drawn.

    Args:
        key: Of the input, which keeps its state in the session.
        allowed: What can be chosen; empty for text.
    """
    st.session_state.setdefault(_BEGUN, {})[key] = allowed


def keep_begun_forms() -> None:
    """Has the browser keep what was begun on this page, and give it back once to a session that lost it."""
    if inputs := st.session_state.get(_BEGUN):
        data = {key: st.session_state.get(key) for key in inputs}
        _begun_forms(key=_BEGUN_FORMS, data=data, on_lost_change=_take_begun)


def _take_begun() -> None:
    lost = sent(_BEGUN_FORMS, "lost")
    for key, allowed in st.session_state[_BEGUN].items():
        value = lost.get(key) if isinstance(lost, Mapping) else None
        is_text = isinstance(value, str) and len(value) <= _LONGEST_BEGUN and not allowed
        if is_text or value in allowed:
            st.session_state[key] = value


def begun_text(label: str, key: str, value: str = "", **options: Any) -> str:
    """A line of text that keeps what was begun, on other pages and through a reload.

    It tells the server while somebody types: one that tells it on being left takes the press of a link away.
    """
    keep_begun(key)
    return str(st.text_input(label, value, key=key, live=True, persist_state="session", **options) or "")


@contextmanager
def linked_box(label: str, key: str, **options: Any) -> Iterator[bool]:
    """A box that can be folded, and is so in the address, around what is inside; whether it is open.

    Args:
        label: What stands on it.
        key: Of the widget and in the address.
        options: Passed on to ``st.expander``.
    """
    box = st.expander(label, key=key, on_change="rerun", bind="query-params", **options)
    with box:
        yield bool(box.open)


def choose_view(options: Sequence[str], *, key: str) -> str:
    """The view that is chosen of a page, kept in its address; the views stand beside the page's title.

    Args:
        options: The views in their order.
        key: Of the widget and in the address.
    """
    with head():
        return choose_part(options, key=key, label="View")


def choose_part(
    options: Sequence[str],
    *,
    key: str,
    default: str | None = None,
    label: str = "Part",
    words: Callable[[str], str] = str,
) -> str:
    """Like :func:`choose_view`, for one of two to five parts of a view, shown as ``words`` says, where it is called."""
    chosen = st.segmented_control(
        label,
        options,
        default=default or options[0],
        required=True,
        format_func=words,
        key=key,
        bind="query-params",
        label_visibility="collapsed",
    )
    return str(chosen)
