"""Assign games to raters, follow who has rated what, and settle disputes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from dashboard import access_checks
from dashboard.app_pages.team.deciding import act, attempt, decision
from dashboard.app_pages.team.disagreements import ANSWERS, RATERS
from dashboard.shared import queries, resources, state
from dashboard.shared.answer import answer
from dashboard.shared.formatting import duration_text
from dashboard.shared.identity import identity
from dashboard.shared.identity.visible_games import hidden_ratings, visible_habits
from dashboard.shared.local_time import local_time
from dashboard.shared.notices import empty_state, plain, refusal_told
from dashboard.shared.page_links import add_games_link, transcript_link
from dashboard.shared.status_table import open_row, pick_cell, pick_row
from dashboard.shared.style_results import style_table
from dashboard.shared.version_notes import newer_note
from evaluation.agreement.between_raters import FEWEST_FOR_READING
from evaluation.rating_desk.assignments import AssignmentPlan, Discard, Pair
from evaluation.ratings import DeskTime, Rating
from evaluation.rubric.rating_guide import QUESTIONS
from evaluation.store import Store
from evaluation.store.rating_desk import QueueProgress
from evaluation.text.display import counted, fixed, listed, shortened
from evaluation.workflows.iterations import current
from evaluation.workflows.ratings import (
    SYMBOLS,
    CellState,
    GridGame,
    Habit,
    RatingGrid,
    assign_games,
    rating_grid,
)

_ALL_GAMES = "All games"


def team(store: Store, lead: str) -> None:
    """Raters by games: an empty cell assigns, another one opens the rating with what can be done about it."""
    names = list(resources.read(queries.iteration_sizes))
    with state.head():
        chosen = st.selectbox(
            "Games of",
            [_ALL_GAMES, *reversed(names)],
            key="team_of",
            bind="query-params",
            filter_mode="contains",
            width=_PICKER_WIDTH,
        )
    iteration = None if chosen == _ALL_GAMES else chosen
    grid = resources.read(rating_grid, iteration)
    newest_name = resources.read(current)
    latest = (newest_name, resources.read(rating_grid, newest_name)) if newest_name else None
    board = resources.share(queries.overview).board
    if shown := iteration or (board.current.iteration.name if board.current else None):
        newer_note(board, shown)
    if not grid.games:
        elsewhere = " Choose another iteration above, or add games to this one." if iteration else " Add games first."
        empty_state("No games here", f"There is nothing to assign.{elsewhere}")
        with st.container(horizontal=True, horizontal_alignment="center"):
            add_games_link("Add games")
        return
    name, blocking = (latest[0], {one.transcript_id for one in latest[1].games}) if latest else ("", set[str]())
    groups = {one.transcript_id: _group(one, name if one.transcript_id in blocking else "") for one in grid.games}
    raters = dict(sorted(grid.raters.items(), key=lambda one: -one[1].rated))
    games = tuple(sorted(grid.games, key=lambda one: {_UNRATED: 1, _RATED: 2}.get(groups[one.transcript_id], 0)))
    grid = replace(grid, games=games, raters=raters)
    with (
        answer(*missing_words(grid, iteration, None if iteration else latest)),
        st.popover("Assign games", icon=":material/assignment_ind:", type="primary"),
    ):
        assigning(store, lead, grid, set() if iteration else blocking)
    _take_back_batch(store, lead)
    hidden = hidden_ratings(store, [game.transcript_id for game in grid.games])
    _habits(*visible_habits(store))
    if hidden:
        st.caption("Others' ratings of a game are hidden until you have rated it.")
    if grid.raters:
        planner(store, lead, grid, [groups[one.transcript_id] for one in grid.games], hidden)
        _open_chosen(store, lead)
    aside = [one for one in store.discards.list() if one.undone_by is None]
    answers = store.style_answers.list()
    if aside or answers:
        with st.expander("Put aside, and who speaks"):
            discards(store, lead, aside)
            style_table(answers)


def _habits(habits: Mapping[str, Habit], about: str) -> None:
    """Names those who may not have read what they rated, with exactly these ratings; one opens like a cell."""
    if not habits:
        return
    said = (f"{shortened(rater, _LONGEST_NAME)}: {one.words}." for rater, one in habits.items())
    plain("\n".join(filter(None, (about, *said))))
    ratings = [shown for one in habits.values() for shown in one.ratings]
    names = {one.transcript_id: one.name for one in resources.read(rating_grid, None).games}
    which = f"these {len(ratings)} ratings" if len(ratings) > 1 else "this rating"
    with state.linked_box(f"Look at {which}", state.HABITS) as is_open:
        if not is_open:
            return
        rows = [
            {
                "Game": shortened(names[one.transcript_id], _LONGEST_NAME),
                "Rater": shortened(one.rater, _LONGEST_NAME),
                "Words": took.words if took else "",
                "Seconds": round(took.seconds) if took else "",
                "Score": one.score,
            }
            for one, took in ratings
        ]
        if (row := open_row(rows, "Ratings perhaps given without reading", "habit_rows")) is not None:
            state.choose(team_game=ratings[row][0].transcript_id, team_rater=ratings[row][0].rater)


def _take_back_batch(store: Store, lead: str) -> None:
    """The assignments that were last made at once and nobody has begun, with the button that takes them back."""
    made = store.rating_assignments.list()
    times = Counter(one.created_at for one in made)
    last = max((time for time, count in times.items() if count > 1), default=None)
    waiting = {
        (game.transcript_id, rater)
        for game in resources.read(rating_grid, None).games
        for rater, cell in game.cells.items()
        if cell.state in (CellState.ASSIGNED, CellState.SKIPPED)
    }
    batch = [(one.transcript_id, one.rater) for one in made if one.created_at == last and one.withdrawn_at is None]
    pairs = [pair for pair in batch if pair in waiting]
    if last is None or not pairs:
        return
    to_rate = Counter(rater for _, rater in pairs)
    who = listed([f"{shortened(rater, _LONGEST_NAME)} ({count})" for rater, count in to_rate.items()])
    words = counted(len(pairs), "assignment")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        plain(f"Assigned on {local_time(last)} and not begun: {who}.")
        take_back = partial(_withdraw, store, lead, pairs, f"{words} taken back.")
        st.button(f"Take back {words}", icon=":material/undo:", key="team_undo_batch", on_click=take_back)


_UNRATED, _RATED = "Not rated", "Rated"


def _group(game: GridGame, newest: str) -> str:
    """The heading that a game stands under; a decision waits for the unrated ones of the iteration ``newest``."""
    if game.score is not None:
        return _RATED
    return f"Blocks the decision on {newest}" if newest else _UNRATED


def missing_words(grid: RatingGrid, iteration: str | None, latest: tuple[str, RatingGrid] | None) -> tuple[str, str]:
    """The games that wait for a rating in a headline, and a sentence on whether somebody is asked to rate them.

    "Prompt v4 waits for the rating of 1 game.", "Nobody is asked to rate it. 9 other games are not rated either."

    Args:
        grid: The games shown.
        iteration: Whose they are; ``None`` for all games. Untrusted text, as is the name in ``latest``.
        latest: The newest iteration with its games, which is told apart from all games.
    """
    left, total = len(_unrated(grid)), len(grid.games)
    of = f" of {iteration}" if iteration else ""
    if not left:
        return (f"All {total} games{of} are rated." if total > 1 else f"The one game{of} is rated."), ""
    waiting = len(_unrated(latest[1])) if latest else 0
    if latest is None or not waiting:
        rated = f" All of {latest[0]} are rated." if latest and latest[1].games else ""
        wait = "waits" if left == 1 else "wait"
        return f"{left} of {counted(total, 'game')}{of} {wait} for a rating.", f"{_asked_words(grid)}{rated}"
    others = left - waiting
    beside = f" {counted(others, 'other game')} {'is' if others == 1 else 'are'} not rated either." if others else ""
    headline = f"{latest[0]} waits for the rating of {counted(waiting, 'game')}."
    return headline, f"{_asked_words(latest[1])}{beside}"


def _asked_words(grid: RatingGrid) -> str:
    """A sentence on whether somebody is asked to rate the games that wait; empty where nobody rates yet."""
    waiting = _unrated(grid)
    asked = [{cell.state for cell in one.cells.values()} & _ASKED for one in waiting]
    free, put_off = sum(not states for states in asked), sum(states == {CellState.SKIPPED} for states in asked)
    if not grid.raters:
        return "Nobody has rated yet."
    if not free:
        return f"Somebody is asked to{', but skipped ' + counted(put_off, 'game') if put_off else ''}."
    which = "it" if len(waiting) == 1 else "them" if free == len(waiting) else f"{free} of them"
    return f"Nobody is asked to rate {which}."


_ASKED = {CellState.ASSIGNED, CellState.UNDER_WAY, CellState.SKIPPED}


def _unrated(grid: RatingGrid) -> list[GridGame]:
    return [one for one in grid.games if one.score is None]


_COMMON = 3
"""Games in common that are proposed, and one in how many they are at most: everybody rates them."""
_NAMES = "team_names"
_PICKER_WIDTH = 230


def assigning(store: Store, lead: str, grid: RatingGrid, newest: AbstractSet[str]) -> None:
    """A form that plans assignments of the games shown, says what they lead to, and stores them.

    Args:
        store: Where to.
        lead: Who assigns.
        grid: The games.
        newest: Ids of the games of the newest iteration, which are offered first; empty where it is not told apart.
    """
    waiting = [one.transcript_id for one in _unrated(grid)]
    first = [one for one in waiting if one in newest]
    single = [one.transcript_id for one in grid.games if len(one.ratings) == 1]
    scopes = {
        f"All {counted(len(grid.games), 'game')}": [one.transcript_id for one in grid.games],
        f"{counted(len(single), 'game')} that only one person rated": single,
        f"{counted(len(waiting), 'game')} without a rating": waiting,
        f"{counted(len(first), 'game')} of the latest iteration without a rating": first,
    }
    # The fewest first: they are what a decision waits for.
    found = {tuple(games): label for label, games in scopes.items() if games}
    offered = {label: list(games) for games, label in reversed(found.items())}
    games = offered[st.radio("Which games", list(offered), key="team_scope")]
    if _NAMES not in st.session_state:
        st.session_state[_NAMES] = "\n".join(grid.raters)
    typed = st.text_area(
        "Raters, one name per line",
        key=_NAMES,
        height=90,
        help="With a login, these are the addresses under which people log in.",
    )
    # The button stands above what the plan leads to: below, it would lie beyond the edge of the box.
    fields = st.container(horizontal=True, vertical_alignment="bottom")
    with fields:
        # Without limits of the field: what it refuses itself, it shows as red without a word.
        overlap = st.number_input(
            "Raters per game",
            value=2,
            key="team_overlap",
            width=140,
            help="Agreement needs at least two. Those who have already rated a game count.",
        )
        common = st.number_input(
            "Games in common",
            value=_COMMON,
            key="team_common",
            width=140,
            help="All of these raters get them, so that any two can be compared. Games that they share already count.",
        )
    most = max(1, len(grid.games) // _COMMON)
    if common > most:
        common = most
        st.caption(f"{most} in common: at most a third of the {counted(len(grid.games), 'game')} above.")
    with refusal_told("This cannot be assigned.", ":material/error:"):
        raters = named_raters(typed, {*grid.raters, *(one.rater for one in store.ratings.current())})
        if not raters:
            return
        every = [one.transcript_id for one in grid.games]
        assign = partial(
            assign_games, store, raters, overlap, who=lead, games=games, common=max(0, common), beside=every
        )
        plan = assign(is_dry=True)
        _preview(plan, len(raters), [one for one in grid.games if one.transcript_id not in games])
        if fields.button("Assign", type="primary", key="team_assign", disabled=not plan.pairs):
            act(assign, f"{counted(len(plan.pairs), 'assignment')} stored.", _close)


def named_raters(typed: str, known: AbstractSet[str]) -> list[str]:
    """The raters whose names were typed, one a line; a name that differs in case alone is the same rater.

    Raises:
        InputError: A line cannot be a name.
    """
    found: dict[str, None] = {}
    for line in filter(str.strip, typed.splitlines()):
        found[identity.name_among(line, [*sorted(known), *found])] = None
    return list(found)


def _preview(plan: AssignmentPlan, raters: int, beside: Sequence[GridGame]) -> None:
    """Draws the outcome of a plan, and names the rated games ``beside`` those asked for that it takes to compare."""
    if plan.pairs:
        st.caption(f"{counted(len(plan.pairs), 'new assignment')} for {counted(plan.games, 'game')}:")
        plain("\n".join(f"{rater}: {counted(count, 'game')} to rate" for rater, count in plan.to_rate.items()))
        asked = {game for game, _ in plan.pairs}
        again = [shortened(one.name, _LONGEST_NAME) for one in beside if one.ratings and one.transcript_id in asked]
        if again:
            plain(f"Rated by others, to have games in common: {listed(again)}.")
    elif not plan.short:
        st.caption(f"Nothing to assign: every game has {counted(plan.overlap, 'rater')} or more.")
    who = "The raters" if raters > 1 else "This rater and others"
    if plan.common:
        st.caption(f"{who} then have {counted(plan.common, 'game')} in common; {FEWEST_FOR_READING} often tell.")
    else:
        st.warning(f"{who} then have no game in common: whether they agree cannot be told.")
    if short := len(plan.short):
        get = "gets" if short == 1 else "get"
        st.warning(f"{counted(short, 'game')} {get} fewer raters: too few of these people can rate them.")


_RATER = "team_rater"
"""The rater whose game is open, in the address."""
_LONGEST_NAME = 40


def _head(rater: str, one: QueueProgress) -> str:
    """The name of a rater, untrusted, with what is done and left: "Ann (3 rated, 2 to do)"."""
    left = f", {one.waiting} to do" if one.waiting else ""
    return f"{shortened(rater, _LONGEST_NAME)} ({one.rated} rated{left})"


def planner(
    store: Store, lead: str, grid: RatingGrid, groups: Sequence[str], hidden: frozenset[str] = frozenset()
) -> None:
    """A row for each game and a column for each rater: an empty cell assigns, another one opens what is in it.

    Args:
        store: Where assignments are kept.
        lead: Who assigns.
        grid: Games and raters.
        groups: The heading of each game.
        hidden: The games of which the lead must not see what others gave.
    """
    rows: list[list[str]] = []
    for game in grid.games:
        is_hidden = game.transcript_id in hidden
        engagement = "hidden" if is_hidden and game.ratings else engagement_words(game)
        cells = [game.cells.get(rater) for rater in grid.raters]
        words = ["+" if cell is None else "✓" if is_hidden and cell.rating else cell.words for cell in cells]
        rows.append([shortened(game.name, _LONGEST_NAME), engagement, *words])
    frame = pd.DataFrame(rows, columns=["Game", "Score", *(_head(*one) for one in grid.raters.items())])
    there = {cell.state for game in grid.games for cell in game.cells.values()}
    signs = [f"{SYMBOLS[state]} {words}" for state, words in _LEGEND.items() if state in there]
    st.caption(" · ".join((r"\+ assigns the game to the rater", "any other cell opens its rating", *signs)))
    chosen = pick_cell(frame, "Raters by games", "team_grid", groups=groups, heads=2)
    if chosen is None:
        return
    game, rater = grid.games[chosen[0]], [*grid.raters][chosen[1] - 2]
    if game.cells.get(rater) is None:
        assign_one(store, lead, game, rater)
    state.choose(team_game=game.transcript_id, team_rater=rater)


def assign_one(store: Store, lead: str, game: GridGame, rater: str) -> None:
    """Asks a rater for a game."""
    act(
        lambda: store.rating_assignments.add([(game.transcript_id, rater)], who=lead),
        f"{rater} is to rate {game.name}.",
        _close,
        take_back=lambda _: _withdraw(store, lead, [(game.transcript_id, rater)], _not_asked(game, rater)),
    )


def _withdraw(store: Store, lead: str, pairs: Sequence[Pair], words: str) -> None:
    attempt(lambda: store.rating_assignments.withdraw(pairs, who=lead), words, _close)


def _not_asked(game: GridGame, rater: str) -> str:
    return f"{rater} need not rate {game.name}."


def engagement_words(game: GridGame) -> str:
    """The score that counts, and whether it is disputed or decided."""
    words = "" if game.score is None else fixed(game.score)
    if game.decision is not None:
        words += ", decided"
    elif game.is_disputed:
        words += f" ({game.spread:g} apart)"
    return words


def _open_chosen(store: Store, lead: str) -> None:
    """Opens what the address names: a game in the hands of a rater, whichever games the view shows."""
    grid = resources.read(rating_grid, None)
    game = next((one for one in grid.games if one.transcript_id == state.chosen(state.TEAM_GAME)), None)
    rater = state.chosen(_RATER, grid.raters)
    if game is not None and rater is not None and rater in game.cells:
        _cell(store, lead, game, rater)


def _close() -> None:
    state.choose(team_game=None, team_rater=None)


_LEGEND = {
    CellState.ASSIGNED: "not begun",
    CellState.UNDER_WAY: "begun",
    CellState.SKIPPED: "skipped by the rater, comes again at the end",
    CellState.REFUSED: "out of the rater's queue",
}


@st.dialog("Rating", width="medium", on_dismiss=_close)
@access_checks.fragment("team_cell")
def _cell(store: Store, lead: str, game: GridGame, rater: str) -> None:
    """The rating with its history, and what a lead can do about it and about the game."""
    cell, is_hidden = game.cells[rater], bool(identity.hidden_games(store, lead, [game.transcript_id]))
    with st.container(horizontal=True, vertical_alignment="center"):
        plain(f"{game.name} · {rater}: {cell.state}")
        transcript_link("Read the game", transcript=game.transcript_id)
    if cell.rating is not None and not is_hidden:
        given = [one for one in store.ratings.of_transcript(game.transcript_id)[0] if one.rater == rater]
        _rating(cell.rating, given, store.ratings.desk_times().get((game.transcript_id, rater)))
    if cell.state in _ASKED:
        _assignment(store, lead, game, rater)
    if not is_hidden:
        decision(store, lead, game, _close)
    if len(game.ratings) > 1 and st.button("Where raters differ", icon=":material/handshake:", key="team_differ"):
        # In the address, where a reload finds it: the choice is drawn on the other view only.
        state.choose(team_rater=None, differ=RATERS)
        state.choose_next(**{state.TEAM_VIEW: state.AGREEMENT})


def _rating(counting: Rating, given: list[Rating], took: DeskTime | None) -> None:
    after = f"{duration_text(took.seconds)} after the game came to the desk" if took else "from a sheet"
    rated = f"{'first rated' if len(given) > 1 else 'rated'} {after}{f', {took.words:,} words' if took else ''}"
    st.markdown(f"**{counting.score} of 5**, {local_time(counting.created_at)}, {rated}")
    answers = [f"{text} {ANSWERS[answer]}" for text, answer in zip(QUESTIONS, counting.answers, strict=True)]
    plain("\n".join(answers))
    if counting.comment:
        plain(f"Comment: {counting.comment}")
    if len(given) > 1:
        earlier = ", ".join(f"{one.score} on {local_time(one.created_at)}" for one in given if one != counting)
        st.caption(f"Earlier, kept: {earlier}.")


def _assignment(store: Store, lead: str, game: GridGame, rater: str) -> None:
    pair = (game.transcript_id, rater)
    if pair not in {(one.transcript_id, one.rater) for one in store.rating_assignments.current()}:
        if st.button("Assign it", key="team_assign_one"):
            assign_one(store, lead, game, rater)
    elif st.button("Withdraw the assignment", key="team_assign_one"):
        act(lambda: store.rating_assignments.withdraw([pair], who=lead), _not_asked(game, rater), _close)


def discards(store: Store, lead: str, found: Sequence[Discard]) -> None:
    """Discards of all raters; a lead can give a game back to its rater."""
    if not found:
        return
    st.subheader("Cannot be rated", anchor=False)
    st.caption("Each left the queue of one rater. Select a row to give the game back.")
    names = store.transcripts.game_names()
    called = [shortened(names.get(one.transcript_id, one.transcript_id), 60) for one in found]
    rows = [
        {
            "Game": game,
            "Rater": one.rater,
            "Reason": one.reason.words,
            "Note": one.note,
            "When": local_time(one.created_at),
        }
        for game, one in zip(called, found, strict=True)
    ]
    if (row := pick_row(rows, "Games that cannot be rated", "discards")) is not None:
        chosen = found[row]
        if st.button("Give it back to the rater", icon=":material/undo:", key="give_back"):
            act(lambda: store.discards.undo(chosen.id, who=lead), f"It comes to {chosen.rater} again.", _close)
