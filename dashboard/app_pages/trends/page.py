"""The Trends page: metrics over games and iterations; cost, behaviour and agents beside them."""

import pandas as pd
import streamlit as st

from dashboard.app_pages.trends import data
from dashboard.app_pages.trends import views as parts
from dashboard.app_pages.trends.behaviour_data import behaviour_sentence
from dashboard.app_pages.trends.views import behaviour, behaviour_of_iterations, games_cost, model_calls
from dashboard.shared import queries, resources, state
from dashboard.shared.answer import answer
from dashboard.shared.charts.metric_charts import MOST_WITH_NOTES
from dashboard.shared.clicked_marks import open_clicked_mark
from dashboard.shared.identity.visible_games import games_of, hidden_note, is_engagement_hidden
from dashboard.shared.page_links import no_games_yet
from dashboard.shared.version_notes import newer_note, trust_facts, versions_banner
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT

_AGENTS_OPEN = "agents_open"


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
    found = data.steps(board, is_hidden=is_engagement_hidden(resources.store(), games_of(board)))
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
            help="They stand to the right of all iterations.",
        )
    first, last = parts.pick_range(found)
    if part == state.COST_AND_BEHAVIOUR:
        with sentence:
            beside = data.references(found)
            headline, goals = parts.cost_of_a_game(beside, first, last, with_loose=with_loose)
            answer(headline, f"{goals}\n{behaviour_sentence(_up_to(found, last), beside)}".strip())
        cost_and_behaviour(first, last, with_loose=with_loose)
        return
    is_shown = (points["position"].between(first, last) & ~is_loose) | (is_loose & with_loose)
    shown = points if is_shown.all() else points[is_shown]
    is_hidden = is_engagement_hidden(resources.store(), shown["transcript_id"].unique())
    shown = shown[shown["metric"] != ENGAGEMENT.name] if is_hidden else shown
    if shown.empty:
        head = "No game of these iterations is stored." if found else "No game belongs to an iteration yet."
        st.info(f"{head} Upload games into one, or show the games of no iteration.")
    else:
        with sentence:
            drawn = set(shown["metric"])
            limits = {name: limit for name, limit in resources.read(queries.thresholds).items() if name in drawn}
            facts = trust_facts(shown.loc[shown["score"].notna(), "metric"].unique(), None, "")
            answer(*data.sentence(shown, limits, data.references(found)), facts)
            if is_hidden:
                hidden_note(resources.store())
        metrics(shown, (with_loose, first, last, is_hidden), found[first - 1 : last])


def _up_to(found: list[data.Step], last: int) -> pd.DataFrame:
    """Behaviour in the iterations up to the last one that is shown, as the sentence is about that one."""
    frame = behaviour_of_iterations()
    return frame[frame["Iteration"].isin([one.name for one in found[:last]])] if len(frame) else frame


def metrics(shown: pd.DataFrame, chosen: tuple[object, ...], found: list[data.Step]) -> None:
    thresholds, key = resources.read(queries.thresholds), ("metrics", *chosen)
    drawn = {name: one for name, one in DEFINITIONS.items() if (shown["metric"] == name).any()}
    parts.metric_chart(shown, drawn, thresholds, key)
    if any(one.change for one in found):
        is_noted = shown["position"].nunique() <= MOST_WITH_NOTES
        with st.container(key="notes_for_a_phone" if is_noted else "notes"):
            parts.change_notes(found)
    parts.numbers(shown, drawn, thresholds, key)


def cost_and_behaviour(first: int, last: int, *, with_loose: bool) -> None:
    parts.beside_charts(first, last, with_loose=with_loose)
    with st.expander("Show the numbers", icon=":material/table:"):
        games_cost()
        behaviour()
    is_asked = model_calls()
    judged = parts.dimension_points(first, last)
    if judged.frame.empty:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                "No agent that speaks in these iterations was evaluated yet."
                if is_asked
                else "No model was asked yet, and no agent was evaluated.",
                width="content",
            )
            st.page_link("app_pages/agents/page.py", label="Evaluate agents")
        return
    with state.linked_box("Agents over iterations", _AGENTS_OPEN, icon=":material/theater_comedy:") as is_open:
        if is_open:
            parts.persona_dimensions(judged, first, last)


show()
