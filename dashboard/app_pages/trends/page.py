"""The Trends page: metrics over games and iterations; cost, behaviour and agents beside them."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard.app_pages.trends import data
from dashboard.app_pages.trends import views as parts
from dashboard.shared import queries, resources, state
from dashboard.shared.answer import answer
from dashboard.shared.clicked_marks import open_clicked_mark
from dashboard.shared.identity.visible_games import games_of, hidden_note, is_engagement_hidden
from dashboard.shared.page_links import no_games_yet
from dashboard.shared.version_notes import newer_note, trust_facts, versions_banner
from evaluation.comparison.iterations import compare_iterations
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT
from evaluation.rubric.verdict import is_metric_at_chance


def show() -> None:
    points = resources.share(queries.trend_points)
    if points.empty:
        no_games_yet(
            "trends",
            "No games yet",
            "A trend needs games in two iterations or more: the ones before a change of the prompt, and the ones "
            "after it.",
        )
        return
    open_clicked_mark(resources.store())
    versions_banner(resources.store())
    # The board that the Overview shows: of 10,000 games it takes a second.
    board = resources.share(queries.overview).board
    is_hidden = is_engagement_hidden(resources.store(), games_of(board))
    found = [one.without_ratings() if is_hidden else one for one in board.iterations]
    if board.current:
        newer_note(board, board.current.iteration.name)
    part = state.choose_view([state.METRIC_TRENDS, state.COST_AND_BEHAVIOUR], key=state.TRENDS_VIEW)
    sentence = st.container()
    is_loose = points["iteration"].isin(queries.LOOSE)
    with state.head():
        with_loose = bool(is_loose.any()) and st.toggle(
            "Games without an iteration",
            key="loose",
            bind="query-params",
            help="They are shown to the right of all iterations.",
        )
    first, last = parts.pick_range(len(found))
    within = found[first - 1 : last]
    pairs = data.step_pairs(board, within)
    if part == state.COST_AND_BEHAVIOUR:
        drawn_as = ("beside", first, last, with_loose)
        beside = parts.beside_points(first, last, with_loose=with_loose)
        steps = parts.figure_steps(beside, drawn_as, pairs)
        latest = pairs[-1] if pairs else None
        with sentence:
            answer(*data.cost_sentence(beside, latest, steps[latest] if latest else {}))
        parts.beside_charts(beside, drawn_as, steps)
        below_the_chart(beside, first, last, pairs)
        return
    is_shown = (points["position"].between(first, last) & ~is_loose) | (is_loose & with_loose)
    shown = points if is_shown.all() else points[is_shown]
    is_hidden = is_engagement_hidden(resources.store(), shown["transcript_id"].unique())
    shown = shown[shown["metric"] != ENGAGEMENT.name] if is_hidden else shown
    if shown.empty:
        head = "No game of these iterations is stored." if found else "No game belongs to an iteration yet."
        st.info(f"{head} Upload games into one, or show the games of no iteration.")
    else:
        compared = {pair: resources.once(compare_iterations, pair, board, *pair) for pair in pairs}
        if is_hidden:
            compared = {pair: found.without(ENGAGEMENT.name) for pair, found in compared.items()}
        steps = {pair: found.comparison for pair, found in compared.items()}
        between = data.ends(within)
        with sentence:
            facts = trust_facts(shown.loc[shown["score"].notna(), "metric"].unique(), None, "")
            pair = resources.once(compare_iterations, between, board, *between) if between else None
            pair = pair.without(ENGAGEMENT.name) if pair and is_hidden else pair
            head, said, sizes = data.sentence(within, pair)
            answer(head, said, sizes + facts)
            if is_hidden:
                hidden_note(resources.store())
            parts.step_table(within, compared)
        key = ("metrics", with_loose, first, last, is_hidden)
        limits = resources.read(resources.store().settings.thresholds)
        drawn = {name: one for name, one in DEFINITIONS.items() if (shown["metric"] == name).any()}
        at_chance = [
            (name, one.iteration.name)
            for one in within
            for name in drawn
            if (mean := one.means.get(name)) is not None and is_metric_at_chance(mean)
        ]
        parts.metric_chart(shown, drawn, limits, key, steps, at_chance=at_chance)
        parts.numbers(shown, drawn, limits, key)


def below_the_chart(beside: pd.DataFrame, first: int, last: int, pairs: Sequence[tuple[str, str]]) -> None:
    """The chart's numbers, calls to models and the agents of these games, as tabs; each is read when it is opened."""
    names = ("Numbers", "Calls to models", "Agents")
    tabs = st.tabs(names, key="cost_part", on_change="rerun", bind="query-params")
    opened = next((place for place, tab in enumerate(tabs) if tab.open), 0)
    with tabs[opened]:
        if opened == 0:
            parts.beside_numbers(beside)
        elif opened == 1:
            parts.model_calls()
        else:
            parts.persona_dimensions(first, last, pairs)


show()
