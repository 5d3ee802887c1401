"""The parts of the Agents page that show scores: agents, dimensions, claims, and every single judgement."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import access_checks
from dashboard.app_pages.agents.gate_data import agent_words
from dashboard.app_pages.agents.profile_data import (
    ScoredClaim,
    game_intervals,
    profile,
    scored_claims,
    shown_dimensions,
)
from dashboard.shared import personas, queries, resources, state
from dashboard.shared.answer import Fact, answer
from dashboard.shared.changes import attempt
from dashboard.shared.clicked_marks import MarkTarget, RunTarget, remember_click, take_clicked_mark
from dashboard.shared.drawing import cockpit_rows
from dashboard.shared.local_time import local_time
from dashboard.shared.notices import plain
from dashboard.shared.personas import SelectableAgent, score_text
from dashboard.shared.status_table import open_row, status_table
from evaluation.access import Action
from evaluation.comparison.runs import Run, RunComparison, finding_words, of_one_judge, runs_apart_words
from evaluation.judging.answers import HIGHEST_SCORE
from evaluation.judging.proposition_scores import mark_words
from evaluation.judging.propositions import Dimension
from evaluation.persona.dimensions import LABELS
from evaluation.statistics.comparison import Outcome
from evaluation.text.display import counted, fixed, listed, shortened
from evaluation.workflows.iterations import stored_run_comparison
from evaluation.workflows.persona_runs import evaluate_example

_ID = "agent"
"""The agent in the address of a link from another page."""
_RUN, _DIMENSION, _PROFILE = "run_shown", "dimension", "profile"
_LEGEND = (
    "○ the run before",
    "● this run, the mean of its claims",
    "· a claim",
    "band: 95 % interval over games",
    "right: all runs",
)
_CLAIM, _MARKED = "claim", "claim_marked"
"""The claim whose judgements are open, in the address; and the one whose mark in the picture was clicked last."""
_CLOSED = "claim_closed"
_MOST_SHOWN = 40
_MOST_NAMED = 6
_CLOSE = 0.5
"""Points of 9 between agents that are close."""
_BAR_WIDTH = 100
_PICKER = 230
_FEW = 3
"""Claims, and agents, that stand open; more are folded."""


def agents_table(found: Sequence[SelectableAgent]) -> None:
    """All evaluated agents with the scores of their latest run; a row opens the profile of its agent."""
    evaluated = [person for person in found if person.run is not None]
    if not evaluated:
        return
    with st.expander(f"All {len(evaluated)} evaluated") if len(evaluated) > _FEW else st.container():
        # Scores compare within one judge only.
        ordered = sorted(
            evaluated, key=lambda one: (one.is_channel, personas.judge_words(one.run), -(one.overall or 0.0))
        )
        rows = _filled(personas.people_rows(ordered))
        if len({personas.judge_words(one.run) for one in ordered}) == 1:
            rows = [{column: cell for column, cell in row.items() if column != "Judged by"} for row in rows]
        alt = "Agents with their scores on five dimensions"
        if (place := open_row(rows, alt, "all_agents", is_matrix=True)) is not None:
            state.choose_next(chosen_agent=ordered[place].id)
        waiting = len(found) - len(evaluated)
        others = f" {counted(waiting, 'other speaker')} not evaluated yet." if waiting else ""
        st.caption(f"Of the latest run, from 0 to 9, higher is better; ideas are counted.{others}")


def _filled(rows: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    """The rows with the columns that say something of anybody, and empty cells for what says nothing."""
    said = {column for row in rows for column, cell in row.items() if cell not in ("", "\u2013")}
    return [
        {column: "" if cell == "\u2013" else cell for column, cell in row.items() if column in said} for row in rows
    ]


def ranking(found: Sequence[SelectableAgent]) -> None:
    """The agents with the highest and the lowest adherence, in a sentence; nothing before two were evaluated.

    Those within half a point of the lowest are named with it. Sentences name the agents of whom an earlier run counts,
    and those who are not ranked as all their runs are another judge's.
    """
    ranked, runs = _of_one_judge(found)
    known = sorted((person.score(Dimension.ADHERENCE) or 0.0, _name(person), runs[person.id].id) for person in ranked)
    if len(known) > 1:
        least = [f"{name} ({fixed(score)})" for score, name, _ in known[:-1] if score < known[0][0] + _CLOSE]
        best, first, run = known[-1]
        compared = resources.read(stored_run_comparison, known[0][2], run)
        if compared.comparison[str(Dimension.ADHERENCE)].outcome is Outcome.BETTER:
            plain(f"{first} keeps in character best (Adherence {fixed(best)} of 9), {listed(least)} least.")
        else:
            scores = [f"{name} {fixed(score)}" for score, name, _ in reversed(known)][:_MOST_NAMED]
            plain(f"How well the agents keep in character could be luck: Adherence (0 to 9) is {listed(scores)}.")
    if ranked:
        others = {_name(person): runs[person.id] for person in found if person.id in runs}
        if apart := runs_apart_words(others, runs[ranked[0].id]):
            plain(apart)
    latest = {person.id: Run.of(person.run).id for person in found if person.run}
    if earlier := [_name(person) for person in ranked if runs[person.id].id != latest[person.id]]:
        plain(f"Of {listed(earlier)} an earlier run counts here: the latest one has no Adherence by this judge.")


def _name(person: SelectableAgent) -> str:
    return shortened(person.name, 60)


def _of_one_judge(found: Sequence[SelectableAgent]) -> tuple[list[SelectableAgent], dict[str, Run]]:
    """The agents that compare in adherence, with their latest run of one judge; and the runs that count of all."""
    scored = resources.read(personas.runs_with, Dimension.ADHERENCE)
    known = {person.id: scored[person.id] for person in found if not person.is_channel and person.id in scored}
    judged = of_one_judge(Run.of(runs[-1]) for runs in known.values())
    ranked, counting = [], {}
    for person in [one for one in found if one.id in known]:
        of_judge = [run for run in known[person.id] if Run.of(run).has_judge_of(judged[0])]
        run = (of_judge or known[person.id])[-1]
        counting[person.id] = Run.of(run)
        if of_judge:
            ranked.append(replace(person, run=run))
    return ranked, counting


def _least_in_character(found: Sequence[SelectableAgent]) -> SelectableAgent:
    """The agent with the lowest adherence, which needs attention first; the first one before any has a score."""
    ranked, _ = _of_one_judge(found)
    return min(ranked, key=lambda person: person.score(Dimension.ADHERENCE) or 0.0, default=found[0])


def choose(found: Sequence[SelectableAgent]) -> SelectableAgent:
    """The agent that the person looks at, the one least in character at first; it stands in the URL."""
    ids = [person.id for person in found]
    state.tell_unknown(ids, _ID)
    chosen = state.select_linked(
        "Agent",
        ids,
        partial(agent_words, {person.id: person.name for person in found}),
        parameter=_ID,
        key="chosen_agent",
        at_first=_least_in_character(found).id,
        width=_PICKER,
    )
    return next(person for person in found if person.id == chosen)


def scores(found: Sequence[SelectableAgent], person: SelectableAgent, evaluate: Callable[[], None]) -> None:
    """The profile of an agent in one run, and the messages that were judged behind every mark of it.

    Args:
        found: All agents, which stand below the profile.
        person: The agent.
        evaluate: Draws the button that starts another run.
    """
    runs = resources.read(personas.completed_runs, person.id)
    if person.run is None or not runs:
        with answer(f"{_name(person)} is not evaluated yet."):
            evaluate()
        ranking(found)
        agents_table(found)
        if not resources.read(personas.has_runs):
            _offer_example()
        return
    _follow_click(take_clicked_mark())
    with state.head():
        place = _choose_run(runs)
    run, shown = runs[place], Run.of(runs[place])
    earlier = [Run.of(each) for each in runs[:place]]
    of_its_judge = [each for each, known in zip(runs, earlier, strict=False) if known.has_judge_of(shown)]
    upto = [replace(person, run=each) for each in (*of_its_judge, run)]
    dimensions = shown_dimensions(upto[-1])
    before = str(of_its_judge[-1]["run_id"]) if of_its_judge else ""
    changes = resources.read(stored_run_comparison, before, str(run["run_id"])) if before else None
    judged, failed = resources.read(personas.run_detail, str(run["run_id"]))
    since = f"Since the run before, {_changed_words(changes)}" if changes else ""
    with answer(f"{_name(person)}: {_finding(upto[-1], dimensions)}", since, _about(run)):
        evaluate()
    if apart := runs_apart_words({f"Run {number}": each for number, each in enumerate(earlier, 1)}, shown):
        plain(apart)
    claims = scored_claims(judged)
    rows = profile(upto, claims, dimensions, game_intervals(judged, dimensions))
    on_open = access_checks.event("profile_open", remember_click(_PROFILE, [targets for _, targets in rows]))
    drawn = {"rows": [row for row, _ in rows], "legend": list(_LEGEND), "now": "this run", "ticks": [0, 3, 6, 9]}
    cockpit_rows(key=_PROFILE, data=drawn, on_open_change=on_open)
    dimension = _choose_dimension(upto[-1], dimensions)
    if dimension:
        own = [one for one in claims if one.dimension is dimension]
        # One that was opened by its mark in the picture stands where it is seen.
        own.sort(key=lambda one: one.id != st.session_state.get(_MARKED))
        _claim_rows(own, judged)
        _unscored(failed[failed["dimension"] == dimension])
    ranking(found)
    agents_table(found)
    with st.expander("Show the numbers", key="profile_numbers"):
        plain("\n".join(row["words"] for row, _ in rows))
        history = _filled(resources.read(personas.run_history, person.id))
        status_table(history, "All runs of this agent, the latest first")


def _offer_example() -> None:
    st.button(
        "Load an example",
        icon=":material/playlist_add:",
        key="example_personas",
        on_click=_load_example,
    )
    st.caption("Evaluates three agents that come with Dramaturg by recorded answers. No key, no cost, some seconds.")


def _load_example() -> None:
    def change() -> None:
        (_, first), *_ = evaluate_example(resources.store())
        state.choose(**{_ID: first.agent.id})

    attempt(change, "The example is loaded.", Action.EVALUATE)


def _follow_click(target: MarkTarget | RunTarget | None) -> None:
    """Sets the choices to what was clicked in the profile; without a click, to what the address says at first."""
    if isinstance(target, RunTarget):
        st.session_state[_RUN], st.session_state[_DIMENSION] = target.run_id, target.dimension
        st.session_state[_MARKED] = target.claim
        st.session_state.pop(_CLOSED, None)
        state.choose(**target.query)
        return
    for key, name in ((_RUN, "run"), (_DIMENSION, "judged")):
        if key not in st.session_state and (linked := state.chosen(name)):
            st.session_state[key] = linked


def _choose_run(runs: Sequence[Mapping[str, Any]]) -> int:
    """The place of the run that is shown, the latest unless another one was chosen; it stands in the URL."""
    ids = [str(run["run_id"]) for run in runs]
    if st.session_state.get(_RUN) not in ids:
        st.session_state[_RUN] = ids[-1]
    if len(ids) > 1:
        names = {key: f"Run {n} of {len(ids)}, {local_time(runs[n - 1]['created_at'])}" for n, key in enumerate(ids, 1)}
        st.selectbox("Run", ids[::-1], format_func=names.__getitem__, key=_RUN, width=_PICKER)
    place = ids.index(st.session_state[_RUN])
    state.choose(run=ids[place] if place < len(ids) - 1 else None)
    return place


def _choose_dimension(person: SelectableAgent, dimensions: Sequence[Dimension]) -> Dimension | None:
    if st.session_state.get(_DIMENSION) not in dimensions:
        known = {each: score for each in dimensions if (score := person.score(each)) is not None}
        st.session_state[_DIMENSION] = min(known, key=known.__getitem__, default=next(iter(dimensions), None))
    dimension: Dimension | None = st.segmented_control(
        "Claims, the worst first", dimensions, format_func=LABELS.__getitem__, key=_DIMENSION
    )
    if state.chosen("judged") != dimension:
        state.choose(judged=dimension, **{_CLAIM: None})
        st.session_state.pop(_CLOSED, None)
    return None if dimension is None else Dimension(dimension)


def show_judgements(agent: str, run: str, dimension: Dimension) -> None:
    """Opens the profile of an agent in one run, with the judgements of a dimension's worst claim."""
    st.session_state[state.AGENTS_VIEW] = state.PROFILES
    st.session_state[_RUN], st.session_state[_DIMENSION] = run, dimension
    st.session_state.pop(_CLOSED, None)
    state.choose(**{_ID: agent, "run": run, "judged": dimension, _CLAIM: None})


