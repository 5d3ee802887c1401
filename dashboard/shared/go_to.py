"""Go to a page, a setting, a metric, an iteration or a game by name: a list that ``Ctrl+K`` opens on every page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from dashboard import access_checks
from dashboard.shared import page_links, resources, state
from evaluation.access import Action
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.store import Store
from evaluation.workflows.iterations import iteration_names

MOST_GAMES = 2_000
"""The newest that are offered: the browser gets the whole list."""
_OPEN_ON = "go_to_open_on"
# Streamlit refuses to switch pages with a parameter that a widget of the page is bound to; a link that is pressed may.
_hand = st.components.v2.component(
    "dramaturg_go_to",
    js="""
export default function ({ data }) {
  let tries = 200;
  const press = () => {
    const link = document.querySelector(".st-key-go_to_link a");
    const input = document.querySelector(".st-key-go_to_choice input");
    if (link) {
      link.click();
      // Streamlit leaves the address as it is where the link leads to another part of the same page.
      if (link.pathname === location.pathname && link.href !== location.href) history.pushState(null, "", link.href);
    } else if (!data && input) {
      input.focus();
      input.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", keyCode: 40, bubbles: true }));
    }
    // Neither is drawn yet.
    if ((data ? !link : document.activeElement !== input) && tries--) setTimeout(press, 50);
  };
  setTimeout(press, 50);
}
""",
)


@dataclass(frozen=True, slots=True)
class Goal:
    """One entry of the list.

    Attributes:
        words: How it is shown, which is what is searched; may hold untrusted text.
        title: Of the page that it is on.
        address: The page's parameters.
    """

    words: str
    title: str
    address: Mapping[str, str] = field(default_factory=dict)


_GAMES, _RATE, _HELP = "Games", "Rate", "Settings and help"
_GUIDE = {state.HELP_VIEW: state.GUIDE}
_PARTS = (
    *((_GAMES, {state.GAMES_PART: part}) for part in (state.ADD_GAMES, state.CHECK_VERDICTS)),
    *((_RATE, {page_links.VIEW: view}) for view in page_links.DESK_VIEWS[1:]),
    ("Team", {state.TEAM_VIEW: state.AGREEMENT}),
    ("Trends", {state.TRENDS_VIEW: state.COST_AND_BEHAVIOUR}),
    *(("Agents", {state.AGENTS_VIEW: view}) for view in (state.CHECKS, state.RUNS)),
    *((_HELP, _GUIDE | {state.GUIDE_VIEW: view}) for view in state.GUIDE_VIEWS),
)
_SETTINGS = ("Model that judges", "Thresholds and tests", "Database and backup", "Import limits")
_VIEWS = [Goal(": ".join((title, *list(address.values())[-1:])), title, address) for title, address in _PARTS] + [
    Goal(f"Setting: {name}", _HELP) for name in _SETTINGS
]


def places(store: Store) -> list[Goal]:
    """The metrics, every iteration, then the newest games; the last is first."""
    games = store.transcripts.summaries()[["transcript_id", "game", "iteration"]].fillna("")[-MOST_GAMES:]
    found = [Goal(f"Metric: {one.label}", "Overview", {state.OPENED_METRIC: key}) for key, one in DEFINITIONS.items()]
    found += [Goal(f"Iteration: {name}", "Overview", {state.ITERATION: name}) for name in iteration_names(store)][::-1]
    for key, game, iteration in games[::-1].itertuples(index=False):
        # Names of games that would be alike hold their iteration already.
        named = game if game.startswith("Game ") else f"Game: {game}"
        words = named if iteration in game else f"{named} · {iteration}"
        found.append(Goal(words, _GAMES, {state.TRANSCRIPT: key}))
    return found


def go_to(pages: Sequence[StreamlitPage], shown: str) -> None:
    """Draws the button with its key in the sidebar, unless the person may see one page only.

    Args:
        pages: Those that the person may open.
        shown: The title of the page that is open. The desk shows neither games nor iterations: raters are blind.
    """
    # Streamlit carries one dialog at a time, and a game of the grid that is open is one.
    if len(pages) > 1 and state.chosen(state.TEAM_GAME) is None:
        with st.sidebar:
            _button({page.title: page for page in pages}, shown)


@st.fragment
@access_checks.fragment("go_to")
def _button(pages: Mapping[str, StreamlitPage], shown: str) -> None:
    # The list is kept open where the page is drawn again meanwhile, such as by a draft that the desk sends.
    if st.button("Go to", key="go_to", icon=":material/search:", shortcut="Mod+K", type="tertiary"):
        st.session_state[_OPEN_ON] = shown
    if st.session_state.get(_OPEN_ON) == shown:
        _list(pages, is_blind=access_checks.PAGES[shown] is Action.RATE)


def _close() -> None:
    st.session_state.pop(_OPEN_ON, None)


@st.dialog("Go to", on_dismiss=_close)
@access_checks.fragment("go_to")
def _list(pages: Mapping[str, StreamlitPage], *, is_blind: bool) -> None:
    known = [Goal(title, title) for title in pages] + list(_VIEWS) + ([] if is_blind else resources.read(places))
    place = st.selectbox(
        "Page, setting, metric, iteration or game",
        [place for place in known if place.title in pages],
        index=None,
        format_func=lambda place: place.words,
        key="go_to_choice",
        placeholder="Page, setting, metric, iteration or game",
        label_visibility="collapsed",
    )
    if place is not None:
        _close()
        with st.container(key="go_to_link"):
            st.page_link(pages[place.title], label=f"Open {place.title}", query_params=place.address)
    _hand(key="go_to_hand", data=place is not None, height="content")
