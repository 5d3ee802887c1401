"""Edit one iteration: its description, the baseline, the sign-off of the gate, its games, and its deletion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import partial

import pandas as pd
import streamlit as st

from dashboard.app_pages.overview.decisions import promote, sign_off
from dashboard.shared import changes, resources, state
from dashboard.shared.changes import attempt, delete
from dashboard.shared.formatting import share_text, usd_text
from dashboard.shared.identity import identity
from dashboard.shared.local_time import local_time
from dashboard.shared.notices import LONGEST_TEXT, plain, require_length
from dashboard.shared.status_table import pick_row, pick_rows
from evaluation.errors import ConflictError
from evaluation.iterations.board import Board, IterationSummary
from evaluation.iterations.iteration import MAX_NAME_LENGTH, Description, Edit, Iteration
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.store import Store
from evaluation.text.display import counted, listed, shortened
from evaluation.workflows.iterations import current

_LABELS = {
    "name": "Name",
    "parent": "Changed from",
    "prompt_text": "Prompt text",
    "change": "The one change",
    "target_metric": "Target metric",
}
_KEYS = {"name": "name", "parent": "parent", "prompt_text": "prompt", "change": "change", "target_metric": "target"}
"""The keys of the form's inputs, by field of a description."""
_REFUSED = "description_refused"


@dataclass(frozen=True, slots=True)
class _Refused:
    """A description that was not saved, as somebody changed the same fields in the meantime.

    Attributes:
        name: Of the iteration.
        typed: What was typed, for the form to keep.
        meanwhile: What became of each such field, in words, and its text now; untrusted text.
    """

    name: str
    typed: Description
    meanwhile: Mapping[str, tuple[str, str]]


MANAGED = "manage"
"""The query parameter of the form that is open."""
DESCRIPTION, DECIDED, GAMES, DELETE = "Description", "Baseline and sign-off", "Its games", "Delete"
FORMS = {DESCRIPTION: "edit", DECIDED: "flag", GAMES: "forum", DELETE: "delete"}
"""The forms for what can be edited of an iteration, with their signs."""


def more_menu(shown: IterationSummary, board: Board) -> None:
    """A menu with what is known about the iteration, and what can be edited of it, each in a view of its own."""
    with st.popover("More", icon=":material/more_horiz:", key="manage_iteration"):
        _facts(shown, board)
        with st.container(gap=None):
            for form, sign in FORMS.items():
                icon, to = f":material/{sign}:", {MANAGED: form}
                st.button(form, icon=icon, key=f"manage_{sign}", type="tertiary", on_click=state.choose, kwargs=to)


def managed(store: Store, shown: IterationSummary, board: Board, form: str) -> None:
    """One of ``FORMS``, and the way back."""
    edits = resources.read(store.iterations.history, shown.iteration.name)
    # A form that was filled in before somebody else changed the iteration must not overwrite that unseen.
    place = f"{shown.iteration.position}_{len(edits)}"
    st.button("Back to the decision", icon=":material/arrow_back:", key="leave_form", on_click=_leave)
    st.subheader(form, anchor=False)
    if form == DESCRIPTION:
        _description_form(store, shown.iteration, board, place)
        _history(edits)
    elif form == DECIDED:
        _baseline(store, shown, board, place)
        sign_off(store, shown.iteration, place)
    elif form == GAMES:
        manage_games(store, board, shown.iteration.name)
    else:
        _delete_form(store, shown, board, place)


def _leave() -> None:
    state.choose(**{MANAGED: None})


def _facts(shown: IterationSummary, board: Board) -> None:
    held = shown.iteration
    number = 1 + [one.iteration.name for one in board.iterations].index(held.name)
    cost, cache = usd_text(shown.cost_usd.mean), share_text(shown.cache_hit_rate.mean)
    target = f"target {DEFINITIONS[held.target_metric].label}" if held.target_metric else "no target"
    games = f"{counted(len(shown.games), 'game')}, mean cost {cost}, cache hits {cache}"
    st.caption(f"Iteration {number} of {len(board.iterations)} · {games} · {target}")
    for warning in shown.warnings:
        st.caption(f":material/warning: {warning}")