def _about(run: Any) -> list[Fact]:
    judge = {
        "offline": "by rules, without a model",
        "live": "by a model",
        "recorded": "by the recorded answers of a model",
    }
    size = f"{counted(int(run['sample_size']), 'message')}{_window(run)}"
    facts = [Fact(size), Fact(f"judged {judge.get(str(run['judge']), 'by a scripted judge')}")]
    return [*facts, Fact("the baseline")] if run["is_baseline"] else facts


def _finding(person: SelectableAgent, dimensions: Sequence[Dimension]) -> str:
    """The strongest and the weakest dimension in a sentence; ideas, which are counted, are left out."""
    known = [(person.score(one), one) for one in dimensions if one is not Dimension.IDEAS_QUANTITY]
    scored = sorted(((score, LABELS[one]) for score, one in known if score is not None), reverse=True)
    if not scored:
        return "no score in this run."
    (best, strongest), (worst, weakest) = scored[0], scored[-1]
    if len(scored) == 1:
        return f"{strongest}: {fixed(best)} of 9."
    return f"weakest in {weakest} ({fixed(worst)} of 9), strongest in {strongest} ({fixed(best)})."


def _changed_words(found: RunComparison) -> str:
    """The changes beyond luck; that there is none, where there is none: the view Runs says why."""
    outcomes = {one.outcome for one in found.comparison.values()}
    return finding_words(found) if outcomes & {Outcome.BETTER, Outcome.WORSE} else "no change beyond luck."


