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
from dashboard.shared import personas, resources, state
from dashboard.shared.answer import answer
from dashboard.shared.changes import attempt
from dashboard.shared.clicked_marks import MarkTarget, RunTarget, remember_click, take_clicked_mark
from dashboard.shared.drawing import cockpit_rows
from dashboard.shared.local_time import local_time
from dashboard.shared.notices import plain
from dashboard.shared.personas import SelectableAgent, score_text
from dashboard.shared.status_table import open_below, open_row, status_table
from evaluation.access import Action
from evaluation.comparison.runs import Run, RunComparison, finding_words, of_one_judge, runs_apart_words
from evaluation.judging.answers import HIGHEST_SCORE
from evaluation.judging.proposition_scores import mark_words
from evaluation.judging.propositions import Dimension
from evaluation.persona.dimensions import LABELS
from evaluation.statistics.comparison import Outcome
from evaluation.text.display import counted, listed, shortened
from evaluation.workflows.iterations import stored_run_comparison
from evaluation.workflows.persona_runs import evaluate_example

_ID = "agent"
"""The agent in the address of a link from another page."""
_RUN, _PROFILE = "run_shown", "profile"
# Not that of the filled mark: claims that are asked once over all games have no value for a game.
_BAND = "band: 95 % interval of the mean over games"
_CLAIM, _MARKED = "claim", "claim_marked"
"""The claim whose judgements are open, in the address; and the dimension and claim whose mark was clicked last."""
_CLOSED = "claim_closed"
_MOST_SHOWN = 40
_MOST_NAMED = 6
_CLOSE = 0.5
"""Points of 9 between agents that are close."""
_PICKER = 230
_MANY, _TALLEST = 10, 420
"""Agents beyond which their table scrolls, and its height in pixels then."""
_JUDGED = {
    "offline": "by rules, without a model",
    "live": "by a model",
    "recorded": "by the recorded answers of a model",
}


def agents_table(found: Sequence[SelectableAgent], person: SelectableAgent, evaluate: Callable[[], None]) -> None:
    """All evaluated agents in the scores of one judge, the least in character first; a row shows its agent below.

    Those of other judges stand apart, below a heading: verdicts of different judges never compare.

    Args:
        found: All agents.
        person: The one that is shown below.
        evaluate: Draws the button that starts another run.
    """
    scored = resources.read(personas.runs_with, Dimension.ADHERENCE)
    ranked, runs = _of_one_judge(found, scored)
    apart = {one.id for one in found if one.run} - {one.id for one in ranked}
    ordered = sorted(ranked, key=lambda one: one.score(Dimension.ADHERENCE) or 0.0)
    ordered += sorted(
        (one for one in found if one.id in apart), key=lambda one: (one.is_channel, _judges(one), one.name)
    )
    latest = {one.id: Run.of(one.run).id for one in found if one.run}
    earlier = [_name(one) for one in ranked if runs[one.id].id != latest[one.id]]
    note = f"Of {listed(earlier)} an earlier run counts here: the latest one has no Adherence by this judge."
    with answer(_ranking(ranked, runs, len(ordered)), note if earlier else ""):
        evaluate()
    if not ordered:
        return
    before = [_adherence_before(one, scored.get(one.id, ())) for one in ordered]
    judges = [_judges(one) for one in ordered]
    shares = [None if (score := one.score(Dimension.ADHERENCE)) is None else score / HIGHEST_SCORE for one in ordered]
    with st.container(height=_TALLEST if len(ordered) > _MANY else "content", border=False, gap="small"):
        place = open_row(
            filled(personas.people_rows(ordered, before)),
            "Agents with their scores, the least in character first",
            "all_agents",
            opened=next((at for at, one in enumerate(ordered) if one.id == person.id), None),
            bars={LABELS[Dimension.ADHERENCE]: shares} if ranked else None,
            groups=judges if len(set(judges)) > 1 else (),
        )
    if place is not None and ordered[place].id != person.id:
        state.choose_next(chosen_agent=ordered[place].id)
    waiting = len(found) - len(ordered)
    rest = f" {counted(waiting, 'other speaker')} not evaluated yet." if waiting else ""
    st.caption(f"Scores are from 0 to 9; ideas are counted. Change: of adherence, since the run before.{rest}")


