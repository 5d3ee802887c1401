"""The claims that an agent is held against: where each stands, and what it scored in the latest run."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.shared import personas, resources
from dashboard.shared.jobs.judging_jobs import proposition_library
from dashboard.shared.notices import plain
from dashboard.shared.personas import SelectableAgent, score_text
from dashboard.shared.status_table import status_table
from evaluation.judging.propositions import ENVIRONMENT_DIMENSIONS, Dimension
from evaluation.persona.evaluation import DIMENSIONS, LABELS
from evaluation.text.display import counted, shortened


def propositions(person: SelectableAgent) -> None:
    """The claims of each dimension with file, line and score; an editor changes the files."""
    library = proposition_library()
    scores = resources.read(personas.run_detail, str(person.run["run_id"])).scores if person.run else None
    if scores is not None and len(scores):
        plain(_sentence(person, scores))
    st.caption(
        "Claims are kept in YAML files. Edit them with a text editor; `dramaturg propositions check` finds mistakes. "
        "Scores are those of the latest run."
    )
    for dimension in DIMENSIONS:
        if (dimension in ENVIRONMENT_DIMENSIONS) is not person.is_channel:
            continue
        held = {} if scores is None else _held(scores, dimension)
        found = library.propositions_for(dimension, [person.id])
        rows = [
            {
                "Score": held.get(each.id, "not asked"),
                "Claim": each.claim.replace("{{agent_name}}", person.name).replace("{{action}}", "..."),
                "Weight": each.weight,
                "Wanted": "false" if each.is_inverted else "true",
                "For": "everybody" if each.agent_id != person.id else "this one",
                # The folders above say nothing about the claim, but much about the server.
                "File and line": "/".join(each.source.split("/")[-2:]),
            }
            for each in found
        ]
        if rows:
            st.subheader(LABELS[dimension], anchor=False)
            status_table(pd.DataFrame(rows), f"Claims of {LABELS[dimension]}")


def _sentence(person: SelectableAgent, scores: pd.DataFrame) -> str:
    """The claims with the lowest and the highest score in words: untrusted text, as it names the agent."""
    frames = [personas.proposition_frame(scores, each) for each in DIMENSIONS if each is not Dimension.IDEAS_QUANTITY]
    frame = pd.concat(frames, ignore_index=True).sort_values("Score", kind="stable")
    if len(frame) < 2:
        return f"{shortened(person.name, 60)}: {counted(len(frame), 'claim')} with a score."
    lowest, highest = (
        f"\u201c{shortened(str(one['Claim']), 120)}\u201d (wanted {one['Wanted']}, {one['Score']:.1f} of 9)"
        for one in (frame.iloc[0], frame.iloc[-1])
    )
    return f"Held worst: {lowest}. Held best: {highest}."


def _held(scores: pd.DataFrame, dimension: Dimension) -> dict[str, str]:
    frame = personas.proposition_frame(scores, dimension)
    return {key: score_text(float(score), dimension) for key, score in zip(frame["Id"], frame["Score"], strict=True)}
