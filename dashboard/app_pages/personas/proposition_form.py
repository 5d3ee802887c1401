"""Edit propositions in a form, checked as one types; try them, save them as a version, and restore an older one."""

from __future__ import annotations

import re
from pathlib import Path

import streamlit as st

from dashboard import access_checks
from dashboard.app_pages.personas.proposition_drafts import Draft, draft_of, forget_draft
from dashboard.app_pages.personas.proposition_trial import trial_panel
from dashboard.shared import personas
from dashboard.shared.identity import identity
from dashboard.shared.jobs.judging_jobs import PROPOSITIONS_VARIABLE, proposition_folder
from dashboard.shared.notices import plain
from dashboard.shared.personas import SelectableAgent
from dashboard.shared.status_table import status_table
from evaluation.access.roles import Action
from evaluation.errors import DramaturgError
from evaluation.files.yaml_lines import FileProblem
from evaluation.judging.propositions.file_faults import CheckedFile
from evaluation.judging.propositions.own_dimensions import is_computed
from evaluation.judging.propositions.preconditions import registered
from evaluation.judging.propositions.proposition import DEFAULT_AGENT, ENVIRONMENT_DIMENSIONS, Proposition
from evaluation.judging.propositions.templates import VARIABLES
from evaluation.persona.results import DIMENSIONS, LABELS
from evaluation.store import Store
from evaluation.store.agents.proposition_versions import PropositionVersion
from evaluation.text.display import counted
from evaluation.workflows.propositions.saved import (
    check_propositions,
    check_version,
    editable_propositions,
    file_with_precedence,
    save_propositions,
    shipped_propositions,
)

_SAVED = "propositions_saved"
_POSITION = re.compile(r"propositions\[(\d+)\]\.?(.*)")


def proposition_form(store: Store, person: SelectableAgent) -> None:
    """The propositions of a dimension as a form, what an edit changes, a trial, and the versions."""
    left, right = st.columns(2)
    fitting = [each for each in DIMENSIONS if (each in ENVIRONMENT_DIMENSIONS) is person.is_channel]
    fitting = [each for each in fitting if not is_computed(each)]
    dimension = left.selectbox("Dimension", fitting, format_func=LABELS.__getitem__, key="edited_dimension")
    owners = [DEFAULT_AGENT, *([person.id] if personas.has_file_name(person.id) else [])]
    owner = right.selectbox(
        "For whom",
        owners,
        format_func=lambda each: "everybody" if each == DEFAULT_AGENT else f"only {person.name}",
        key="edited_owner",
    )
    if message := st.session_state.pop(_SAVED, None):
        st.success(message, icon=":material/check:")
    file = file_with_precedence(proposition_folder(), dimension, owner)
    _say_precedence(file)
    with store.unit():
        versions = store.proposition_versions.history(dimension, owner)
        held = editable_propositions(store, dimension, owner)
    draft = draft_of(dimension, owner, held, len(versions))
    st.caption(_origin(versions))
    _rows(draft)
    checked = check_propositions(draft.text, dimension, owner) if draft.rows else CheckedFile("")
    _changes(store, draft, held, checked)
    _buttons(store, draft, held, checked)
    if checked.propositions:
        trial_panel(store, person, dimension, checked.propositions)
    _versions(store, draft, versions)


def _say_precedence(file: Path | None) -> None:
    folder = proposition_folder()
    if folder is None:
        return
    st.info(
        f"{PROPOSITIONS_VARIABLE} names a folder of propositions. A file in it has precedence over what is saved here: "
        "its propositions replace those of the same id.",
        icon=":material/folder:",
    )
    if file is not None:
        st.caption("For this dimension and agent there is such a file:")
        plain(str(file))


def _origin(versions: list[PropositionVersion]) -> str:
    variables = ", ".join(f"{{{{{name}}}}} for {meaning}" for name, meaning in VARIABLES.items())
    if versions and versions[-1].content is not None:
        origin = f"Version {versions[-1].number}, saved here, is in force."
    else:
        origin = "The propositions that come with Dramaturg are in force."
    return f"{origin} A claim may hold {variables}."


def _rows(draft: Draft) -> None:
    for place, (number, row) in enumerate(draft.rows.items(), start=1):
        with st.container(border=True, key=f"proposition_row_{draft.serial}_{number}"):
            st.markdown(f"**Proposition {place}**")
            _row(draft, number, row)
    st.button("Add a proposition", icon=":material/add:", key="add_proposition", on_click=draft.add)


