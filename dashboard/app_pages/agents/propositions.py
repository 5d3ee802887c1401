"""The claims that an agent is held against: what each scored in the latest run, and the file where it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from dashboard.app_pages.agents.profile_data import ScoredClaim, claim_text, scored_claims
from dashboard.app_pages.agents.scores import claim_rows
from dashboard.shared import personas, resources
from dashboard.shared.jobs.judging_jobs import proposition_library
from dashboard.shared.notices import plain
from dashboard.shared.personas import RunDetail, SelectableAgent, score_text
from dashboard.shared.status_table import status_table
from evaluation.comparison.runs import general_claim
from evaluation.judging.propositions import ENVIRONMENT_DIMENSIONS, Dimension, Proposition
from evaluation.persona.dimensions import DIMENSIONS
from evaluation.text.display import counted, shortened


def propositions(person: SelectableAgent) -> None:
    """The claims, the worst first, each opening its judgements in place; an editor changes the files."""
    detail = resources.read(personas.run_detail, str(person.run["run_id"])) if person.run else None
    files = _files(person)
    claims = _claims(person, files, detail)
    plain(_sentence(person, claims))
    opens = " A score opens its judgements." if detail else ""
    st.caption(f"The claims, the worst first. After \u201cNever\u201d stands what should not happen.{opens}")
    claim_rows(claims, detail, opens_first=detail is not None, names_dimension=True)
    with st.expander("Where the claims are kept"):
        st.caption("These are YAML files. Edit them with a text editor; `dramaturg propositions check` finds mistakes.")
        status_table(_frame(claims, files, person), "Claims with file and line, and weight")


def _files(person: SelectableAgent) -> dict[tuple[str, str], Proposition]:
    """The claims that the agent is held against today, by dimension and id."""
    library = proposition_library()
    return {
        (str(dimension), each.id): each
        for dimension in DIMENSIONS
        if (dimension in ENVIRONMENT_DIMENSIONS) is person.is_channel
        for each in library.propositions_for(dimension, [person.id])
    }


def _claims(
    person: SelectableAgent, files: Mapping[tuple[str, str], Proposition], detail: RunDetail | None
) -> list[ScoredClaim]:
    """The worst score first, those that were not asked last."""
    asked = {(str(one.dimension), one.id): one for one in (scored_claims(detail.scores) if detail else [])}
    waiting = [
        ScoredClaim(one.dimension, one.id, _in_words(one, person)) for key, one in files.items() if key not in asked
    ]
    return [*(one for key, one in asked.items() if key in files), *waiting]


def _in_words(one: Proposition, person: SelectableAgent) -> str:
    claim = general_claim(one.claim.replace("{{agent_name}}", person.name), "{{action}}")
    return claim_text(claim, is_fault=one.is_inverted)


def _frame(
    claims: Sequence[ScoredClaim], files: Mapping[tuple[str, str], Proposition], person: SelectableAgent
) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "Claim": one.text,
                # The folders above say nothing about the claim, but much about the server.
                "File and line": "/".join(file.source.split("/")[-2:]),
                "For": "everybody" if file.agent_id != person.id else "this one",
                "Weight": file.weight,
            }
            for one in claims
            for file in [files[str(one.dimension), one.id]]
        ]
    )


def _sentence(person: SelectableAgent, claims: Sequence[ScoredClaim]) -> str:
    """The claim with the lowest score in words: untrusted text, as it names the agent."""
    name = shortened(person.name, 60)
    scored = [one for one in claims if one.score is not None and one.dimension is not Dimension.IDEAS_QUANTITY]
    if not scored:
        return f"{name} is judged by {counted(len(claims), 'claim')}; no score yet."
    weakest = (
        f"\u201c{shortened(scored[0].text.rstrip('.'), 160)}\u201d ({score_text(scored[0].score, scored[0].dimension)})"
    )
    return f"{name}: {len(scored)} of {counted(len(claims), 'claim')} scored. Weakest: {weakest}."