def _description_form(store: Store, held: Iteration, board: Board, place: str) -> None:
    others = [one.iteration.name for one in board.iterations if one.iteration.name != held.name]
    parents = [None, *dict.fromkeys([*others, *([held.parent] if held.parent else [])])]
    targets = [None, *DEFINITIONS]
    refused = st.session_state.pop(_REFUSED, None)
    if not isinstance(refused, _Refused) or refused.name != held.name:
        refused = None
    else:
        state.set_widgets({f"{key}_{place}": getattr(refused.typed, field) for field, key in _KEYS.items()})
    with st.form(f"describe_{place}", border=False):
        left, right = st.columns(2)
        left.text_input("Name", held.name, key=f"name_{place}")
        right.selectbox(
            "Changed from",
            parents,
            parents.index(held.parent),
            key=f"parent_{place}",
            format_func=lambda n: n or "nothing",
        )
        left.text_input("The one change that was made", held.change, key=f"change_{place}")
        right.selectbox(
            "Target metric",
            targets,
            targets.index(held.target_metric),
            key=f"target_{place}",
            format_func=lambda name: DEFINITIONS[name].label if name else "none in particular",
        )
        st.text_area("Prompt text", held.prompt_text, key=f"prompt_{place}", height=120)
        for field, (words, text) in (refused.meanwhile if refused else {}).items():
            st.error(f"{_LABELS[field]}: not saved. Save again to put yours in its place.", icon=":material/error:")
            plain(words)
            st.code(text, language=None, wrap_lines=True)
        st.form_submit_button("Save", key=f"save_{place}", type="primary", on_click=_save, args=(store, held, place))


def _save(store: Store, held: Iteration, place: str) -> None:
    typed = Description(**{field: st.session_state[f"{key}_{place}"] for field, key in _KEYS.items()})
    typed = replace(typed, name=typed.name.strip())
    own = [field for field in _KEYS if getattr(typed, field) != getattr(held, field)]

    def change() -> None:
        require_length(typed.name, MAX_NAME_LENGTH, _LABELS["name"])
        require_length(typed.change, LONGEST_TEXT, _LABELS["change"])
        with store.unit(write=True):
            now = _as_it_is_now(store, held, {_LABELS[field]: getattr(typed, field) for field in own})
            # Where a rename, here or in another tab, would make the page show another iteration.
            state.set_widgets({state.ITERATION: now.name})
            _require_unchanged(store, held, now, typed, own)
            # What this form did not touch stays as it is now, whoever changed it.
            wanted = replace(
                Description(**{one.name: getattr(now, one.name) for one in fields(Description)}),
                **{field: getattr(typed, field) for field in own},
            )
            store.iterations.rename(now.name, wanted.name, who=identity.author_name())
            store.iterations.describe(wanted, who=identity.author_name())
            state.set_widgets({state.ITERATION: wanted.name})

    attempt(change, "Saved. What stood before is kept below.")


def _as_it_is_now(store: Store, held: Iteration, own: Mapping[str, object]) -> Iteration:
    """The iteration that a form was drawn for, also where it was renamed.

    Args:
        store: Where it is.
        held: As it was when the form was drawn.
        own: What was typed, by the label of the input.

    Raises:
        ConflictError: It was deleted; what was typed stands in the message.
    """
    found = store.iterations.list()
    for one in found:
        if (one.name, one.created_at) == (held.name, held.created_at):
            return one
    for one in found:
        if any(edit.field == "name" and edit.before == held.name for edit in store.iterations.history(one.name)):
            return one
    typed = "\n".join(f"{label}: {value or 'none'}" for label, value in own.items())
    raise ConflictError(f"This iteration was deleted in the meantime. You had typed:\n{typed}" if typed else _GONE)


_GONE = "This iteration was deleted in the meantime."


def _require_unchanged(store: Store, held: Iteration, now: Iteration, typed: Description, own: list[str]) -> None:
    """Refuses fields that were changed here and, to something else, in another tab; the next form keeps what was typed.

    Raises:
        ConflictError: There is such a field.
    """
    fields_apart = [field for field in own if getattr(now, field) not in (getattr(held, field), getattr(typed, field))]
    if fields_apart:
        edits = {edit.field: edit for edit in store.iterations.history(now.name)}
        told = {
            field: (f"{edits[field].who} changed it on {local_time(edits[field].at)}. It is now:", edits[field].after)
            for field in fields_apart
        }
        st.session_state[_REFUSED] = _Refused(now.name, typed, told)
        labels = listed([_LABELS[field] for field in fields_apart])
        raise ConflictError(
            f"{labels}: changed by {edits[fields_apart[0]].who} since you opened the form.",
            remedy="What you typed is still in the form.",
        )


def _history(edits: list[Edit]) -> None:
    if not edits:
        st.caption("Nothing was changed since it was created.")
        return
    st.caption(
        f"{counted(len(edits), 'change')} so far, the latest first. Select one to read the whole text before it."
    )
    rows = [
        {
            "When": local_time(one.at),
            "By": one.who,
            "What": _LABELS[one.field],
            "Before": shortened(one.before, 80),
            "After": shortened(one.after, 80),
        }
        for one in reversed(edits)
    ]
    chosen = pick_row(rows, "Changes of this iteration's description", f"description_edits_{len(edits)}")
    if chosen is not None:
        st.code(edits[-1 - chosen].before, language=None, wrap_lines=True)