def _window(run: Any) -> str:
    start, end = (None if pd.isna(run[name]) else str(run[name])[:16] for name in ("window_start", "window_end"))
    return (f", from {start}" if start else "") + (f", until {end}" if end else "")


def _claim_rows(claims: Sequence[ScoredClaim], judged: pd.DataFrame) -> None:
    """Claims with a bar and their score, which opens the judgements in place; the first is open until one is chosen.

    Args:
        claims: Untrusted text, in the order in which they are shown.
        judged: The scores of the run that gave them.
    """
    chosen = (state.chosen("judged"), state.chosen(_CLAIM))
    asked = {(str(one.dimension), one.id) for one in claims if one.score is not None}
    if chosen not in asked and claims and not st.session_state.get(_CLOSED):
        chosen = (str(claims[0].dimension), claims[0].id)
    games = resources.read(queries.game_names)
    with st.container(key="claims", gap="small"):
        worst, later = st.container(gap="small"), claims[_FEW:]
        has_chosen = chosen in [(one.dimension, one.id) for one in later]
        rest = st.expander(f"{len(later)} more, less bad", expanded=has_chosen) if later else worst
        for place, one in enumerate(claims):
            is_open = chosen == (one.dimension, one.id)
            with worst if place < _FEW else rest:
                _claim_row(one, is_open=is_open)
                if is_open and one.score is not None:
                    own = judged[(judged["dimension"] == one.dimension) & (judged["proposition_id"] == one.id)]
                    _judgements(own, one.dimension, games)


