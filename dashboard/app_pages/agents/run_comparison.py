"""Two evaluation runs side by side: what changed, game by game and claim by claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from dashboard.app_pages.agents.profile_data import claim_text
from dashboard.app_pages.agents.scores import show_judgements
from dashboard.shared import personas, resources, state
from dashboard.shared.answer import answer
from dashboard.shared.charts.comparison_charts import dimension_alt, dimension_figure
from dashboard.shared.comparison_tables import DIMENSION_LABELS, difference_rows, signed
from dashboard.shared.drawing import draw_chart
from dashboard.shared.local_time import local_time
from dashboard.shared.notices import empty_state, plain
from dashboard.shared.page_links import transcript_link
from dashboard.shared.personas import SelectableAgent
from dashboard.shared.status_table import json_download, pick_row, status_table
from evaluation.comparison.runs import (
    NO_CHANGE,
    Run,
    RunComparison,
    finding_words,
    outlier_words,
    run_comparison_data,
    runs_apart_words,
)
from evaluation.judging.propositions import Dimension
from evaluation.statistics.comparison import Difference, Summary
from evaluation.statistics.words import change_of, change_words
from evaluation.text.display import counted, fixed, shortened
from evaluation.workflows.iterations import stored_run_comparison

_LONGEST = 300
_LEAST_MOVE = 0.5
_RUN_WIDTH = 210


def compare_runs(person: SelectableAgent, evaluate: Callable[[], None]) -> None:
    """Two runs of an agent side by side, chosen by the URL; the last two at first.

    Args:
        person: The agent.
        evaluate: Draws the button that starts another run.
    """
    runs = [Run.of(row) for row in resources.read(personas.completed_runs, person.id)]
    if len(runs) < 2:
        empty_state(
            "Two completed evaluation runs are needed",
            "A run holds one agent against its claims. Run again after a change of the persona, the prompt or "
            "the judge, and see here what it did.",
        )
        with st.container(horizontal=True, horizontal_alignment="center"):
            evaluate()
        return
    with state.head():
        before, after = _pick(runs)
    if before == after:
        st.info("Both sides are the same run. Choose another one to compare with.", icon=":material/info:")
        return
    numbers = {run.id: number for number, run in enumerate(runs, 1)}
    sides = {run.id: run for run in runs}
    if apart := runs_apart_words({f"Run {numbers[before]}": sides[before]}, sides[after]):
        plain(apart)
        st.info("Choose two runs of one judge, or run the agent again with the same one.", icon=":material/balance:")
        return
    found = resources.read(stored_run_comparison, before, after)
    known = {one.name: one for one in found.comparison.values() if one.before.n and one.after.n}
    with answer(*_conclusion(found, numbers[after])):
        evaluate()
    if not known:
        st.info(
            "Nothing to compare game by game: choose two runs of an agent that speaks in at least two games.",
            icon=":material/info:",
        )
        return
    status_table(_short_rows(found), "Every dimension: what the comparison shows, and the means")
    games = next(iter(known.values()))
    st.caption(
        f"Means over {games.before.n} games before and {games.after.n} after, from 0 to 9 or counted. They are not the "
        "scores of Profiles, which count claims that are asked once over all games, too, and so change less."
    )
    _one_dimension(found, known)
    _movers(found)
    with st.expander("Show the numbers", key="comparison_numbers"):
        _numbers(found)


def _conclusion(found: RunComparison, number: int) -> tuple[str, str]:
    """A headline on whether the later run is to be preferred, and a sentence on why."""
    words = finding_words(found)
    if not words:
        return "Neither run has a score.", ""
    if words.startswith(NO_CHANGE):
        return f"No reason to prefer run {number}.", words.removeprefix(NO_CHANGE)
    first, _, others = words.partition("; ")
    return f"Run {number} is {first.rstrip('.')}.", others


def _pick(runs: list[Run]) -> tuple[str, str]:
    names = {run.id: f"Run {number}, {local_time(run.created_at)}" for number, run in enumerate(runs, 1)}
    chosen = []
    for label, key, place in (("Before", "run_before", -2), ("After", "run_after", -1)):
        # The choice may be a run of the agent that was looked at before.
        if key in st.session_state and st.session_state[key] not in names:
            state.set_widgets({key: list(names)[place]})
        chosen.append(
            st.selectbox(
                label,
                list(names),
                index=len(names) + place,
                format_func=names.__getitem__,
                key=key,
                bind="query-params",
                width=_RUN_WIDTH,
            )
        )
    return chosen[0], chosen[1]


def _short_rows(found: RunComparison) -> list[dict[str, object]]:
    """One row per dimension with a score: ``Dimension``, ``Verdict``, and the means that were compared."""
    return [
        {
            "Dimension": DIMENSION_LABELS[one.name],
            "Verdict": signed(one.outcome, one.words) if one.before.n or one.after.n else "one score a run, no test",
            "Before": _mean(one.before, before),
            "After": _mean(one.after, after),
            "Change": _change(one, before, after),
        }
        for one in found.comparison.values()
        for before, after in [(_score(found.before, one.name), _score(found.after, one.name))]
        if before is not None or after is not None
    ]


def _change(one: Difference, before: float | None, after: float | None) -> str:
    """The change of the two means that stand beside it; empty where one is of games and the other of a whole run."""
    if one.before.n and one.after.n:
        return change_of(one, "")
    if one.before.n or one.after.n or before is None or after is None:
        return ""
    return change_words(before, after, "")


def _mean(games: Summary, whole: float | None) -> str:
    return fixed(games.mean) if games.n else "no score" if whole is None else fixed(whole)


def _numbers(found: RunComparison) -> None:
    compared = zip(
        difference_rows(found.comparison, DIMENSION_LABELS, "Dimension"), found.comparison.values(), strict=True
    )
    rows = [
        {key: row[key] for key in ("Dimension", "Verdict")} | {"Scores of the runs": _run_scores(found, one.name)} | row
        for row, one in compared
    ]
    status_table(rows, "Every dimension's difference with its interval and what it shows")
    st.caption(
        "Means, intervals and tests are over games, each with one value. Scores of the runs, which profiles show, are "
        "over all messages and claims together, also those that have no value for a game."
    )
    plain(
        "\n".join(
            f"{word}: {run.agent}, {counted(run.sample_size, 'message')} judged one by one, {run.judge or 'no judge'}"
            for word, run in (("Before", found.before), ("After", found.after))
        )
    )
    json_download("Download everything (JSON)", lambda: run_comparison_data(found), "runs.json")


def _run_scores(found: RunComparison, name: str) -> str:
    parts = [personas.score_text(_score(run, name), Dimension(name)) for run in (found.before, found.after)]
    return " → ".join(parts)


def _score(run: Run, name: str) -> float | None:
    return {str(dimension): score for dimension, score in run.scores.items()}.get(name)


def _one_dimension(found: RunComparison, known: Mapping[str, Difference]) -> None:
    st.subheader("Game by game", anchor=False)
    words = DIMENSION_LABELS.__getitem__
    name = state.choose_part(list(known), key="dimension_shown", label="Dimension", words=words)
    draw_chart(
        dimension_figure(known[name]),
        key="run_distribution",
        alt=dimension_alt(known[name], DIMENSION_LABELS[name]),
    )
    shown = known[name]
    odd = (
        outlier_words(side.values, f"{DIMENSION_LABELS[name]} {word}")
        for word, side in (("before", shown.before), ("after", shown.after))
        if name != Dimension.IDEAS_QUANTITY
    )
    legend = "Dots are games, the diamond is their mean, the line shows where the mean may lie."
    st.caption(" ".join([*filter(None, odd), legend]))
    with st.container(horizontal=True):
        for word, run in (("before", found.before), ("after", found.after)):
            st.button(
                f"Read what was judged {word}",
                key=f"judged_{word}",
                icon=":material/forum:",
                on_click=show_judgements,
                args=(run.agent_id, run.id, Dimension(name)),
            )


def _movers(found: RunComparison) -> None:
    st.subheader("Claims that differ most", anchor=False)
    moved = [one for one in found.movers if abs(one.change) >= _LEAST_MOVE]
    if not moved:
        st.caption("No claim that both runs asked differs by half a point or more.")
        return
    rows = [
        {
            "Claim": shortened(claim_text(one.claim, is_fault=one.is_inverted), _LONGEST),
            "Dimension": DIMENSION_LABELS[str(one.dimension)],
            "Before": fixed(one.before),
            "After": fixed(one.after),
            "Change": change_words(one.before, one.after, ""),
        }
        for one in moved
    ]
    if not any(one.examples for one in moved):
        status_table(rows, "Claims that differ most")
        st.caption("The two runs judged different messages, so none can be shown before and after.")
        return
    place = pick_row(rows, "Claims that differ most", "moved_claims", at_first=0)
    for example in moved[place or 0].examples:
        with st.container(gap=None):
            plain(f"{example.before:.0f} before, {example.after:.0f} after: {shortened(example.reason, _LONGEST)}")
            transcript_link("Open the message", transcript=example.transcript_id, message=example.message_id)