def _judges(person: SelectableAgent) -> str:
    """The heading above the agents, or the channels, of one judge."""
    assert person.run is not None
    judge, _, model = Run.of(person.run).judge.partition(": ")
    words = {"offline": "judged by rules", "live": f"judged by {model}"}.get(judge, f"judged by {model}, {judge}")
    return f"Channels, {words}" if person.is_channel else f"{words[0].upper()}{words[1:]}"


def _adherence_before(person: SelectableAgent, runs: Sequence[Mapping[str, Any]]) -> float | None:
    """An agent's adherence in the run before the one that is shown, by the same judge; ``None`` for none."""
    shown, before = Run.of(person.run or {}), None
    for run in map(Run.of, runs):
        if run.id == shown.id:
            return before
        if run.has_judge_of(shown):
            before = run.scores.get(Dimension.ADHERENCE)
    return None


def filled(rows: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    """The rows with the columns that say something of anybody, and empty cells for what says nothing."""
    said = {column for row in rows for column, cell in row.items() if cell not in ("", "\u2013")}
    return [
        {column: "" if cell == "\u2013" else cell for column, cell in row.items() if column in said} for row in rows
    ]


def _ranking(ranked: Sequence[SelectableAgent], runs: Mapping[str, Run], evaluated: int) -> str:
    """The agents that keep in character best and least, beyond luck or not; before two compare, how many there are.

    Those within half a point of the lowest are named with it.
    """
    known = sorted((person.score(Dimension.ADHERENCE) or 0.0, _name(person), runs[person.id].id) for person in ranked)
    if len(known) < 2:
        return f"{counted(evaluated, 'agent')} evaluated" if evaluated else "No agent is evaluated yet"
    _, best, run = known[-1]
    compared = resources.read(stored_run_comparison, known[0][2], run)
    if compared.comparison[str(Dimension.ADHERENCE)].outcome is not Outcome.BETTER:
        return "Differences between the agents could be luck"
    least = [name for score, name, _ in known[:-1] if score < known[0][0] + _CLOSE]
    named = listed(least) if len(least) <= _MOST_NAMED else f"{len(least)} others"
    return f"{best} keeps in character best, {named} least"


def _name(person: SelectableAgent) -> str:
    return shortened(person.name, 60)


def _of_one_judge(
    found: Sequence[SelectableAgent], scored: Mapping[str, list[dict[Any, Any]]]
) -> tuple[list[SelectableAgent], dict[str, Run]]:
    """The agents that compare in adherence, with their latest run of one judge; and the runs that count of all."""
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
    ranked, _ = _of_one_judge(found, resources.read(personas.runs_with, Dimension.ADHERENCE))
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
        key=state.CHOSEN_AGENT,
        at_first=_least_in_character(found).id,
        width=_PICKER,
    )
    return next(person for person in found if person.id == chosen)


