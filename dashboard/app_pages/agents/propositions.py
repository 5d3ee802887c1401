"""The claims that an agent is held against: where each stands, and what it scored in the latest run."""

from __future__ import annotations

from itertools import chain

import pandas as pd
import streamlit as st

from dashboard.shared import personas, resources
from dashboard.shared.jobs.judging_jobs import proposition_library
from dashboard.shared.notices import plain
from dashboard.shared.personas import SelectableAgent, score_text
from dashboard.shared.status_table import status_table
from evaluation.judging.proposition_files import PropositionLibrary
from evaluation.judging.propositions import ENVIRONMENT_DIMENSIONS, Dimension
from evaluation.persona.dimensions import DIMENSIONS, LABELS
from evaluation.text.display import counted, shortened


def propositions(person: SelectableAgent) -> None:
    """The claims of each dimension with file, line and score; an editor changes the files."""
    library = proposition_library()
    scores = resources.read(personas.run_detail, str(person.run["run_id"])).scores if person.run else None
    if scores is not None and len(scores):
        plain(_sentence(person, scores, library))
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
                "Claim": _in_words(each.claim, person),
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


def _in_words(claim: str, person: SelectableAgent) -> str:
    return claim.replace("{{agent_name}}", person.name).replace("{{action}}", "...")


def _sentence(person: SelectableAgent, scores: pd.DataFrame, library: PropositionLibrary) -> str:
    """The claims with the lowest and the highest score in words: untrusted text, as it names the agent."""
    frames = [personas.proposition_frame(scores, each) for each in DIMENSIONS if each is not Dimension.IDEAS_QUANTITY]
    frame = pd.concat(frames, ignore_index=True).sort_values("Score", kind="stable")
    if len(frame) < 2:
        return f"{shortened(person.name, 60)}: {counted(len(frame), 'claim')} with a score."
    known = chain.from_iterable(library.propositions_for(one, [person.id]) for one in DIMENSIONS)
    claims = {each.id: _in_words(each.claim, person) for each in known}

    def told(one: pd.Series) -> str:
        claim = shortened(claims.get(str(one["Id"]), str(one["Claim"])), 160)
        return f"\u201c{claim}\u201d (wanted {one['Wanted']}, {one['Score']:.1f} of 9)"

    lowest, highest = told(frame.iloc[0]), told(frame.iloc[-1])
    return f"Held worst: {lowest}. Held best: {highest}."


def _held(scores: pd.DataFrame, dimension: Dimension) -> dict[str, str]:
    frame = personas.proposition_frame(scores, dimension)
    return {key: score_text(float(score), dimension) for key, score in zip(frame["Id"], frame["Score"], strict=True)}
