"""Edit an agent's persona, which speakers are the agent, and show the claims that the agent is held against."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from dashboard.app_pages.agents.profile_data import claim_text
from dashboard.shared.jobs.judging_jobs import proposition_library
from dashboard.shared.notices import plain, tell_beyond
from dashboard.shared.personas import SelectableAgent
from dashboard.shared.status_table import status_table
from evaluation.comparison.runs import general_claim
from evaluation.judging.propositions import ENVIRONMENT_DIMENSIONS, Proposition
from evaluation.persona.agents import Agent, persona_text, shipped_cast
from evaluation.persona.dimensions import DIMENSIONS, LABELS
from evaluation.store import Store

_LONGEST_PERSONA = 50_000
_SAVED = "persona_saved"


def persona(store: Store, person: SelectableAgent) -> None:
    """The persona that a person gave an agent, which speakers are this agent, and what it is held against."""
    if person.is_channel:
        st.info("A channel has no persona: everybody in it has their own.")
    else:
        _persona_form(store, person)
        _speakers(store, person)
    with st.expander("Claims that it is held against"):
        _claims_table(person)


def _persona_form(store: Store, person: SelectableAgent) -> None:
    agent = store.agents.all().get(person.id)
    given = agent.persona if agent else None
    if message := st.session_state.pop(_SAVED, None):
        st.success(message)
    st.caption(
        "What stands here outranks the persona in a transcript and the shipped one. Leave it blank to use those."
    )
    with st.form("persona", border=False):
        text = st.text_area("Persona", _as_text(given), height=160)
        is_sent = st.form_submit_button("Save the persona", type="primary", key="save_persona")
        if is_sent and not tell_beyond(text, _LONGEST_PERSONA, "persona"):
            store.agents.save(Agent(person.id, person.name, persona=_as_persona(text)))
            st.session_state[_SAVED] = "Saved. The next run judges by it."
            st.rerun()
    if given is None and (shipped := shipped_cast().members.get(person.id)):
        with st.expander("The shipped persona, which counts where a transcript has none"):
            plain(persona_text(shipped.agent.persona))


def _as_text(persona: Any) -> str:
    if persona is None:
        return ""
    return persona if isinstance(persona, str) else json.dumps(persona, ensure_ascii=False, indent=2)


def _as_persona(text: str) -> Any:
    stripped = text.strip()
    if stripped.startswith("{"):
        try:
            return json.loads(stripped)
        except (ValueError, RecursionError):
            return stripped
    return stripped or None


def _speakers(store: Store, person: SelectableAgent) -> None:
    st.subheader("Speakers who are this agent", anchor=False)
    with store.unit():
        chosen = store.agents.speakers()
        speaking = sorted({name for _, name in store.agents.players()})
    mapped = [speaker for speaker, agent_id in chosen.items() if agent_id == person.id]
    st.caption("A speaker is the agent of the same name unless somebody decides otherwise.")
    for place, speaker in enumerate(mapped):
        with st.container(horizontal=True, vertical_alignment="center"):
            plain(speaker)
            st.button("Undo", key=f"unmap_{place}", on_click=store.agents.map_speaker, args=(speaker, None))
    others = [name for name in speaking if name not in mapped]
    with st.form("map_speaker", border=False):
        other = st.selectbox("Speaker", others, index=None, key=f"speaker_{len(mapped)}")
        if st.form_submit_button("Link this speaker to the agent", key="map_speaker_send") and other:
            store.agents.map_speaker(other, person.id, who=f"dashboard {datetime.now(UTC):%Y-%m-%d}")
            st.rerun()


def _claims_table(person: SelectableAgent) -> None:
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