def scores(
    found: Sequence[SelectableAgent],
    person: SelectableAgent,
    evaluate: Callable[[], None],
    persona: Callable[[], None],
) -> None:
    """All agents, then the profile of one in one run, and the messages that were judged behind every mark of it.

    Args:
        found: All agents, which stand above the profile.
        person: The agent.
        evaluate: Draws the button that starts another run.
        persona: Draws the agent's persona and the claims that it is held against.
    """
    _follow_click(take_clicked_mark())
    agents_table(found, person, evaluate)
    runs = resources.read(personas.completed_runs, person.id)
    with st.container(horizontal=True, vertical_alignment="center", key="agent_name"):
        plain(_name(person))
        place = _choose_run(runs) if person.run and runs else None
    if place is None:
        st.caption("Not evaluated yet.")
        if not any(one.run for one in found):
            _offer_example()
        persona()
        return
    run, shown = runs[place], Run.of(runs[place])
    earlier = [Run.of(each) for each in runs[:place]]
    of_its_judge = [each for each, known in zip(runs, earlier, strict=False) if known.has_judge_of(shown)]
    upto = [replace(person, run=each) for each in (*of_its_judge, run)]
    dimensions = shown_dimensions(upto[-1])
    before = str(of_its_judge[-1]["run_id"]) if of_its_judge else ""
    changes = resources.read(stored_run_comparison, before, str(run["run_id"])) if before else None
    judged, failed = resources.read(personas.run_detail, str(run["run_id"]))
    since = f" Since the run before, {_changed_words(changes)}" if changes else ""
    with st.container(gap=None, key="agent_words"):
        plain(f"{_finding(upto[-1], dimensions)}{since}")
        st.caption(_about(run))
        if apart := runs_apart_words({f"Run {number}": each for number, each in enumerate(earlier, 1)}, shown):
            plain(apart)
    claims = scored_claims(judged)
    rows = profile(upto, claims, dimensions, game_intervals(judged, dimensions))
    on_open = access_checks.event("profile_open", remember_click(_PROFILE, [targets for _, targets in rows]))
    now = f"Run {place + 1}"
    marks = [*(f"○ Run {runs.index(each) + 1}" for each in of_its_judge[-1:]), f"● {now}, the mean of its claims"]
    legend = [*marks, "· a claim", _BAND, "right: all its runs"]
    drawn = {"rows": [row for row, _ in rows], "legend": legend, "now": now, "ticks": [0, 3, 6, 9]}
    cockpit_rows(key=_PROFILE, data=drawn, on_open_change=on_open)
    names = ("Claims", "Persona")
    tabs = st.tabs(names, key="profile_part", on_change="rerun", bind="query-params")
    opened = next((place for place, tab in enumerate(tabs) if tab.open), 0)
    with tabs[opened]:
        if opened == 0:
            _claim_rows(claims, judged, upto[-1])
            _unscored(failed)
        else:
            persona()


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
        show_judgements(target)
    elif _RUN not in st.session_state and (linked := state.chosen("run")):
        st.session_state[_RUN] = linked


def _choose_run(runs: Sequence[Mapping[str, Any]]) -> int:
    """The place of the run that is shown, the latest unless another one was chosen; it stands in the URL."""
    ids = [str(run["run_id"]) for run in runs]
    if st.session_state.get(_RUN) not in ids:
        st.session_state[_RUN] = ids[-1]
    if len(ids) > 1:
        names = {key: f"Run {n} of {len(ids)}, {local_time(runs[n - 1]['created_at'])}" for n, key in enumerate(ids, 1)}
        st.selectbox(
            "Run",
            ids[::-1],
            format_func=names.__getitem__,
            key=_RUN,
            width=_PICKER,
            label_visibility="collapsed",
        )
    place = ids.index(st.session_state[_RUN])
    state.choose(run=ids[place] if place < len(ids) - 1 else None)
    return place


def show_judgements(target: RunTarget) -> None:
    """Makes the profile show an agent in one run, with the judgements behind a mark."""
    st.session_state[_RUN], st.session_state[_MARKED] = target.run_id, (target.dimension, target.claim)
    st.session_state.pop(_CLOSED, None)
    state.choose(**target.query)


def _about(run: Any) -> str:
    size = f"{counted(int(run['sample_size']), 'message')}{_window(run)}"
    judged = f"judged {_JUDGED.get(str(run['judge']), 'by a scripted judge')}"
    return " · ".join([size, judged, *(["the baseline"] if run["is_baseline"] else [])])


def _finding(person: SelectableAgent, dimensions: Sequence[Dimension]) -> str:
    """The strongest and the weakest dimension in a sentence; ideas, which are counted, are left out."""
    known = [(person.score(one), one) for one in dimensions if one is not Dimension.IDEAS_QUANTITY]
    scored = sorted((score, LABELS[one]) for score, one in known if score is not None)
    if len(scored) < 2:
        return "" if scored else "No score in this run."
    return f"Weakest in {scored[0][1]}, strongest in {scored[-1][1]}."


def _changed_words(found: RunComparison) -> str:
    """The changes beyond luck, or a sentence that there are none; the view Runs says why."""
    outcomes = {one.outcome for one in found.comparison.values()}
    return finding_words(found) if outcomes & {Outcome.BETTER, Outcome.WORSE} else "no change beyond luck."


