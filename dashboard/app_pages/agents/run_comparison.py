"""Two evaluation runs side by side: what changed, game by game and claim by claim."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from dashboard import access_checks
from dashboard.app_pages.agents.profile_data import claim_text
from dashboard.app_pages.agents.scores import filled, show_judgements
from dashboard.shared import personas, resources, state
from dashboard.shared.answer import answer
from dashboard.shared.clicked_marks import MarkTargets, RunTarget, read_mark
from dashboard.shared.comparison_tables import DIMENSION_LABELS, difference_rows, signed
from dashboard.shared.drawing import cockpit_rows, marks_legend
from dashboard.shared.local_time import local_time
from dashboard.shared.notices import empty_state, plain
from dashboard.shared.page_links import transcript_link
from dashboard.shared.personas import SelectableAgent
from dashboard.shared.status_table import pick_row, status_table
from evaluation.comparison.runs import (
    NO_CHANGE,
    Run,
    RunComparison,
    finding_words,
    runs_apart_words,
)
from evaluation.judging.answers import HIGHEST_SCORE
from evaluation.judging.propositions import Dimension
from evaluation.statistics.comparison import Difference
from evaluation.statistics.words import change_words
from evaluation.text.display import counted, fixed, shortened
from evaluation.workflows.iterations import stored_run_comparison

_LONGEST = 300
_LEAST_MOVE = 0.5
_RUN_WIDTH = 210
_ROWS = "run_rows"


def compare_runs(person: SelectableAgent, evaluate: Callable[[], None]) -> None:
    """Two runs of an agent side by side, chosen by the URL, the last two at first; then all of its runs.

    Args:
        person: The agent.
        evaluate: Draws the button that starts another run.
    """
    _side_by_side(person, evaluate)
    if history := filled(resources.read(personas.run_history, person.id)):
        st.subheader("All runs", anchor=False)
        st.caption("Means here are over all messages of a run; above, every game counts once.")
        status_table(history, "All runs of this agent, the latest first")


def _side_by_side(person: SelectableAgent, evaluate: Callable[[], None]) -> None:
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
    with answer(*_conclusion(found, numbers[after])):
        evaluate()
    if not any(one.before.n and one.after.n for one in found.comparison.values()):
        st.info(
            "Nothing to compare game by game: choose two runs of an agent that speaks in at least two games.",
            icon=":material/info:",
        )
        return
    names = (f"Run {numbers[before]}", f"Run {numbers[after]}")
    _marks(found, names)
    _movers(found, names)
    with st.expander("Show the numbers", icon=":material/table:", key="comparison_numbers"):
        _numbers(found, names)


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
    for label, key, place in (("Compared with", "run_before", -2), ("Run", "run_after", -1)):
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


def _marks(found: RunComparison, names: tuple[str, str]) -> None:
    """A row of marks for each dimension with a score; a mark opens the judgements of its run."""
    rows = [row for one in found.comparison.values() if (row := _row(found, one, names)) is not None]
    targets = [targets for _, targets in rows]

    def react() -> None:
        target = read_mark(state.sent(_ROWS, "open"), targets)
        if isinstance(target, RunTarget):
            st.session_state[state.AGENTS_VIEW] = state.PROFILES
            show_judgements(target)

    data = {
        "rows": [row for row, _ in rows],
        "legend": marks_legend(
            f"{names[1]}, mean of its games", names[0], f"a game, open of {names[0]}", "a mark opens its judgements"
        ),
        "now": names[1],
        "ticks": [0, 3, 6, 9],
    }
    cockpit_rows(key=_ROWS, data=data, on_open_change=access_checks.event("profile_open", react))


def _row(found: RunComparison, one: Difference, names: tuple[str, str]) -> tuple[dict[str, Any], MarkTargets] | None:
    """One dimension; a run without a value for a game stands by the score of the whole run, ``None`` for neither."""
    runs, summaries = (found.before, found.after), (one.before, one.after)
    means = [side.mean if side.n else _score(run, one.name) for run, side in zip(runs, summaries, strict=True)]
    if means == [None, None]:
        return None
    before, after = means
    counts = one.name == Dimension.IDEAS_QUANTITY
    highest = [max(side.values, default=0.0) for side in summaries if counts]
    top = max([1.0 if counts else HIGHEST_SCORE, *(mean or 0 for mean in means), *highest])
    texts = [f"{name}: {'no score' if mean is None else fixed(mean)}" for name, mean in zip(names, means, strict=True)]
    interval, label = one.after.interval, DIMENSION_LABELS[one.name]
    outcome = signed(one.outcome, one.words) if one.before.n or one.after.n else "one score a run, no test"
    row = {
        "label": label,
        "words": ", ".join((label, *texts, outcome)),
        "before": None if before is None else before / top,
        "after": None if after is None else after / top,
        "interval": [max(0.0, low / top), min(1.0, high / top)]
        if (low := interval.low) is not None and (high := interval.high) is not None
        else None,
        "games": [
            {"place": value / top, "label": f"A game of {name}: {fixed(value)}", "isBefore": name == names[0]}
            for name, side in zip(names, summaries, strict=True)
            for value in side.values
        ],
        "isNote": not any(side.n for side in summaries),
        "texts": {
            "current": "no score" if after is None else fixed(after),
            "change": _change(one, before, after),
            "before": texts[0],
            "after": texts[1],
            "outcome": outcome,
            "threshold": f"axis 0 to {fixed(top)}" * (top != HIGHEST_SCORE),
        },
    }
    earlier, later = (RunTarget(run.agent_id, run.id, one.name) for run in runs)
    return row, {
        "metric": [later],
        "before": [earlier],
        "after": [later],
        "game": [earlier] * one.before.n + [later] * one.after.n,
    }


def _change(one: Difference, before: float | None, after: float | None) -> str:
    """The change; empty where one is of games and the other of a whole run."""
    is_alike = bool(one.before.n) == bool(one.after.n)
    return change_words(before, after, "") if is_alike and before is not None and after is not None else ""


def _numbers(found: RunComparison, names: tuple[str, str]) -> None:
    rows = difference_rows(found.comparison, DIMENSION_LABELS, names, "Dimension")
    status_table(rows, "Every dimension's difference with its interval and what it shows")
    judged = (
        f"{name}: {run.agent}, {counted(run.sample_size, 'message')} judged one by one, {run.judge or 'no judge'}"
        for name, run in zip(names, (found.before, found.after), strict=True)
    )
    plain("\n".join(judged))


def _score(run: Run, name: str) -> float | None:
    return {str(dimension): score for dimension, score in run.scores.items()}.get(name)


def _movers(found: RunComparison, names: tuple[str, str]) -> None:
    st.subheader("Claims that differ most", anchor=False)
    moved = [one for one in found.movers if abs(one.change) >= _LEAST_MOVE]
    if not moved:
        st.caption("No claim that both runs asked differs by half a point or more.")
        return
    rows = [
        {
            "Claim": shortened(claim_text(one.claim, is_fault=one.is_inverted), _LONGEST),
            "Dimension": DIMENSION_LABELS[str(one.dimension)],
            names[0]: fixed(one.before),
            names[1]: fixed(one.after),
            "Change": change_words(one.before, one.after, ""),
        }
        for one in moved
    ]
    if not any(one.examples for one in moved):
        status_table(rows, "Claims that differ most")
        st.caption("The two runs judged different messages, so none can be shown in both.")
        return
    place = pick_row(rows, "Claims that differ most", "moved_claims", at_first=0)
    for example in moved[place or 0].examples:
        with st.container(gap=None):
            scores = f"{names[0]}: {example.before:.0f}, {names[1]}: {example.after:.0f}"
            plain(f"{scores}. {shortened(example.reason, _LONGEST)}")
            transcript_link("Open the message", transcript=example.transcript_id, message=example.message_id)
