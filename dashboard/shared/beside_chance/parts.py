"""Scores beside chance on Trends and Compare: the switch, the companion's chart, and the notes below them."""

from __future__ import annotations

from collections.abc import Hashable

import pandas as pd
import streamlit as st

from dashboard.shared import resources
from dashboard.shared.beside_chance import companion_data
from dashboard.shared.charts.drawing import draw_chart
from dashboard.shared.notices import plain
from evaluation.text.display import shortened

_MOST_SIDES = 6
_LONGEST_NAME = 40
_NO_ZOOM = {"displayModeBar": False}


def beside_chance_toggle() -> bool:
    """Whether scores are shown beside chance; the choice stands in the URL."""
    return st.toggle(
        "Beside chance",
        key="chance",
        bind="query-params",
        help="Adds what the score would be by chance, and the companion: a graded measure of the same thing.",
    )


def chance_notes(points: pd.DataFrame, *, are_drawn: bool = True) -> None:
    """Notes on reading the scores by chance, and the games that have none yet.

    Args:
        points: One row per game and metric, with the columns of ``companion_data.POINT_COLUMNS``.
        are_drawn: Whether charts follow, rather than tables.
    """
    if are_drawn:
        st.caption(
            "Open triangles on the dotted line: what chance gives, from copies of the same games in which what the "
            "metric measures is destroyed. Below a score stands its companion, where it has one."
        )
    if waiting := companion_data.waiting_words(
        [shortened(one, _LONGEST_NAME) for one in companion_data.waiting_games(points)]
    ):
        plain(f"{waiting}. That is done after each import; to do it now: dramaturg reevaluate --controls.")


def companion(points: pd.DataFrame, metric: str, drawn: tuple[Hashable, ...]) -> None:
    """One metric's companion as a chart, and every iteration beside chance in words.

    Args:
        points: The metric's games.
        metric: Its name.
        drawn: Tells this chart from others of the same data.
    """
    label = companion_data.companion_label(points)
    if label:
        st.caption(f"Companion: {label}")
        draw_chart(
            resources.once(companion_data.companion_figure, drawn, points, metric),
            key=f"companion_{metric}",
            config=_NO_ZOOM,
            alt=resources.once(companion_data.companion_alt, drawn, points),
        )
    in_words(points)


def in_words(points: pd.DataFrame) -> None:
    """Every iteration beside chance in words, those of one metric."""
    said = [
        f"{shortened(side.iteration, _LONGEST_NAME)}: {side.summary.words}"
        for side in companion_data.sides_of(points)
        if side.summary.words
    ]
    if len(said) > _MOST_SIDES:
        with st.expander(f"All {len(said)} iterations in words"):
            plain("\n".join(said))
    elif said:
        plain("\n".join(said))
    else:
        st.caption("It has no chance level: no rearrangement of a game destroys what it measures.")
