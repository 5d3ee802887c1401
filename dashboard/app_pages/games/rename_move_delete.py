"""Edit one game: its name, its iteration, and its deletion with undo."""

from __future__ import annotations

import streamlit as st

from dashboard.shared import queries, resources, state
from dashboard.shared.changes import attempt, delete
from dashboard.shared.notices import plain
from dashboard.shared.queries import OpenTranscript
from evaluation.errors import InputError
from evaluation.store import Store

_NO_ITERATION = ""
"""Stands for it among the choices: no iteration can be called so."""


def edit_transcript(opened: OpenTranscript) -> None:
    """A menu in which the open game is renamed, moved to another iteration or deleted."""
    store, transcript_id = resources.store(), opened.transcript.id
    with st.popover("More", icon=":material/more_horiz:", help="Rename, move or delete this game"):
        _rename(store, opened, transcript_id)
        _move(store, opened, transcript_id)
        with st.container(key="menu_end", gap="small"):
            st.caption("Deletes the game with its scores, ratings and overrides. You can undo this.")
            st.button(
                "Delete this game",
                key=f"delete_game_{transcript_id}",
                icon=":material/delete:",
                on_click=_delete,
                args=(store, transcript_id),
            )


def _rename(store: Store, opened: OpenTranscript, transcript_id: str) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Title, to find the game by",
            opened.name,
            key=f"game_name_{transcript_id}",
            help="From the file until you change it. In an iteration a game goes by its number, elsewhere by this "
            "title.",
        )
        st.button("Rename", key=f"rename_{transcript_id}", on_click=_save_name, args=(store, transcript_id))
    if opened.name != opened.transcript.game_id:
        plain(f"In its file it is called {opened.transcript.game_id}")
        st.button(
            "Use that name again",
            key=f"original_{transcript_id}",
            type="tertiary",
            on_click=_original_name,
            args=(store, transcript_id),
        )


def _save_name(store: Store, transcript_id: str) -> None:
    name = st.session_state[f"game_name_{transcript_id}"]
    attempt(lambda: store.transcripts.rename(transcript_id, name), "Renamed.")


def _original_name(store: Store, transcript_id: str) -> None:
    def change() -> None:
        st.session_state[f"game_name_{transcript_id}"] = store.transcripts.rename(transcript_id, None)

    attempt(change, "The game has the name of its file again.")


def _move(store: Store, opened: OpenTranscript, transcript_id: str) -> None:
    names = list(resources.read(queries.iteration_sizes))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Iteration",
            [name for name in (_NO_ITERATION, *names) if name != (opened.iteration or _NO_ITERATION)],
            index=None,
            key=f"game_iteration_{transcript_id}",
            placeholder="Move into",
            format_func=lambda name: name or "no iteration",
        )
        st.button("Move", key=f"move_{transcript_id}", on_click=_save_place, args=(store, transcript_id))


def _save_place(store: Store, transcript_id: str) -> None:
    target = st.session_state[f"game_iteration_{transcript_id}"]

    def change() -> None:
        if target is None:
            raise InputError("No iteration is chosen.", remedy="Choose one, or 'no iteration'.")
        store.iterations.move([transcript_id], target or None)

    attempt(change, "Moved, after the games that are there.")


def _delete(store: Store, transcript_id: str) -> None:
    if delete(lambda who: store.deletions.delete([transcript_id], who=who), "The game is deleted."):
        state.choose(transcript=None, message=None, metric=None)
