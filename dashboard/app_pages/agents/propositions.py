"""The claims that an agent is held against: what each scored in the latest run, and the file where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.app_pages.agents.scores import claim_text, show_judgements
from dashboard.shared import personas, resources
from dashboard.shared.jobs.judging_jobs import proposition_library
from dashboard.shared.notices import plain
from dashboard.shared.personas import SelectableAgent, score_text
from dashboard.shared.status_table import status_table
from evaluation.comparison.runs import general_claim
from evaluation.judging.propositions import ENVIRONMENT_DIMENSIONS, Dimension, Proposition
from evaluation.persona.dimensions import DIMENSIONS, LABELS
from evaluation.text.display import counted, shortened


@dataclass(frozen=True, slots=True)
class _HeldClaim:
    """A claim with its score in the latest run; ``None`` where it was not asked."""

    proposition: Proposition
    claim: str
    score: float | None

    @property
    def dimension(self) -> Dimension:
        return self.proposition.dimension

    @property
    def cell(self) -> str:
        return "not asked" if self.score is None else score_text(self.score, self.dimension)


def propositions(person: SelectableAgent) -> None:
    """The claims of each dimension, the worst first, each a way to its judgements; an editor changes the files."""
    claims = _claims(person)
    plain(_sentence(person, claims))
    st.caption(
        "From 0 to 9: how well each claim is held to, the worst first. After \u201cNever\u201d stands what should not "
        "happen. A score opens the messages behind it."
    )
    for dimension in dict.fromkeys(one.dimension for one in claims):
        st.subheader(LABELS[dimension], anchor=False)
        with st.container(gap="xsmall"):
            for one in claims:
                if one.dimension is dimension:
                    _row(one, person)
    with st.expander("Where the claims are kept"):
        st.caption("These are YAML files. Edit them with a text editor; `dramaturg propositions check` finds mistakes.")
        status_table(_frame(claims, person), "Claims with file and line, score and weight")


def _claims(person: SelectableAgent) -> list[_HeldClaim]:
    """By dimension, the worst score first, those that were not asked last."""
    library = proposition_library()
    means: dict[Any, float] = {}
    if person.run:
        scores = resources.read(personas.run_detail, str(person.run["run_id"])).scores
        means = scores.groupby(["dimension", "proposition_id"])["score"].mean().to_dict()
    found = [
        _HeldClaim(each, _in_words(each, person), means.get((str(dimension), each.id)))
        for dimension in DIMENSIONS
        if (dimension in ENVIRONMENT_DIMENSIONS) is person.is_channel
        for each in library.propositions_for(dimension, [person.id])
    ]
    return sorted(found, key=lambda one: (DIMENSIONS.index(one.dimension), one.score is None, one.score or 0.0))


def _in_words(one: Proposition, person: SelectableAgent) -> str:
    claim = general_claim(one.claim.replace("{{agent_name}}", person.name), "{{action}}")
    return claim_text(claim, is_fault=one.is_inverted)


def _row(one: _HeldClaim, person: SelectableAgent) -> None:
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
        st.button(
            one.cell,
            key=f"judged_{one.dimension}_{one.proposition.id}",
            type="tertiary",
            icon=":material/forum:" if person.run else None,
            disabled=one.score is None or not person.run,
            on_click=show_judgements,
            args=(person.id, str(person.run["run_id"]) if person.run else "", one.dimension, one.proposition.id),
        )
        plain(one.claim)


def _frame(claims: Sequence[_HeldClaim], person: SelectableAgent) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                # The folders above say nothing about the claim, but much about the server.
                "File and line": "/".join(one.proposition.source.split("/")[-2:]),
                "Claim": one.claim,
                "Score": one.cell,
                "For": "everybody" if one.proposition.agent_id != person.id else "this one",
                "Weight": one.proposition.weight,
            }
            for one in claims
        ]
    )


def _sentence(person: SelectableAgent, claims: Sequence[_HeldClaim]) -> str:
    """The claims with the lowest and the highest score in words: untrusted text, as it names the agent."""
    name = shortened(person.name, 60)
    scored = sorted(
        (one for one in claims if one.score is not None and one.dimension is not Dimension.IDEAS_QUANTITY),
        key=lambda one: one.score or 0.0,
    )
    if not scored:
        return f"{name} is held against {counted(len(claims), 'claim')}; no score yet."
    best = f" Strongest: {_quoted(scored[-1])}." if len(scored) > 1 else ""
    return f"{name}: {len(scored)} of {counted(len(claims), 'claim')} scored. Weakest: {_quoted(scored[0])}.{best}"


def _quoted(one: _HeldClaim) -> str:
    return f"\u201c{shortened(one.claim.rstrip('.'), 160)}\u201d ({one.cell})"
