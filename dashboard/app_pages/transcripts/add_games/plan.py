"""Plan an import: the iteration of the uploaded games, the effect on its tests, and the start of the job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import streamlit as st

from dashboard.app_pages.transcripts.add_games.found_games import Found
from dashboard.shared.identity import identity
from dashboard.shared.jobs import jobs
from evaluation.access.roles import Action
from evaluation.iterations import Iteration
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.store import Store
from evaluation.text.display import counted


@dataclass(frozen=True, slots=True)
class UploadPlan:
    """The destination of the games: no iteration, an existing one, or one that is created first."""

    existing: str | None = None
    created: Iteration | None = None


_NONE, _OLD, _NEW = "No iteration", "An existing one", "A new one"


def iteration_form(sizes: Mapping[str, int], added: int, test_size: int) -> UploadPlan | None:
    """The choice of the iteration; ``None`` while a new one has no name.

    Args:
        sizes: How many games each iteration has, in the order of the iterations.
        added: How many games are about to join.
        test_size: How many games make a test.
    """
    names = list(sizes)
    choices = [_NEW, _OLD, _NONE] if names else [_NEW, _NONE]
    choice = st.segmented_control("Iteration", choices, default=_NEW, required=True, key="where")
    if choice == _NONE:
        st.caption("Games of no iteration are scored, but make no test and are compared with nothing.")
        return UploadPlan()
    if choice == _OLD:
        existing = st.selectbox("Which", names, index=len(names) - 1, key="existing")
        st.caption(test_words(sizes[existing], added, test_size))
        return UploadPlan(existing=existing)
    st.caption(test_words(0, added, test_size))
    return _new_iteration(names)


def test_words(before: int, added: int, size: int) -> str:
    """The effect of the games on the iteration's tests.

    "A test is 3 games of one iteration. With these 4 games it has 7: 2 full tests, 1 of 3 games for the next."
    """
    after = before + added
    full, rest = divmod(after, size)
    total = "" if not before else f" it has {after}:"
    full_words = counted(full, "full test") if full else "no full test yet"
    rest_words = f", {rest} of {counted(size, 'game')} for the next" if rest else ""
    return (
        f"A test is {counted(size, 'game')} of one iteration; the checklist asks for 3 passing tests in a row. "
        f"With {'this game' if added == 1 else f'these {added:,} games'}{total or ':'} {full_words}{rest_words}."
    )


def _new_iteration(names: list[str]) -> UploadPlan | None:
    left, right = st.columns(2)
    name = left.text_input("Name", key="new_name", max_chars=200, placeholder="For example: shorter prompt")
    parent = right.selectbox(
        "Changed from",
        [None, *names],
        index=len(names),
        format_func=lambda name: name or "nothing, it is the first",
        key="new_parent",
    )
    target = right.selectbox(
        "Target metric",
        [None, *DEFINITIONS],
        format_func=lambda metric: DEFINITIONS[metric].label if metric else "none in particular",
        key="new_target",
    )
    change = left.text_input("The one change that was made", key="new_change", max_chars=2000)
    prompt = st.text_area("Prompt text", key="new_prompt", height=120, placeholder="Optional; shown beside the scores")
    if not name.strip():
        st.caption("Give the iteration a name.")
        return None
    return UploadPlan(created=Iteration(name.strip(), 0, parent, prompt, change, target))


def begin(store: Store, found: Found, plan: UploadPlan) -> None:
    """Creates the iteration where it is new, keeps the report, and starts to score and store the games.

    Raises:
        ConflictError: The name is taken, or games are being scored already; nothing is kept then.
        NotAllowedError: This person may not add games.
    """
    identity.require(Action.ADD)
    iteration = make_iteration(store, plan)
    report = replace(found.report, iteration=iteration, started_at=datetime.now(UTC))
    # Whatever an earlier import left open has ended by now.
    store.imports.settle()
    store.imports.save(report)
    has_begun = False
    try:
        jobs.start_evaluation(store, [(game.transcript, game.name) for game in found.new if game.transcript], iteration)
        has_begun = True
    finally:
        if not has_begun:
            store.imports.discard(report.id)


def make_iteration(store: Store, plan: UploadPlan) -> str | None:
    """The name of the iteration that the plan asks for, created where it is new.

    Raises:
        ConflictError: The name is taken.
    """
    if plan.created is None:
        return plan.existing
    new = plan.created
    return store.iterations.create(
        new.name, parent=new.parent, prompt_text=new.prompt_text, change=new.change, target_metric=new.target_metric
    ).name
