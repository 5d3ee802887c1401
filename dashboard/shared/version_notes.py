"""Notes above a page: a newer iteration, weak metrics, and scores of several versions, with a button to score again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import streamlit as st

from dashboard.shared import changes, resources
from dashboard.shared.answer import Fact
from dashboard.shared.changes import attempt
from dashboard.shared.jobs import jobs
from dashboard.shared.page_links import add_games_link
from evaluation.access import Action
from evaluation.experiments.results import measure_label
from evaluation.iterations.board import Board, VersionMix
from evaluation.iterations.game_tests import LONGEST_NAME
from evaluation.iterations.keep_or_revert import FEWEST_GAMES
from evaluation.rubric.definitions import ENGAGEMENT, VERSIONS
from evaluation.score import MetricResult
from evaluation.store import Store
from evaluation.text.display import counted, shortened
from evaluation.validity import metric_trust, trust_sentence

_REMEDY = "Score the games again by today's definitions; ratings and overrides stand, older results stay on record."


def versions_banner(store: Store) -> None:
    """A warning over all that is stored, and a button that scores outdated games again; nothing when all compare."""
    found = resources.read(changes.versions)
    if not found.all:
        return
    _warning(store, [f"**{_head(found.all)}**", *(mix.words for mix in found.all)], found.outdated)


def outdated_note(store: Store, results: Mapping[str, MetricResult]) -> None:
    """A warning over one game whose results are of other versions than today's; nothing when none is."""
    old = [
        f"{result.definition.label} (version {result.definition.version}, today {VERSIONS[name]})"
        for name, result in results.items()
        if name != ENGAGEMENT.name and result.definition.version != VERSIONS[name]
    ]
    if old:
        told = f"Scored before a definition changed: {', '.join(old)}. These scores do not compare with newer ones."
        _warning(store, [told], resources.read(changes.versions).outdated)


def _warning(store: Store, told: Sequence[str], games: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.warning(" ".join([*told, _REMEDY]), icon=":material/difference:")
        st.button(
            f"Score {counted(games, 'game')} again",
            key="reevaluate",
            icon=":material/refresh:",
            disabled=jobs.running(store, jobs.REEVALUATE) is not None,
            on_click=_start,
            args=(store,),
        )


def trust_facts(scored: Collection[str], target: str | None, rests: str, decides: str = "decides") -> list[Fact]:
    """The measure that decides, or else metrics that say little, as a fact below an answer; none where there is none.

    Args:
        scored: The metrics that the page shows.
        target: The one that decides, if any.
        rests: What rests on it, the beginning of a sentence.
        decides: Words before its name.
    """
    known = {one.metric: one.trust for one in metric_trust()}
    weak = trust_sentence(metric_trust(), scored, target, rests)
    trust = f", {known[target]}" if target in known else ""
    words = f"{decides}: {measure_label(target)}{trust}" if target else weak.rstrip(".")
    return [Fact(words, "orange" if target and weak else "gray", weak)] if words else []


def pair_note(before: str, after: str) -> None:
    """A warning beside the comparison of two iterations whose games were scored by several versions."""
    mixes = [mix for mix in resources.read(changes.mixes_between, before, after) if mix.is_mixed]
    if mixes:
        words = " ".join(mix.words for mix in mixes)
        st.warning(f"{words} Score them again before you decide.", icon=":material/difference:")


def _head(mixes: Sequence[VersionMix]) -> str:
    if any(mix.is_mixed for mix in mixes):
        return "These scores come from several versions of a metric."
    return "A metric's definition has changed since these games were scored."


def _start(store: Store) -> None:
    attempt(lambda: jobs.start(store, jobs.REEVALUATE), "Scoring games again.", Action.EVALUATE)


def newer_note(board: Board, shown: str) -> None:
    """Draws the line with a link to adding games; nothing where the iteration called ``shown`` is the newest."""
    newer = board.newer_than(shown)
    if newer is not None:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            name = shortened(newer.iteration.name, LONGEST_NAME)
            st.text(f"{name} is newer: {len(newer.games)} of {FEWEST_GAMES} games.", width="content")
            add_games_link("Add games")
