"""What the Upload page shows: the games found in files, and where they shall belong."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from dashboard import resources
from dashboard.components.messages import plain
from dashboard.components.status_table import status_table
from dashboard.formatting import counted, shortened
from evaluation.errors import InputError
from evaluation.iterations import Iteration
from evaluation.readers import ReadResult
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.store import Store
from evaluation.transcript import Transcript

_PREVIEWED_MESSAGES = 5


@dataclass(frozen=True, slots=True)
class FoundGame:
    """A game that was read, with the name of its file."""

    name: str
    transcript: Transcript


@dataclass(frozen=True, slots=True)
class Found:
    """What was in the files: games to store, games that are stored already or came twice, and what was refused."""

    new: tuple[FoundGame, ...]
    known: tuple[FoundGame, ...]
    refused: tuple[ReadResult, ...]


def read_all(files: Sequence[tuple[str, bytes]], stored: Collection[str]) -> Found:
    """Reads every file. ``stored`` holds the ids of the transcripts that the store has."""
    results = resources.read_files(files)
    new: dict[str, FoundGame] = {}
    known = []
    for result in results:
        if result.transcript is None:
            continue
        game = FoundGame(result.name, result.transcript)
        if game.transcript.id in stored or game.transcript.id in new:
            known.append(game)
        else:
            new[game.transcript.id] = game
    return Found(tuple(new.values()), tuple(known), tuple(result for result in results if result.error is not None))


def show_found(found: Found) -> None:
    """The games as a table with a preview of the selected one, and every refusal with its remedy."""
    games = [*found.new, *found.known]
    parts = [f"{counted(len(found.new), 'game')} to store"]
    if found.known:
        parts.append(f"{len(found.known)} stored already, left as they are")
    if found.refused:
        parts.append(f"{len(found.refused)} refused")
    st.subheader("What is in the files", anchor=False)
    st.caption(", ".join(parts) + ".")
    if games:
        rows = [_row(game, "✓ new") for game in found.new] + [_row(game, "– stored already") for game in found.known]
        event = status_table(
            pd.DataFrame(rows),
            "Games found in the files",
            on_select="rerun",
            selection_mode="single-row",
            key="found_table",
        )
        _preview(games[event.selection.rows[0]] if event.selection.rows else games[0])
    for refused in found.refused:
        _refusal(refused)


def _row(game: FoundGame, result: str) -> dict[str, object]:
    transcript = game.transcript
    return {
        "Result": result,
        "File": game.name,
        "Format": transcript.source_format,
        "Players": len(transcript.players),
        "Public messages": len(transcript.discussion),
        "Votes": len(transcript.valid_votes),
        "Game": transcript.game_id,
    }


def _preview(game: FoundGame) -> None:
    with st.expander("Preview of the selected game"):
        first = game.transcript.discussion[:_PREVIEWED_MESSAGES]
        plain(
            "\n".join(f"{message.speaker}: {shortened(message.text, 160)}" for message in first) or "No public message."
        )


def _refusal(refused: ReadResult) -> None:
    error = refused.error
    assert isinstance(error, InputError)
    with st.container(border=True):
        st.badge("✗ refused", color="red")
        plain(refused.name)
        plain(error.message)
        if error.place:
            plain(f"Where: {error.place}")
        if error.remedy:
            plain(f"What to do: {error.remedy}")


@dataclass(frozen=True, slots=True)
class Plan:
    """Where the games shall go: into none, into an existing iteration, or into one that is created first."""

    existing: str | None = None
    created: Iteration | None = None


_NONE, _OLD, _NEW = "No iteration", "An existing one", "A new one"


def iteration_form(names: Sequence[str]) -> Plan | None:
    """The choice of the iteration; ``None`` while a new one has no name."""
    choices = [_NEW, _OLD, _NONE] if names else [_NEW, _NONE]
    choice = st.segmented_control("Iteration", choices, default=_NEW, required=True, key="where")
    if choice == _NONE:
        return Plan()
    if choice == _OLD:
        return Plan(existing=st.selectbox("Which", names, index=len(names) - 1, key="existing"))
    return _new_iteration(names)


def _new_iteration(names: Sequence[str]) -> Plan | None:
    left, right = st.columns(2)
    name = left.text_input("Name", key="new_name", max_chars=200, placeholder="For example: shorter prompt")
    parent = right.selectbox(
        "Changed from", [None, *names], index=len(names), format_func=_or_nothing, key="new_parent"
    )
    target = right.selectbox(
        "Metric it shall raise",
        [None, *DEFINITIONS],
        format_func=lambda metric: DEFINITIONS[metric].label if metric else "none in particular",
        key="new_target",
    )
    change = left.text_input("The one change that was made", key="new_change", max_chars=2000)
    prompt = st.text_area("Prompt text", key="new_prompt", height=120, placeholder="Optional; shown beside the scores")
    if not name.strip():
        st.caption("Give the iteration a name.")
        return None
    return Plan(created=Iteration(name.strip(), 0, parent, prompt, change, target))


def _or_nothing(name: str | None) -> str:
    return name if name else "nothing, it is the first"


def make_iteration(store: Store, plan: Plan | None) -> str | None:
    """The name of the iteration that the plan asks for, created where it is new.

    Raises:
        ConflictError: The name is taken.
    """
    if plan is None or plan.created is None:
        return plan.existing if plan else None
    new = plan.created
    return store.iterations.create(
        new.name, parent=new.parent, prompt_text=new.prompt_text, change=new.change, target_metric=new.target_metric
    ).name
