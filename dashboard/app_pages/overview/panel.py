"""The tabs below the decision: reasons, messages, prompts, games, numbers and advice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from dashboard.app_pages.overview import sections as parts
from dashboard.app_pages.overview.numbers_tab import numbers
from dashboard.app_pages.overview.why_messages_fail import why_messages_fail
from dashboard.shared import page_links, queries, resources, state
from dashboard.shared.comparison_tables import METRIC_LABELS
from dashboard.shared.formatting import UNITS
from dashboard.shared.game_rows import draw_games, unseen_ratings_hidden
from dashboard.shared.notices import plain
from dashboard.shared.status_table import open_below, status_table
from evaluation.comparison.iterations import IterationComparison, is_cut, length_words, prompt_diff, typical_pair
from evaluation.comparison.movers import Mover
from evaluation.iterations.board import Board, IterationSummary
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT, score_words
from evaluation.statistics.comparison import Outcome
from evaluation.statistics.words import change_words
from evaluation.store import Store
from evaluation.text.display import counted, fixed
from evaluation.workflows.iterations import stored_comparison, stored_message_lengths

TABS = ("Reasons", "Messages", "Prompt", "Games", "Numbers", "Advice")


def panel(
    store: Store,
    board: Board,
    shown: IterationSummary,
    reference: IterationSummary | None,
    pair: IterationComparison | None,
    *,
    is_hidden: bool,
) -> None:
    """Draws the tabs; what a tab shows is read when it is opened. Advice is there only where something fails or fell.

    Args:
        store: Where to read.
        board: All iterations.
        shown: The one in question.
        reference: What it is compared with, if anything.
        pair: Their comparison, where both have games.
        is_hidden: Whether the ratings of their games are hidden from the person.
    """
    # Advice rests on ratings, too.
    is_advised = not is_hidden and parts.is_advised(shown, pair)
    names = [one for one in TABS if is_advised or one != "Advice"]
    tabs = st.tabs(names, key=state.PANEL, on_change="rerun", bind="query-params")
    opened = next((one for one, tab in zip(names, tabs, strict=True) if tab.open), names[0])
    before = reference.iteration.name if reference else None
    found = None
    if before and pair and opened in ("Messages", "Games", "Numbers", "Advice"):
        found = resources.read(stored_comparison, before, shown.iteration.name)
        found = found.without(ENGAGEMENT.name) if is_hidden else found
    with tabs[names.index(opened)]:
        if opened == "Reasons":
            if before and (
                length := length_words(resources.read(stored_message_lengths, before, shown.iteration.name))
            ):
                plain(length)
            why_messages_fail(shown.iteration.name, before)
        elif opened == "Prompt":
            _prompts(shown, reference)
        elif opened == "Games":
            _games(shown, found, is_hidden=is_hidden)
        elif opened == "Advice":
            parts.advice(store, board, shown, found)
        elif found is None:
            st.caption("There is nothing to compare it with: choose what it is compared with above.")
        elif opened == "Messages":
            _movers(found)
        else:
            numbers(found, with_files=not is_hidden)


def _games(shown: IterationSummary, found: IterationComparison | None, *, is_hidden: bool) -> None:
    with st.container(horizontal=True, gap="small"):
        query = {"of_iteration": shown.iteration.name}
        st.page_link(page_links.GAMES_PAGE, label="All its games", query_params=query)
        # Which two are typical depends on their ratings, too.
        pair = typical_pair(found.before.games, found.after.games, found.pairs) if found and not is_hidden else None
        if pair is not None:
            st.page_link(
                page_links.GAMES_PAGE,
                label="Two typical games side by side",
                query_params={state.TRANSCRIPT: pair[0], state.BESIDE: pair[1]},
                help="The two games whose difference is closest to that of the means.",
            )
    games = resources.share(queries.transcript_list)
    games = games[games["iteration"] == shown.iteration.name]
    draw_games(unseen_ratings_hidden(games), "iteration_games")
    if is_hidden:
        st.caption("Tests rest on ratings, and are hidden from you until you have rated these games.")
    else:
        parts.tests(shown)


def _movers(found: IterationComparison) -> None:
    """Reasons and players that moved the scores, by metric; a row opens its messages."""
    kinds = list(dict.fromkeys(one.kind for one in found.movers))
    if not kinds:
        st.caption("No reason and no player cost more points on one side than on the other.")
        return
    # The same points are listed by reason and again by player.
    labels = [f"By {kind}" for kind in kinds]
    kind = kinds[labels.index(state.choose_part(labels, key="moved", label="Messages"))]
    moved = _merged([one for one in found.movers if one.kind == kind])
    largest = {one.metric: max(abs(other.change) for other in moved if other.metric == one.metric) for one in moved}
    rank = {metric: _RANK.get(one.outcome, 1) for metric, one in found.comparison.items()}
    shown = sorted(moved, key=lambda one: (rank[one.metric], -largest[one.metric], one.metric, -abs(one.change)))
    rows = [
        {
            kind.capitalize(): one.label,
            "Change, points": change_words(one.after, one.before, ""),
            "Points lost": f"{fixed(one.before)} to {fixed(one.after)}",
            "Cases": f"{one.before_rows} to {one.after_rows}",
        }
        for one in shown
    ]
    groups = [_change_of_metric(found, one.metric) for one in shown]
    # A row is named in the address by its place; at first the first one is open.
    wanted = state.chosen(_MOVER, [f"{kind} {place}" for place in (_CLOSED, *map(str, range(len(shown))))])
    last = (wanted or f"{kind} 0").split()[-1]
    place = None if last == _CLOSED else int(last)

    def draw() -> None:
        chosen = shown[place or 0]
        columns = st.columns(2, gap="medium") if all(chosen.sides) else [st.container() for _ in chosen.sides]
        sides = zip(columns, found.names, chosen.sides, chosen.counts, strict=True)
        for at, (column, name, examples, count) in enumerate(sides):
            rest = f", {len(examples)} of {count} shown" if len(examples) < count else ""
            with column:
                plain(f"{name}: {counted(count, UNITS.get(chosen.metric, 'message'))}{rest}")
                if examples:
                    parts.example_rows(examples, chosen.metric, chosen.label, f"moved_{kind}_{place}_{at}")

    pressed = open_below(rows, f"Each {kind} that moved the scores", "movers", place, draw, groups=groups)
    st.caption(
        "Points of 100, from the reference to this iteration: the largest rises and falls, and the first of each "
        "metric. With those that are not listed they add up to the change of the mean over games. A message counts "
        "once for each claim or phrase in it, however often it uses the phrase."
    )
    if pressed is not None:
        state.choose(**{_MOVER: f"{kind} {_CLOSED if pressed == place else pressed}"})
        st.rerun()


_MOVER, _CLOSED = "mover", "none"
_RANK = {Outcome.BETTER: 0, Outcome.WORSE: 0, Outcome.AT_CHANCE: 2}
"""Metrics that changed beyond luck stand first, those of which nothing is concluded last."""
_DETAIL = re.compile(r" \([^()]*\)(?=\.$)")
_MOST_EXAMPLES = 100
_SUMS = ("before", "after", "before_rows", "after_rows")


def _merged(movers: Sequence[Mover]) -> list[Mover]:
    """The movers, those in one whose reasons differ in what stands in brackets at their end alone."""
    alike: dict[tuple[str, str, bool], Mover] = {}
    for one in movers:
        label = _DETAIL.sub("", one.label) if one.kind == "reason" else one.label
        held = alike.get(key := (one.metric, label, one.change > 0))
        lost = {name: getattr(one, name) + (getattr(held, name) if held else 0) for name in _SUMS}
        shown = {
            name: (getattr(held, name, ()) + getattr(one, name))[:_MOST_EXAMPLES] for name in ("examples", "beside")
        }
        alike[key] = replace(one, label=label, **shown, **lost)
    return list(alike.values())


def _change_of_metric(found: IterationComparison, metric: str) -> str:
    sides = (found.comparison[metric].before, found.comparison[metric].after)
    return f"{METRIC_LABELS[metric]}: {' to '.join(score_words(DEFINITIONS[metric], side.mean) for side in sides)}"


def _prompts(shown: IterationSummary, reference: IterationSummary | None) -> None:
    """The change in words, and the two prompt texts, line by line, else the one there is."""
    if shown.iteration.change:
        plain(shown.iteration.change)
    after = shown.iteration.prompt_text
    before = reference.iteration.prompt_text if reference else ""
    missing = [one.iteration.name for one in (reference, shown) if one and not one.iteration.prompt_text]
    if missing:
        plain(f"No prompt text was stored for {' and '.join(missing)}. It is entered under More, Description.")
    if reference is None or missing:
        if after:
            st.code(after, language=None, wrap_lines=True)
        return
    changed = prompt_diff(before, after)
    if not changed:
        st.caption("Both prompts are the same, word for word.")
        return
    if is_cut(before, after):
        st.caption("Only the first 1,000 lines are compared.")
    lines = [f"\u2212{line.text[1:]}" if line.text.startswith("- ") else line.text for line in changed]
    heading = f"{reference.iteration.name} → {shown.iteration.name}"
    status_table(
        [{heading: line} for line in lines],
        "The prompt's lines: left out, unchanged and new",
        marks={heading: [line.marks for line in changed]},
        is_code=True,
    )