def _row(draft: Draft, number: int, row: dict[str, object]) -> None:
    for name, value in row.items():
        st.session_state.setdefault(draft.key(number, name), value)

    def key(name: str) -> str:
        return draft.key(number, name)

    row["claim"] = st.text_area("Claim", key=key("claim"), height=80, max_chars=2_000)
    left, middle, right = st.columns([2, 1, 2], vertical_alignment="bottom")
    row["id"] = left.text_input("Id", key=key("id"), max_chars=100)
    row["weight"] = middle.number_input("Weight", 0.0, 1.0, step=0.1, key=key("weight"))
    row["precondition"] = right.selectbox("Only asked if", [None, *registered()], key=key("precondition"))
    row["recommendations_for_improvement"] = st.text_input(
        "What to tell an agent that scores low", key=key("recommendations_for_improvement"), max_chars=2_000
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        row["is_inverted"] = st.toggle("Inverted: a high mark is bad", key=key("is_inverted"))
        row["has_double_check"] = st.toggle("The judge reconsiders", key=key("has_double_check"))
        st.button("Remove", icon=":material/delete:", key=key("remove"), on_click=draft.remove, args=(number,))


def _changes(store: Store, draft: Draft, held: tuple[Proposition, ...], checked: CheckedFile) -> None:
    if checked.problems:
        (st.error if checked.errors else st.warning)(
            f"{counted(len(checked.errors), 'fault')}: these propositions cannot be used like this."
            if checked.errors
            else "These propositions can be used; look at this first."
        )
        plain("\n".join(dict.fromkeys(map(_problem, checked.problems))))
    if checked.errors:
        return
    changed = personas.changes(held, checked.propositions)
    if changed.empty:
        st.caption("Nothing is changed. Faults and changes show here as you edit.")
        return
    concerned = personas.concerned(store, draft.agent_id)
    st.caption(f"This changes what {counted(concerned, 'agent')} will be asked. Scores stored until now stay.")
    status_table(changed, "What the edit changes, proposition by proposition")


def _problem(problem: FileProblem) -> str:
    found = _POSITION.match(problem.field)
    if found is None:
        return f"{problem.field}: {problem.text}"
    return f"Proposition {int(found[1]) + 1}{f', {found[2]}' if found[2] else ''}: {problem.text}"


def _buttons(store: Store, draft: Draft, held: tuple[Proposition, ...], checked: CheckedFile) -> None:
    has_changed = draft.propositions != held
    with st.container(horizontal=True):
        is_usable = bool(checked.propositions) and not checked.errors
        if st.button("Save", type="primary", disabled=not (has_changed and is_usable), key="save_propositions"):
            _save(store, draft, draft.text)
        if has_changed:
            again = (draft.dimension, draft.agent_id)
            st.button("Undo all edits", key="forget_draft", on_click=forget_draft, args=again)
        access_checks.download_button(
            "propositions",
            "Download as a file",
            draft.text.encode,
            f"{draft.dimension}.yaml",
            "application/yaml",
            key="load_yaml",
        )


def _save(store: Store, draft: Draft, text: str | None) -> None:
    try:
        identity.require(Action.EDIT)
        found = save_propositions(
            store, draft.dimension, draft.agent_id, text, who=identity.author_name(), after=draft.begun_at
        )
    except DramaturgError as error:
        st.error("The propositions could not be saved.")
        plain(str(error))
        return
    forget_draft(draft.dimension, draft.agent_id)
    st.session_state[_SAVED] = f"Saved as version {found.number}. The next evaluation asks these propositions."
    st.rerun()


def _versions(store: Store, draft: Draft, versions: list[PropositionVersion]) -> None:
    if not versions:
        return
    st.subheader("Versions", anchor=False)
    newest_first = versions[::-1]
    chosen = st.selectbox(
        "Version",
        newest_first,
        format_func=lambda each: f"Version {each.number}, {each.at:%Y-%m-%d %H:%M} UTC{_kind(each)}",
        key=f"version_{draft.dimension}_{draft.serial}",
    )
    plain(f"Saved by {chosen.who}.")
    before = _propositions_before(draft, versions, chosen.number - 1)
    changed = personas.changes(before, _propositions_before(draft, versions, chosen.number))
    if changed.empty:
        st.caption("It changed nothing.")
    else:
        st.caption("What it changed, compared with the version before:")
        status_table(changed, "What the version changed, proposition by proposition")
    with st.container(horizontal=True):
        is_newest = chosen.number == versions[-1].number
        if st.button("Restore this version", disabled=is_newest, key="restore_version", icon=":material/history:"):
            _save(store, draft, chosen.content)
        is_shipped = versions[-1].content is None
        if st.button("Use the shipped ones again", disabled=is_shipped, key="use_shipped"):
            _save(store, draft, None)


def _kind(version: PropositionVersion) -> str:
    return ", the shipped ones" if version.content is None else ""


def _propositions_before(draft: Draft, versions: list[PropositionVersion], number: int) -> tuple[Proposition, ...]:
    """The propositions after version ``number``; for 0 the shipped ones."""
    if number == 0 or versions[number - 1].content is None:
        return shipped_propositions(draft.dimension, draft.agent_id)
    return check_version(versions[number - 1]).propositions