def _baseline(store: Store, shown: IterationSummary, board: Board, place: str) -> None:
    if shown.iteration.is_baseline:
        st.markdown(":material/flag: This is the baseline.")
        return
    fate = shown.iteration.recorded.fate if shown.iteration.recorded else None
    remark = {"kept": "This one is kept.", "reverted": "This one was reverted, so think twice."}.get(
        str(fate), "Nobody has recorded yet whether this one is kept."
    )
    st.markdown(f"Under *Numbers* every comparison also names the change against the baseline. {remark}")
    if board.baseline:
        plain(f"The baseline now: {board.baseline.iteration.name}")
    st.button(
        "Make this the baseline",
        key=f"promote_{place}",
        icon=":material/flag:",
        on_click=promote,
        args=(store, shown.iteration.name),
    )


_KEEP, _TAKE = "Keep them, without an iteration", "Delete them too"


def _delete_form(store: Store, shown: IterationSummary, board: Board, place: str) -> None:
    games = counted(len(shown.games), "game")
    st.markdown(f"The iteration goes with its description, sign-off and place. It has {games}. You can undo it.")
    if shown.iteration.is_baseline and len(board.iterations) > 1:
        st.caption(
            "It is the baseline. The one that was the baseline before takes its place, else the first iteration."
        )
    if shown.games:
        st.radio("What becomes of its games?", [_KEEP, _TAKE], key=f"fate_{place}")
    st.button(
        "Delete this iteration",
        key=f"delete_iteration_{place}",
        icon=":material/delete:",
        on_click=_delete,
        args=(store, shown.iteration.name, place),
    )


def _delete(store: Store, name: str, place: str) -> None:
    with_games = st.session_state.get(f"fate_{place}") == _TAKE
    remove = partial(store.deletions.delete_iteration, name, with_games=with_games)
    if delete(lambda who: remove(who=who), "The iteration is deleted."):
        _leave()
        if shown := current(store):
            state.set_widgets({state.ITERATION: shown})


_THESE, _LOOSE, _ALL = "This iteration", "No iteration", "All"


def manage_games(store: Store, board: Board, shown: str | None) -> None:
    """A table in which several games can be chosen, and what can be done with them.

    Args:
        store: Where they are.
        board: The iterations that games can be moved into.
        shown: The iteration that the page shows; ``None`` for none.
    """
    games = resources.share(changes.stored_games)
    places = [_THESE, _LOOSE, _ALL] if shown is not None else [_LOOSE, _ALL]
    place = st.segmented_control("Games of", places, default=places[0], required=True, key="games_of")
    listed = _listed(games, place, shown)
    if listed.empty:
        st.caption("No games here.")
        return
    chosen = _chosen(listed)
    names = [one.iteration.name for one in board.iterations]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        target = st.selectbox(
            "Move into", [None, *names], key="move_into", format_func=lambda name: name or "no iteration"
        )
        count = counted(len(chosen), "game")
        st.button(
            f"Move {count}",
            key="move_games",
            icon=":material/drive_file_move:",
            disabled=not chosen,
            on_click=_move,
            args=(store, chosen, target),
        )
        st.button(
            f"Delete {count}",
            key="delete_games",
            icon=":material/delete:",
            disabled=not chosen,
            on_click=_delete_games,
            args=(store, chosen),
        )
    st.caption("Select the games in the table. Moved games are placed after the games already there.")


def _listed(games: pd.DataFrame, place: str | None, shown: str | None) -> pd.DataFrame:
    if place == _ALL:
        return games
    return games[games["Iteration"] == (shown if place == _THESE else "")]


def _chosen(listed: pd.DataFrame) -> list[str]:
    # The ids too: other games may look the same, and their rows must not stay chosen.
    key = f"games_table_{hash(tuple(listed['transcript_id']))}"
    rows = pick_rows(listed.drop(columns="transcript_id"), "Games to move or delete", key)
    return [str(listed["transcript_id"].iloc[row]) for row in rows]


def _move(store: Store, chosen: list[str], target: str | None) -> None:
    attempt(partial(store.iterations.move, chosen, target), f"Moved {counted(len(chosen), 'game')}.")


def _delete_games(store: Store, chosen: list[str]) -> None:
    delete(lambda who: store.deletions.delete(chosen, who=who), f"Deleted {counted(len(chosen), 'game')}.")
