"""Edit an agent's propositions, checked while they are edited, and its persona."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from dashboard import access_checks
from dashboard.shared import personas
from dashboard.shared.identity import identity
from dashboard.shared.jobs.judging_jobs import PROPOSITIONS_VARIABLE, own_propositions
from dashboard.shared.notices import plain
from dashboard.shared.personas import SelectableAgent
from dashboard.shared.status_table import status_table
from evaluation.access.roles import Action
from evaluation.errors import DramaturgError
from evaluation.judging.propositions.proposition import DEFAULT_AGENT, ENVIRONMENT_DIMENSIONS, Dimension
from evaluation.persona.agents import Agent
from evaluation.persona.results import DIMENSIONS, LABELS
from evaluation.store import Store
from evaluation.text.display import counted

_LONGEST_PERSONA = 50_000
_SAVED = "persona_saved"


def proposition_editor(store: Store, person: SelectableAgent) -> None:
    """The file of a dimension as text, its faults by line, and what saving it would change."""
    left, right = st.columns(2)
    fitting = [each for each in DIMENSIONS if (each in ENVIRONMENT_DIMENSIONS) is person.is_channel]
    dimension = left.selectbox("Dimension", fitting, format_func=LABELS.__getitem__, key="edited_dimension")
    owners = [DEFAULT_AGENT, *([person.id] if personas.has_file_name(person.id) else [])]
    owner = right.selectbox(
        "For whom",
        owners,
        format_func=lambda each: "everybody" if each == DEFAULT_AGENT else f"only {person.name}",
        key="edited_owner",
    )
    before = personas.file_text(dimension, owner)
    text = st.text_area("Propositions", before, height=420, key=f"yaml_{dimension}_{owners.index(owner)}_{len(before)}")
    _show_check(store, before, text, dimension, owner)


def _show_check(store: Store, before: str, text: str, dimension: Dimension, owner: str) -> None:
    checked = personas.check_edit(text, dimension, owner)
    if checked.problems:
        (st.error if checked.errors else st.warning)(
            f"{counted(len(checked.errors), 'fault')}: the file cannot be used like this."
            if checked.errors
            else "The file can be used; look at this first."
        )
        plain("\n".join(str(problem) for problem in checked.problems))
    if checked.errors:
        return
    changed = personas.changes(personas.check_edit(before, dimension, owner).propositions, checked.propositions)
    if changed.empty:
        st.caption("Nothing is changed. Faults and changes show here as you edit.")
    else:
        concerned = personas.concerned(store, owner)
        st.caption(f"This changes what {counted(concerned, 'agent')} will be asked. Scores stored until now stay.")
        status_table(changed, "What the edit changes, proposition by proposition")
    _save(text, dimension, owner, has_changed=text != before)


def _save(text: str, dimension: Dimension, owner: str, *, has_changed: bool) -> None:
    with st.container(horizontal=True):
        if own_propositions() is None:
            st.caption(f"To save from here, start the server with {PROPOSITIONS_VARIABLE} set to a folder of yours.")
        elif st.button("Save", type="primary", disabled=not has_changed, key="save_yaml"):
            try:
                identity.require(Action.EDIT)
                personas.save_edit(text, dimension, owner)
            except (DramaturgError, OSError) as error:
                st.error("The file could not be saved.")
                plain(str(error))
            else:
                st.toast("Saved. The next run asks these propositions.", icon=":material/check:")
        name = f"{dimension}.yaml"
        access_checks.download_button(
            "propositions", "Download", text.encode, name, "application/yaml", key="load_yaml"
        )


def persona_form(store: Store, person: SelectableAgent) -> None:
    """The persona that a person gave an agent, and which speakers are this agent."""
    if person.is_channel:
        st.info("A channel has no persona: everybody in it has their own.")
        return
    agent = store.agents.all().get(person.id)
    given = agent.persona if agent else None
    if message := st.session_state.pop(_SAVED, None):
        st.success(message)
    st.caption(
        "What stands here outranks the persona in a transcript and the shipped one. Leave it blank to use those."
    )
    with st.form("persona", border=False):
        text = st.text_area("Persona", _as_text(given), height=260, max_chars=_LONGEST_PERSONA)
        if st.form_submit_button("Save the persona", type="primary", key="save_persona"):
            store.agents.save(Agent(person.id, person.name, persona=_as_persona(text)))
            st.session_state[_SAVED] = "Saved. The next run judges by it."
            st.rerun()
    _speakers(store, person)


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
    with st.expander("Speakers who are this agent"):
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
            if st.form_submit_button("This speaker is the agent", key="map_speaker_send") and other:
                store.agents.map_speaker(other, person.id, who=f"dashboard {datetime.now(UTC):%Y-%m-%d}")
                st.rerun()
