"""The claims that an agent is held against, with the file and line where each stands."""

from __future__ import annotations

import streamlit as st

from dashboard.app_pages.agents.profile_data import claim_text
from dashboard.shared.jobs.judging_jobs import proposition_library
from dashboard.shared.personas import SelectableAgent
from dashboard.shared.status_table import status_table
from evaluation.comparison.runs import general_claim
from evaluation.judging.propositions import ENVIRONMENT_DIMENSIONS, Proposition
from evaluation.persona.dimensions import DIMENSIONS, LABELS


def claims_table(person: SelectableAgent) -> None:
    """Draws the claims that the agent is held against today, whether a run has asked them or not."""
    library = proposition_library()
    rows = [
        {
            "Claim": _in_words(each, person),
            "Dimension": LABELS[dimension],
            # The folders above say nothing about the claim, but much about the server.
            "File and line": "/".join(each.source.split("/")[-2:]),
            "For": "everybody" if each.agent_id != person.id else "this one",
            "Weight": each.weight,
        }
        for dimension in DIMENSIONS
        if (dimension in ENVIRONMENT_DIMENSIONS) is person.is_channel
        for each in library.propositions_for(dimension, [person.id])
    ]
    status_table(rows, "Claims with file and line, and weight")
    st.caption("These are YAML files. Edit them with a text editor; `dramaturg propositions check` finds mistakes.")


def _in_words(one: Proposition, person: SelectableAgent) -> str:
    claim = general_claim(one.claim.replace("{{agent_name}}", person.name), "{{action}}")
    return claim_text(claim, is_fault=one.is_inverted)
