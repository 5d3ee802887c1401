"""The parts of the Personas page that show scores: agents, dimensions, propositions, and every single judgement."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.shared import personas, resources, state
from dashboard.shared.notices import plain
from dashboard.shared.personas import SelectableAgent, score_text
from dashboard.shared.status_table import status_table
from evaluation.comparison.runs import Run
from evaluation.judging.judges.jury import JuryAgreement
from evaluation.judging.propositions.mark_words import mark_words
from evaluation.judging.propositions.proposition import Dimension
from evaluation.persona.judge_noise import noise_words
from evaluation.persona.results import DIMENSIONS, LABELS
from evaluation.text.display import counted
from evaluation.workflows.ratings.calibration import calibration_of_runs

_ID = "agent"
_MOST_SHOWN = 40


def agents_table(found: Sequence[SelectableAgent]) -> None:
    """All agents with the scores of their latest run."""
    evaluated = sum(person.run is not None for person in found)
    st.caption(
        f"{len(found)} agents and channels, {evaluated} evaluated. Scores run from 0 to 9, higher is better; "
        "ideas are counted."
    )
    if words := resources.read(personas.latest_calibration):
        plain(words)
    frame = personas.people_frame(found)
    status_table(frame, "Agents with their scores on five dimensions", height=min(38 + 35 * len(frame), 320))


def choose(found: Sequence[SelectableAgent]) -> SelectableAgent:
    """The agent that the person looks at; it stands in the URL."""
    ids = [person.id for person in found]
    wanted = state.chosen(_ID, ids)
    if state.chosen(_ID) and not wanted:
        st.warning("The agent that the link names is not here: it was deleted, or never spoke. Here is another one.")
    names = {person.id: person.name for person in found}
    chosen = st.selectbox(
        "Agent",
        ids,
        index=ids.index(wanted) if wanted else 0,
        format_func=lambda key: names[key] if names[key] == key else f"{names[key]} ({key})",
        key="chosen_agent",
    )
    state.choose(**{_ID: chosen})
    return next(person for person in found if person.id == chosen)


def scores(person: SelectableAgent) -> None:
    """The five dimensions of an agent's latest run, and everything behind one of them."""
    run = person.run
    if run is None:
        st.info("Nobody has evaluated this agent yet. Open Run to do it.")
        return
    st.caption(_about(run))
    plain(calibration_of_runs(resources.store(), [Run.of(run)]))
    dimensions = [each for each in DIMENSIONS if person.dimension(each)]
    with st.grid(4, min_column_width=150):
        for each in dimensions:
            _card(person, each)
    dimension = st.pills(
        "Dimension",
        dimensions,
        default=next((each for each in dimensions if person.score(each) is not None), next(iter(dimensions), None)),
        format_func=LABELS.__getitem__,
        key="dimension",
    )
    if dimension:
        _behind(str(run["run_id"]), dimension)
    history = resources.read(personas.run_history, person.id)
    if len(history) > 1:
        with st.expander("Earlier runs"):
            status_table(history, "All runs of this agent, the latest first")
            if words := resources.read(personas.agent_calibration, person.id):
                plain(words)


def _about(run: Any) -> str:
    judge = {"offline": "by rules, without a model", "live": "by a model", "recorded": "by recordings of a model"}
    by = judge.get(str(run["judge"]), "by a scripted judge")
    baseline = " This run is the baseline." if run["is_baseline"] else ""
    return f"Sample of {int(run['sample_size'])} with seed {int(run['seed'])}{_window(run)}; judged {by}.{baseline}"


def _window(run: Any) -> str:
    start, end = (None if pd.isna(run[name]) else str(run[name])[:16] for name in ("window_start", "window_end"))
    return (f", from {start}" if start else "") + (f", until {end}" if end else "")


def _card(person: SelectableAgent, dimension: Dimension) -> None:
    said = person.dimension(dimension)
    with st.container(border=True, height="stretch", gap="xsmall"):
        st.metric(LABELS[dimension], score_text(person.score(dimension), dimension))
        notes = [counted(int(said.get("items") or 0), "judgement")]
        if said.get("marked"):
            without = score_text(said.get("score_without_marked"), dimension)
            notes.append(f"{said['marked']} say nothing about the agent; without them {without}")
        if said.get("unscored"):
            notes.append(f"{said['unscored']} without a score")
        if noise := noise_words(said.get("repeats") or (), dimension, said.get("judge_share")):
            notes.append(noise)
        st.caption(", ".join(notes))
        if jury := said.get("jury"):
            plain(JuryAgreement.of_dict(jury).words)
        if said.get("reason"):
            plain(str(said["reason"]))


def _behind(run_id: str, dimension: Dimension) -> None:
    detail = resources.read(personas.run_detail, run_id)
    frame = personas.proposition_frame(detail.scores, dimension)
    if len(frame):
        status_table(frame, f"Propositions of {LABELS[dimension]} with weight and score")
        ids = list(frame["Id"])
        claims = dict(zip(ids, frame["Claim"], strict=True))
        chosen = st.selectbox(
            "Proposition", ids, format_func=lambda key: f"{key}: {claims[key]}", key=f"proposition_of_{dimension}"
        )
        rows = detail.scores[(detail.scores["dimension"] == dimension) & (detail.scores["proposition_id"] == chosen)]
        _judgements(rows, dimension)
    failed = detail.failures[detail.failures["dimension"] == dimension]
    if len(failed):
        with st.expander(f"{len(failed)} without a score"):
            table = failed[["proposition_id", "subject", "status", "reason"]]
            status_table(table, "What could not be scored, and why")


def _judgements(rows: pd.DataFrame, dimension: Dimension) -> None:
    ordered = rows.sort_values("score", kind="stable")
    for place, row in enumerate(ordered.head(_MOST_SHOWN).to_dict("records")):
        with st.container(border=True):
            _judgement(row, dimension, place)
    if len(ordered) > _MOST_SHOWN:
        st.caption(f"The lowest {_MOST_SHOWN} of {len(ordered)} are shown.")


def _judgement(row: dict[Any, Any], dimension: Dimension, place: int) -> None:
    with st.container(horizontal=True):
        st.badge(score_text(row["score"], dimension), color="blue")
        if not pd.isna(row["raw_score"]):
            is_inverted, unearned = bool(row["is_inverted"]), str(row["mark"] or "")
            words = mark_words(int(row["raw_score"]), is_inverted=is_inverted, unearned=unearned)
            st.badge(f"marked {words}", color="gray")
        if row["repeat"]:
            st.badge(f"repeat {int(row['repeat']) + 1}", color="gray")
    plain(str(row["reasoning"]))
    if row["context_snippet"]:
        st.caption("The message" if row["message_id"] else "From the conversation")
        st.code(str(row["context_snippet"]), language=None, wrap_lines=True)
    for idea in json.loads(row["ideas"] or "[]") if isinstance(row["ideas"], str) else []:
        plain(f"- {idea.get('text', '') if isinstance(idea, dict) else idea}")
    if row["transcript_id"] and row["message_id"]:
        label, key = "Read it in the conversation", f"read_{dimension}_{place}"
        if st.button(label, key=key, type="tertiary", icon=":material/forum:"):
            target = {"transcript": str(row["transcript_id"]), "message": str(row["message_id"])}
            st.switch_page("app_pages/transcripts/page.py", query_params=target)
