"""The claims that an agent is held against: where each stands, and what it scored in the latest run."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.shared import personas, resources
from dashboard.shared.jobs.judging_jobs import proposition_library
from dashboard.shared.personas import SelectableAgent, score_text
from dashboard.shared.status_table import status_table
from evaluation.judging.propositions import ENVIRONMENT_DIMENSIONS, Dimension
from evaluation.persona.evaluation import DIMENSIONS, LABELS


def propositions(person: SelectableAgent) -> None:
    """The claims of each dimension with file, line and score; an editor changes the files."""
    st.caption(
        "Claims stand in YAML files, which an editor changes; dramaturg propositions check lists every fault of one. "
        "Scores are those of the latest run."
    )
    library = proposition_library()
    scores = resources.read(personas.run_detail, str(person.run["run_id"])).scores if person.run else None
    for dimension in DIMENSIONS:
        if (dimension in ENVIRONMENT_DIMENSIONS) is not person.is_channel:
            continue
        held = {} if scores is None else _held(scores, dimension)
        found = library.propositions_for(dimension, [person.id])
        rows = [
            {
                "Claim": each.claim.replace("{{agent_name}}", person.name).replace("{{action}}", "..."),
                "Score": held.get(each.id, "not asked"),
                "Weight": each.weight,
                "Inverted": "yes" if each.is_inverted else "",
                "For": "everybody" if each.agent_id != person.id else "this one",
                # The folders above say nothing about the claim, but much about the server.
                "File and line": "/".join(each.source.split("/")[-2:]),
            }
            for each in found
        ]
        if rows:
            st.subheader(LABELS[dimension], anchor=False)
            status_table(pd.DataFrame(rows), f"Claims of {LABELS[dimension]}")


def _held(scores: pd.DataFrame, dimension: Dimension) -> dict[str, str]:
    frame = personas.proposition_frame(scores, dimension)
    return {key: score_text(float(score), dimension) for key, score in zip(frame["Id"], frame["Score"], strict=True)}