def _window(run: Any) -> str:
    start, end = (None if pd.isna(run[name]) else str(run[name])[:16] for name in ("window_start", "window_end"))
    return (f", from {start}" if start else "") + (f", until {end}" if end else "")


def _claim_rows(claims: Sequence[ScoredClaim], judged: pd.DataFrame, person: SelectableAgent) -> None:
    """The claims by dimension, the worst first, with their scores; a row opens its judgements in place.

    The first is open until another is chosen. What was clicked in the picture comes first, where it is seen.

    Args:
        claims: Untrusted text.
        judged: The scores of the run that gave them.
        person: The agent with that run.
    """
    # Held, so that the list keeps its order when further rows are opened in place.
    first, marked = st.session_state.setdefault(_MARKED, (state.chosen("judged"), None))

    def order(one: ScoredClaim) -> tuple[bool, bool, float, str, bool]:
        is_counted, score = one.dimension is Dimension.IDEAS_QUANTITY, person.score(one.dimension) or 0.0
        return one.dimension != first, is_counted, score, one.dimension, one.id != marked

    asked = sorted((one for one in claims if one.score is not None), key=order)
    if not asked:
        st.caption("No claim has a score in this run.")
        return
    chosen = (state.chosen("judged"), state.chosen(_CLAIM))
    at_first = None if st.session_state.get(_CLOSED) else 0
    opened = next((at for at, one in enumerate(asked) if (one.dimension, one.id) == chosen), at_first)
    rows = [
        {
            "Claim": one.text,
            "Score": score_text(one.score, one.dimension).split()[0],
            "Judgements": one.judgements,
        }
        for one in asked
    ]
    shares = [None if one.dimension is Dimension.IDEAS_QUANTITY else (one.score or 0) / HIGHEST_SCORE for one in asked]
    games = resources.read(resources.store().transcripts.game_names)

    def draw() -> None:
        one = asked[opened or 0]
        own = judged[(judged["dimension"] == one.dimension) & (judged["proposition_id"] == one.id)]
        _judgements(own, one.dimension, games)

    groups = [LABELS[one.dimension] for one in asked]
    pressed = open_below(
        rows, "Claims with their scores", "claims", opened, draw, groups=groups, bars={"Score": shares}
    )
    if pressed is not None:
        one, is_closed = asked[pressed], pressed == opened
        st.session_state[_CLOSED] = is_closed
        state.choose(judged=one.dimension, **{_CLAIM: None if is_closed else one.id})
        st.rerun()


def _unscored(failed: pd.DataFrame) -> None:
    if len(failed):
        with st.expander(f"{len(failed)} without a score"):
            table = failed[["proposition_id", "subject", "status", "reason"]]
            status_table(table, "What could not be scored, and why")


def _judgements(rows: pd.DataFrame, dimension: Dimension, games: Mapping[str, str]) -> None:
    ordered = rows.sort_values("score", kind="stable")
    for place, row in enumerate(ordered.head(_MOST_SHOWN).to_dict("records")):
        with st.container(gap="small", key=f"judgement_{place}"):
            _judgement(row, dimension, place, games)
    if len(ordered) > _MOST_SHOWN:
        st.caption(f"The lowest {_MOST_SHOWN} of {len(ordered)} are shown.")


def _judgement(row: dict[Any, Any], dimension: Dimension, place: int, games: Mapping[str, str]) -> None:
    with st.container(horizontal=True):
        # Ideas are counted, without a highest number.
        is_low = dimension is not Dimension.IDEAS_QUANTITY and row["score"] < HIGHEST_SCORE / 2
        st.badge(score_text(row["score"], dimension), color="red" if is_low else "gray")
        # Where the claim names no fault and the mark is earned, mark and score are the same.
        if not pd.isna(row["raw_score"]):
            raw, unearned = int(row["raw_score"]), str(row["mark"] or "")
            is_plain = bool(row["is_inverted"]) and not unearned
            words = (
                f"happens: {raw} of 9, should not"
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
