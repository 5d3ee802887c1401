"""The list of games with its filters and its order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import access_checks
from dashboard.shared import queries, resources, state
from dashboard.shared.clicked_marks import MarkTarget, remember_click
from dashboard.shared.drawing import found_rows
from dashboard.shared.formatting import SIGNS, legend, look
from dashboard.shared.game_rows import METRICS, draw_games, headings
from dashboard.shared.notices import plain, words_of
from dashboard.shared.queries import BEYOND_SCORE
from dashboard.shared.state import NO_ITERATION_CHOICE
from dashboard.shared.status_table import csv_download
from evaluation.errors import InputError
from evaluation.rubric.definitions import DEFINITIONS, SHORT_LABELS
from evaluation.score import LOW_EVIDENCE
from evaluation.store.transcripts import FoundMessages, simulated
from evaluation.text.display import counted
from evaluation.text.tokens import excerpt, pattern

_LIST = "game_rows"
_PAGE_SIZE = 50

ANY = "any"
VERDICTS = ("passed", "failed", "pending", "inapplicable")
RATED = "rated"
UNRATED = "not rated"
ORDERS = {
    "version": "Newest version first",
    "newest": "Newest first",
    "added": "Order of adding",
    "game": "Name",
    "messages": "Most messages",
    "passed": "Fewest metrics passed",
    **{name: f"Lowest {definition.label.lower()}" for name, definition in DEFINITIONS.items()},
}


@dataclass(frozen=True, slots=True)
class Filters:
    """A person's filters; an empty one accepts everything.

    Attributes:
        game: Part of the game's name, id or file, in any case.
        player: Part of a player's name, in any case.
        iteration: A name; ``none`` for the games of no iteration.
        source_format: The format of the file it came from.
        verdict: The status of the whole game.
        failing: A metric that it fails.
        rated: Whether somebody has rated it: ``rated`` or ``not rated``.
    """

    game: str = ""
    player: str = ""
    iteration: str = ANY
    source_format: str = ANY
    verdict: str = ANY
    failing: str = ANY
    rated: str = ANY

    @property
    def count(self) -> int:
        """Number of filters that leave something out."""
        chosen = (self.iteration, self.source_format, self.verdict, self.failing, self.rated)
        return sum(bool(text.strip()) for text in (self.game, self.player)) + sum(one != ANY for one in chosen)


def pick_filters(listed: pd.DataFrame) -> Filters:
    """The filters behind one button, for there are seven; they are in the URL.

    Args:
        listed: As ``queries.transcript_list`` returns it.
    """
    # An address that filters says so before the button is opened.
    chosen = sum(state.chosen(key) not in (None, "", ANY) for key in _FILTERS)
    with st.popover(f"Filters ({chosen})" if chosen else "Filters", icon=":material/filter_list:"):
        return Filters(
            game=st.text_input("Game", key="find", bind="query-params", placeholder="Part of its name") or "",
            player=st.text_input("Player", key="player", bind="query-params", placeholder="Part of a name") or "",
            iteration=_pick("Iteration", "of_iteration", [NO_ITERATION_CHOICE, *_values(listed, "iteration")]),
            source_format=_pick("Format", "of_format", _values(listed, "source_format")),
            verdict=_pick("Verdict", "verdict", _verdicts(listed), lambda name: look(name).label),
            failing=_pick("Failing", "failing", list(DEFINITIONS), lambda name: DEFINITIONS[name].label),
            rated=_pick("Rated by people", "rated", (RATED, UNRATED)),
        )


def _verdicts(listed: pd.DataFrame) -> Sequence[str]:
    return (*VERDICTS, "hidden") if (listed["verdict"] == "hidden").any() else VERDICTS


_FILTERS = ("find", "player", "of_iteration", "of_format", "verdict", "failing", "rated")


def _values(listed: pd.DataFrame, column: str) -> list[str]:
    return sorted(value for value in listed[column].unique() if value)


def _pick(label: str, key: str, options: Sequence[str], words: Callable[[str], str] = str) -> str:
    return st.selectbox(
        label,
        [ANY, *options],
        key=key,
        bind="query-params",
        filter_mode="contains",
        format_func=lambda name: name if name == ANY else words(name),
    )


def filtered(listed: pd.DataFrame, filters: Filters) -> pd.DataFrame:
    """The rows that match all filters."""
    shown = listed
    for columns, text in ((("label", "game_id", "source_name"), filters.game), (("names",), filters.player)):
        if text.strip():
            matches = [shown[one].str.casefold().str.contains(text.strip().casefold(), regex=False) for one in columns]
            shown = shown[pd.concat(matches, axis=1).any(axis=1)]
    if filters.iteration != ANY:
        shown = shown[shown["iteration"] == ("" if filters.iteration == NO_ITERATION_CHOICE else filters.iteration)]
    if filters.source_format != ANY:
        shown = shown[shown["source_format"] == filters.source_format]
    if filters.verdict != ANY:
        shown = shown[shown["verdict"] == filters.verdict]
    if filters.failing != ANY:
        shown = shown[[filters.failing in failing for failing in shown["failing"]]]
    if filters.rated != ANY:
        shown = shown[(shown["ratings"] > 0) == (filters.rated == RATED)]
    return shown


def ordered(listed: pd.DataFrame, order: str) -> pd.DataFrame:
    """The rows in one of ``ORDERS``; what has no score comes last, and what is equal stays in the order of adding."""
    if order == "version":
        return listed.iloc[_newest_version_first(listed["iteration"].tolist())]
    if order == "newest":
        return listed[::-1]
    if order == "game":
        return listed.sort_values("label", kind="stable", key=_natural_order)
    if order == "messages":
        return listed.sort_values("messages", ascending=False, kind="stable")
    if order == "passed":
        return listed.sort_values("passed", kind="stable")
    if order in DEFINITIONS:
        return listed.sort_values(f"score_{order}", kind="stable", na_position="last")
    return listed


def _newest_version_first(iterations: Sequence[str]) -> list[int]:
    """The places of games, given in the order of adding: the iteration with the latest one first, in itself in order.

    Games of no iteration come after those of all iterations, the latest first.
    """
    latest = {name: place for place, name in enumerate(iterations) if name}
    ranks = [(not name, -latest.get(name, place)) for place, name in enumerate(iterations)]
    return sorted(range(len(ranks)), key=ranks.__getitem__)


def _natural_order(names: pd.Series) -> pd.Series:
    return names.str.casefold().str.replace(r"\d+", lambda number: number[0].zfill(6), regex=True)


def games_table(shown: pd.DataFrame, total: int, *, is_grouped: bool) -> None:
    """The games, a page of them at a time; a row opens its game, and a score the message behind it.

    Args:
        shown: Those that match the filters, see ``game_rows.unseen_ratings_hidden``.
        total: How many there are in all, without simulated conversations.
        is_grouped: Whether the games of each iteration stand together.
    """
    games = shown[~simulated(shown)]
    verdicts = games["verdict"].value_counts()
    told = [f"{verdicts[one]:,} {look(one).word}" for one in (*VERDICTS, "hidden") if one in verdicts]
    few = "" if len(games) == total else f" of {total:,}"
    if told:
        apart = counted(len(shown) - len(games), "simulated conversation")
        beside = f" Listed as well, and counted apart: {apart}." if len(shown) > len(games) else ""
        plain(f"{len(games):,}{few} {'game' if total == 1 else 'games'}: {', '.join(told)}.{beside}")
    robotic = any(shown[name].str.contains(BEYOND_SCORE, regex=False).any() for name in METRICS)
    signs = {cell[:1] for name in METRICS for cell in shown[name]}
    has_low = any(LOW_EVIDENCE in words for some in shown["coverage"] for words in some)
    rules = (
        "A game passes with 5 of 7 metrics, engagement among them; the rule counts what is at chance, too. A row opens "
        "its game; a score opens the first message that loses points of that metric."
        + " Robotic: one phrase stands in so many messages that the game fails Anti-repetition, whatever the score."
        * robotic
    )
    if shown.empty:
        st.info("No game matches. Change the filters above.")
        return
    pages = -(-len(shown) // _PAGE_SIZE)
    first = (_page(pages) - 1) * _PAGE_SIZE
    ticked = state.chosen(state.BESIDE)
    games = shown.iloc[first : first + _PAGE_SIZE]
    # Always a line, or the list would move under the hand that ticks.
    is_ticked = ticked in games["transcript_id"].tolist()
    st.caption(
        f"{'One game is ticked: tick another one' if is_ticked else 'Tick two games'} to read them side by side.  \n"
        f"{legend([sign for sign in SIGNS if sign in signs])}{' · amber: low evidence' * has_low}"
    )
    # Of some games only, a mean would be another than the iteration's.
    groups = headings(shown) if is_grouped and not few else {}
    own = {place - first: heading for place, heading in groups.items()}
    draw_games(games, _LIST, ticked or "", own)
    with st.container(horizontal=True, vertical_alignment="center"):
        if pages > 1:
            st.pagination(pages, key=_PAGE, bind="query-params")
        csv_download("Download the list (CSV)", lambda: _table(shown), "games.csv")
    st.caption(rules)


_PAGE = "games_page"


def _page(pages: int) -> int:
    """The page that is shown, from 1. The choice stands below the list, so it is read before it is drawn."""
    chosen = st.session_state.get(_PAGE) or state.chosen(_PAGE) or 1
    wanted = int(chosen) if str(chosen).isdecimal() else 1
    if wanted > pages:
        # Filters have left fewer pages than the one that was chosen.
        st.session_state[_PAGE] = pages
    return max(1, min(wanted, pages))


def _table(shown: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Game": shown["label"],
            "Id": shown["game_id"],
            "File": shown["source_name"],
            "Iteration": shown["iteration"],
            "Verdict": [look(status).label for status in shown["verdict"]],
            "Passed": [f"{count} of 7" for count in shown["passed"]],
            "Above chance": shown["chance"],
            "Messages": shown["messages"],
            "Players": shown["players"],
            **{label: shown[name] for name, label in SHORT_LABELS.items()},
            "Coverage": ["; ".join(filter(None, words)) for words in shown["coverage"]],
            "Ratings": shown["ratings"],
            "Format": shown["source_format"],
        }
    )


_EXCERPT = 240
_MESSAGE = "message"
_FOUND = "found_rows"


def found_messages(query: str, within: tuple[str, ...] | None) -> None:
    """The messages that hold every word of ``query``, with what was found marked; a click on one opens it in its game.

    Args:
        query: As the person typed it.
        within: Only in these transcripts; ``None`` for all.
    """
    try:
        found = resources.read(queries.found_messages, query, within)
    except InputError as error:
        st.warning("That cannot be searched for.", icon=":material/search_off:")
        plain(words_of(error))
        return
    st.caption(found_words(found))
    if not found.total:
        return
    messages = found.table.to_dict("records")
    targets = [
        {_MESSAGE: [MarkTarget(_MESSAGE, str(one["transcript_id"]), str(one["message_id"]))]} for one in messages
    ]
    on_open = access_checks.event("game_open", remember_click(_FOUND, targets))
    found_rows(key=_FOUND, data={"rows": [_found_row(one, found.phrases) for one in messages]}, on_open_change=on_open)


def found_words(found: FoundMessages) -> str:
    """Number of messages that match, and of those that are shown."""
    if not found.total:
        return "No message holds all of that. Fewer words find more; words outside quotes may stand anywhere."
    words = f"{counted(found.total, 'message')} in {counted(found.games, 'game')}."
    if len(found.table) < found.total:
        words += f" The first {len(found.table)} are shown: add words, or filter the games."
    return f"{words} A click opens one in its game."


def _found_row(message: Mapping[Any, Any], wanted: Sequence[str]) -> dict[str, Any]:
    place = f"{message['game']} · #{message['number']} · {message['speaker']}"
    text = excerpt(str(message["text"]), wanted, _EXCERPT)
    return {"place": place, "words": f"{place}: {text}", "parts": marked(text, wanted)}


def marked(text: str, wanted: Sequence[str]) -> list[tuple[str, bool]]:
    """A text in parts, each with whether it is one of the ``wanted`` phrases; the longest one where two begin."""
    hits = "|".join(pattern(one).removeprefix("(?i)") for one in sorted(wanted, key=len, reverse=True))
    parts = re.split(f"({hits})", text, flags=re.IGNORECASE)
    return [(part, place % 2 == 1) for place, part in enumerate(parts) if part]
