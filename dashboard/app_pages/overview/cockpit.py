"""The first screen of the Overview: the answer, seven metrics before and after, what is missing, and the decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from dashboard import access_checks
from dashboard.app_pages.overview.cockpit_data import (
    CockpitRow,
    NextStep,
    blockers,
    caveat,
    chips,
    cockpit_of,
    critical_failures,
    is_settled,
    legend_of,
    more_games_sentence,
    next_step,
    sentence,
    waiting_games,
    without_ratings,
)
from dashboard.app_pages.overview.decisions import decision_form
from dashboard.shared import page_links, resources, state
from dashboard.shared.answer import answer
from dashboard.shared.clicked_marks import remember_click
from dashboard.shared.drawing import cockpit_rows
from dashboard.shared.formatting import look
from dashboard.shared.identity.visible_games import hidden_note, visible_habits
from dashboard.shared.notices import plain
from dashboard.shared.page_links import hand_over, team_link, transcript_link
from dashboard.shared.version_notes import newer_note, pair_note
from evaluation.comparison.iterations import IterationComparison, changed_much, compare_iterations, length_words
from evaluation.escaping import cut
from evaluation.iterations.board import Board, IterationSummary
from evaluation.iterations.game_tests import LONGEST_NAME, failing_beyond_score
from evaluation.iterations.keep_or_revert import unnamed_target_words
from evaluation.rubric.definitions import ANTI_REPETITION, ENGAGEMENT
from evaluation.score import Status
from evaluation.statistics.comparison import Outcome
from evaluation.store import Store
from evaluation.text.display import counted, listed, shortened
from evaluation.workflows.iterations import stored_message_lengths
from evaluation.workflows.judging import stored_review_counts

AGAINST = "against"
"""The key, and query parameter, of the iteration that the shown one is compared with."""
NOTHING = "nothing"

_KEY = "cockpit"
_LAST_SHOWN = "iteration_shown_last"
_MOST_LINES = 3


def pick_pair(board: Board) -> tuple[IterationSummary, IterationSummary | None]:
    """The iteration that is chosen, and what it is compared with; both stand in the URL.

    At first the current one, as on every page, against its reference, else against nothing. What a session has once
    shown stays, also where newer games come in, until the person chooses another.
    """
    by_name = {one.iteration.name: one for one in board.iterations}
    names = list(by_name)
    at_first = board.current.iteration.name if board.current else names[-1]
    state.tell_unknown(names, state.ITERATION)
    state.tell_unknown([*names, NOTHING], AGAINST)
    last = st.session_state.get(_LAST_SHOWN)
    if last in by_name and state.ITERATION not in st.session_state and state.chosen(state.ITERATION) is None:
        # Not as what is chosen at first, which the address leaves out: a reload or a copied link would show another.
        state.set_widgets({state.ITERATION: last})
    shown = by_name[_pick("Iteration", state.ITERATION, names, at_first)]
    name = shown.iteration.name
    own = shown.decision.reference if shown.decision else NOTHING
    others = [*([NOTHING] if own == NOTHING else []), *(one for one in names if one != name)]
    if AGAINST in st.session_state and (last != name or st.session_state[AGAINST] not in others):
        # Each iteration begins with its own reference, unless the address names another one.
        state.set_widgets({AGAINST: own})
    st.session_state[_LAST_SHOWN] = name
    st.text("against", width="content")
    return shown, by_name.get(_pick("Compared with", AGAINST, others, own))


def _pick(label: str, key: str, names: list[str], at_first: str) -> str:
    return st.selectbox(
        label,
        names,
        index=names.index(at_first),
        key=key,
        bind="query-params",
        filter_mode="contains",
        label_visibility="collapsed",
        width=180,
    )


def cockpit(
    store: Store, board: Board, shown: IterationSummary, reference: IterationSummary | None, *, is_hidden: bool
) -> IterationComparison | None:
    """Draws the first screen, and returns the comparison that it shows, where both sides have games.

    Args:
        store: Where decisions are kept.
        board: All iterations.
        shown: The one in question.
        reference: What it is compared with, if anything.
        is_hidden: Whether the ratings of their games are hidden from the person.
    """
    name = shown.iteration.name
    pair = pair_of(board, shown, reference)
    pair = pair.without(ENGAGEMENT.name) if pair and is_hidden else pair
    _earlier_that_waits(board, shown)
    shown = shown.without_ratings() if is_hidden else shown
    newer_note(board, name)
    step = next_step(board, shown)
    _band(board, shown, pair, step)
    if reference is not None:
        pair_note(reference.iteration.name, name)
    found = rows_of(board, shown, reference)
    found = without_ratings(found) if is_hidden else found
    left, right = st.columns([8, 4], gap="medium")
    with left:
        on_open = access_checks.event("cockpit_open", remember_click(_KEY, [targets for _, targets in found]))
        data = {"rows": [row for row, _ in found], **legend_of(shown, reference)}
        cockpit_rows(key=_KEY, data=data, on_open_change=on_open)
    with right, st.container(gap="small", key="stays_beside"):
        _still_missing(store, board, shown, step, is_hidden=is_hidden)
        if not is_hidden:
            _behind_engagement(store, [one for one in (shown, reference) if one is not None])
        if pair and pair.reserve:
            plain(pair.reserve)
        if is_hidden:
            hidden_note(store)
        decision_form(store, shown, is_main=step is NextStep.RECORD)
        _what_else(shown, pair, step, is_hidden=is_hidden)
    return pair


def pair_of(board: Board, shown: IterationSummary, reference: IterationSummary | None) -> IterationComparison | None:
    """The comparison of an iteration with its reference; ``None`` unless both have games."""
    if reference is None or not (reference.games and shown.games):
        return None
    between = (reference.iteration.name, shown.iteration.name)
    return resources.once(compare_iterations, between, board, *between)


def rows_of(board: Board, shown: IterationSummary, reference: IterationSummary | None) -> list[CockpitRow]:
    """The rows of marks of an iteration beside its reference."""
    between = (shown.iteration.name, reference.iteration.name if reference else None)
    means = resources.read(resources.store().results.rule_means, shown.iteration.name)
    return resources.once(cockpit_of, between, board, *between, means)


def _band(board: Board, shown: IterationSummary, pair: IterationComparison | None, step: NextStep) -> None:
    """The answer in its colour, what changed and how it did in a sentence, the facts, and what is to be done next."""
    decision, recorded = shown.decision, shown.iteration.recorded
    status = recorded.fate if recorded else decision and decision.answer
    said = (not recorded and caveat(board, shown)) or shown.answer
    words = f"{said[0].upper()}{said[1:]}"
    own = decision.reference if decision else None
    if pair is not None and own is not None and pair.before.iteration.name != own:
        words = f"{words}: that is against its own reference, {cut(str(own), LONGEST_NAME)}."
    color = look(status).color if status else "gray"
    edge = color if recorded else "gray"
    shown_as = {one.outcome for one in pair.comparison.values()} if pair else set()
    if color == "green" and (Outcome.BETTER not in shown_as or Outcome.WORSE in shown_as):
        # Green says that it is shown to be better, whatever the rule or a person made of it.
        color = "gray"
    told = sentence(board, shown, pair)
    if pair is not None:
        names = pair.before.iteration.name, pair.after.iteration.name
        length = resources.read(stored_message_lengths, *names)
        told = f"{told} {length_words(length)}" if changed_much(length) else told
    with answer(words, told, chips(shown, pair), color=color, edge=edge):
        if step is NextStep.RATE:
            hand_over(shown.iteration.name, waiting_games(board, shown))
        elif step is not NextStep.RECORD and st.button(str(step), key="next_step", type="primary"):
            _go(shown, step)


def _earlier_that_waits(board: Board, shown: IterationSummary) -> None:
    """A line beside the current iteration about an earlier one that is not decided, and a button that shows it."""
    earlier = board.waiting_before
    if earlier is None or shown is not board.current:
        return
    unrated = sum(one.metrics[ENGAGEMENT.name].status is Status.PENDING for one in earlier.games)
    waits = f"the rating of {counted(unrated, 'game')}" if unrated else "a decision"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.text(f"{cut(earlier.iteration.name, LONGEST_NAME)} waits for {waits}.", width="content")
        to = {state.ITERATION: earlier.iteration.name}
        st.button("Show it", key="show_waiting", type="tertiary", on_click=state.set_widgets, args=(to,))


def _still_missing(store: Store, board: Board, shown: IterationSummary, step: NextStep, *, is_hidden: bool) -> None:
    lines = blockers(shown, is_hidden=is_hidden)[:_MOST_LINES]
    outlook = shown.decision.outlook if shown.decision and step is NextStep.RATE else ""
    with st.container(gap=None):
        if lines:
            # A game that failed critically is nothing that is missing.
            is_missing = step in (NextStep.RATE, NextStep.ADD_GAMES) and not lines[0].startswith("✗")
            st.markdown("**Still missing**" if is_missing else "**What decides it**")
            plain("\n".join((*lines[:-1], f"{lines[-1]} {outlook}".strip())))
        elif shown.decision is not None and not is_hidden and (is_settled(shown) or not shown.decision.missing):
            # The reasons count and name ratings.
            st.markdown("**What the rule says**")
            # That none was named, and what decides then, the form says.
            unnamed, reserve = unnamed_target_words(shown.decision.target), caveat(board, shown)
            said = [one for one in shown.decision.explanation if one != unnamed][:1]
            plain("\n".join((*([f"{reserve}."] if reserve else []), *said)))
    if beyond := failing_beyond_score(shown.games):
        words, game = beyond
        plain(words)
        ledger = resources.read(store.results.load, game.transcript_id)[ANTI_REPETITION.name].ledger
        message = next((row.refers_to for row in ledger if row.details.get("fails") and row.refers_to), "")
        transcript_link("Open a message with it", transcript=game.transcript_id, message=message)
    if critical := critical_failures(shown, is_hidden=is_hidden):
        transcript_link("Open the first that failed", transcript=critical[0].transcript_id)


def _what_else(shown: IterationSummary, pair: IterationComparison | None, step: NextStep, *, is_hidden: bool) -> None:
    """Shows what would make the answer surer: more games, ratings, verdicts to check."""
    if not is_hidden and (more := more_games_sentence(shown, pair)):
        plain(more)
    if step is NextStep.RATE:
        team_link()
    waiting, deciding = resources.read(stored_review_counts, shown.iteration.name)
    if waiting:
        label = f"{counted(waiting, 'verdict')} to check, {deciding or 'none'} decisive alone"
        query = {state.GAMES_PART: state.CHECK_VERDICTS, state.CHECKED_GAMES: shown.iteration.name}
        st.page_link(page_links.GAMES_PAGE, label=label, query_params=query)


def _behind_engagement(store: Store, shown: Sequence[IterationSummary]) -> None:
    """Says which scores a lead decided, and who may have given those that count without reading the games."""
    games = {one.transcript_id for side in shown for one in side.games}
    decisions = resources.read(store.engagement_decisions.current)
    given = {(one.transcript_id, one.score) for one in resources.read(store.ratings.current)}
    scores = Counter(game for game, _ in given if game in games)
    if decided := scores.keys() & decisions.keys():
        who = listed(sorted({shortened(decisions[game].who, LONGEST_NAME) for game in decided}))
        differ = sum(count > 1 for count in scores.values())
        many = f"{len(decided)} of {counted(len(scores), 'score')}"
        plain(f"Engagement: {many} decided by {who}; raters differ on {counted(differ, 'game')}.")
    habits, _ = visible_habits(store, games - decided)
    if told := [f"{shortened(rater, LONGEST_NAME)}: {one.words}." for rater, one in sorted(habits.items())]:
        plain("\n".join(("Engagement rests on these ratings:", *told[:_MOST_LINES])))
        query = {state.TEAM_VIEW: state.ASSIGN, state.HABITS: "true"}
        st.page_link(page_links.TEAM_PAGE, label="Which games, and how long each took", query_params=query)


def _go(shown: IterationSummary, step: NextStep) -> None:
    if step is NextStep.READ:
        st.switch_page(page_links.GAMES_PAGE, query_params={"of_iteration": shown.iteration.name})
    begun = {state.CHANGED_FROM: shown.iteration.name} if step is NextStep.NEXT_ITERATION else {}
    st.switch_page(page_links.GAMES_PAGE, query_params={state.GAMES_PART: state.ADD_GAMES, **begun})