def _claim_row(one: ScoredClaim, *, is_open: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(width=_BAR_WIDTH, gap=None):
            st.button(
                "not asked" if one.score is None else score_text(one.score, one.dimension),
                key=f"judged_{one.dimension}_{one.id}",
                type="tertiary",
                icon=":material/expand_less:" if is_open else ":material/expand_more:",
                disabled=one.score is None,
                on_click=_open_claim,
                args=(one, is_open),
            )
            if one.score is not None and one.dimension is not Dimension.IDEAS_QUANTITY:
                st.progress(one.score / HIGHEST_SCORE)
        with st.container(gap=None, width="stretch"):
            plain(one.text)
            if one.judged:
                st.caption(one.judged)


def _open_claim(one: ScoredClaim, is_open: bool) -> None:
    st.session_state[_CLOSED] = is_open
    st.session_state.pop(_MARKED, None)
    st.session_state[_DIMENSION] = one.dimension
    state.choose(judged=one.dimension, **{_CLAIM: None if is_open else one.id})


def _unscored(failed: pd.DataFrame) -> None:
    if len(failed):
        with st.expander(f"{len(failed)} without a score"):
            table = failed[["proposition_id", "subject", "status", "reason"]]
            status_table(table, "What could not be scored, and why")


def _judgements(rows: pd.DataFrame, dimension: Dimension, games: Mapping[str, str]) -> None:
    ordered = rows.sort_values("score", kind="stable")
    for place, row in enumerate(ordered.head(_MOST_SHOWN).to_dict("records")):
        with st.container(border=True):
            _judgement(row, dimension, place, games)
    if len(ordered) > _MOST_SHOWN:
        st.caption(f"The lowest {_MOST_SHOWN} of {len(ordered)} are shown.")


def _judgement(row: dict[Any, Any], dimension: Dimension, place: int, games: Mapping[str, str]) -> None:
    with st.container(horizontal=True):
        st.badge(score_text(row["score"], dimension), color="blue")
        # Where the claim names no fault and the mark is earned, mark and score are the same.
        if not pd.isna(row["raw_score"]):
            raw, unearned = int(row["raw_score"]), str(row["mark"] or "")
            is_plain = bool(row["is_inverted"]) and not unearned
            words = (
                f"should never happen; does: {raw} of 9"
                if is_plain
                else mark_words(raw, is_inverted=False, unearned=unearned)
            )
            st.badge(words, color="gray")
    plain(str(row["reasoning"]))
    cited = [one.split(":", 1) for one in _listed(row["citations"]) if isinstance(one, str) and ":" in one]
    is_single = isinstance(row["message_id"], str) and bool(row["message_id"])
    game, message = (row["transcript_id"], row["message_id"]) if is_single else cited[0] if cited else ("", "")
    if row["context_snippet"]:
        where = f"Message {message}, {games.get(game, 'an example conversation')}" if message else "From all messages"
        where += f", the first of {len(cited)} named" if len(cited) > 1 and not is_single else ""
        plain(f"{where}:\n\u201c{row['context_snippet']}\u201d")
    for idea in _listed(row["ideas"]):
        plain(f"- {idea.get('text', '') if isinstance(idea, dict) else idea}")
    # The conversations of shipped agents are not among the stored games.
    if game in games:
        label, key = "Read it in the conversation", f"read_{dimension}_{place}"
        if st.button(label, key=key, type="tertiary", icon=":material/forum:"):
            st.switch_page("app_pages/games/page.py", query_params={"transcript": game, "message": message})


def _listed(packed: object) -> list[Any]:
    """The list in a stored score's JSON text; empty where there is none."""
    found = json.loads(packed) if isinstance(packed, str) and packed else []
    return found if isinstance(found, list) else []
