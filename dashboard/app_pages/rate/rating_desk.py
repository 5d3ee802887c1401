"""The rating desk: a discussion and the rubric's form in one component, so that keys answer without the server.

Python decides what is sent (nothing that could sway a rater) and checks what comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import access_checks
from dashboard.shared.chat.timeline import TimelineEvent, timeline
from dashboard.shared.drawing import define_component
from evaluation.rating_desk.assignments import MAX_NOTE_LENGTH, DiscardReason
from evaluation.ratings import MAX_COMMENT_LENGTH, QUESTION_COUNT, SCORES
from evaluation.rubric.rating_guide import QUESTIONS, SCALE_POINTS
from evaluation.text.display import counted
from evaluation.transcript import Transcript

_LARGEST_NUMBER = 2**31 - 1
"""What the database's whole numbers hold; JSON holds larger ones."""

Answers = tuple[bool | None, ...]
_component = define_component("dramaturg_rating_desk", *map(Path(__file__).with_name, ("rating_desk", "rating_form")))

_RECEIPT = "desk_receipt"
_receipt = st.components.v2.component(
    "dramaturg_desk_receipt",
    js="""
export default function ({ data }) {
  document.dispatchEvent(new CustomEvent("dramaturg-kept", { detail: data.token }));
}
""",
)


@dataclass(frozen=True, slots=True)
class FilledForm:
    """The content of the form. ``rev`` counts the changes of a draft, so that the newer of two is known."""

    token: str
    score: float | None
    answers: Answers
    comment: str
    rev: int = 0


def read_form(value: object) -> FilledForm | None:
    """The form that the browser sent, or ``None`` when it is anything else."""
    if not isinstance(value, Mapping):
        return None
    token, comment, rev = value.get("token"), value.get("comment", ""), _whole(value.get("rev", 0))
    answers = _answers(value.get("answers"))
    if not isinstance(token, str) or not token or not isinstance(comment, str) or answers is None or rev is None:
        return None
    score = value.get("score")
    if score is not None and (isinstance(score, bool) or score not in SCORES):
        return None
    return FilledForm(token, score, answers, comment[:MAX_COMMENT_LENGTH], rev)


@dataclass(frozen=True, slots=True)
class DeskMode:
    """The purpose of the desk.

    Attributes:
        submit: What the button that saves says.
        leave: What the button that leaves the game says.
        can_discard: Whether a game may be put aside for good.
    """

    submit: str
    leave: str
    can_discard: bool = False


RATE = DeskMode("Save and next", "Skip", can_discard=True)
REVISE = DeskMode("Save the revision", "Back")
CHOOSE = DeskMode("This one stands", "The other stands")


@dataclass(frozen=True, slots=True)
class FilledDiscard:
    """Why the game on the desk cannot be rated."""

    token: str
    reason: DiscardReason
    note: str


def read_discard(value: object) -> FilledDiscard | None:
    """The reason that the browser sent, or ``None`` when it is anything else."""
    token, reason = read_token(value), value.get("reason") if isinstance(value, Mapping) else None
    note = value.get("note") if isinstance(value, Mapping) else None
    if token is None or not isinstance(note, str) or not isinstance(reason, str) or reason not in set(DiscardReason):
        return None
    return FilledDiscard(token, DiscardReason(str(reason)), note[:MAX_NOTE_LENGTH])


def read_token(value: object) -> str | None:
    """The token in a message from the browser."""
    token = value.get("token") if isinstance(value, Mapping) else None
    return token if isinstance(token, str) else None


def _whole(value: object) -> int | None:
    # JavaScript has no integers: 3 may arrive as 3.0.
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _LARGEST_NUMBER:
        return None
    return int(value) if value == int(value) else None


def _answers(value: object) -> Answers | None:
    if not isinstance(value, list | tuple) or len(value) != QUESTION_COUNT:
        return None
    return tuple(value) if all(answer is None or isinstance(answer, bool) for answer in value) else None


def desk_data(
    transcript: Transcript, *, token: str, progress: str, storage: str, share: float = 0.0, mode: DeskMode = RATE
) -> dict[str, Any]:
    """Data for the component: public messages, how many, rounds and eliminations. Nothing else about the transcript.

    Args:
        transcript: The one to rate.
        token: Stands for rater and transcript; says nothing about either.
        progress: How far the rater is, in words.
        storage: Sets the drafts of several raters at one browser apart.
        share: How much is done, 0 to 1.
        mode: What the desk is used for.
    """
    speakers = {name: position for position, name in enumerate(transcript.player_names)}
    rows = [
        {"k": "r" if entry.kind == "round" else "e", "x": entry.title}
        if isinstance(entry, TimelineEvent)
        else {"k": "m", "s": speakers[entry.speaker], "x": entry.text}
        for entry in timeline(transcript, roles_hidden=True, public_only=True)
    ]
    said = [str(row["x"]) for row in rows if row["k"] == "m"]
    words = sum(len(text.split()) for text in said)
    length = {"k": "e", "x": f"{counted(len(said), 'message')}, {words:,} words"}
    return {
        "token": token,
        "progress": progress,
        "share": round(share, 4),
        "mode": {"submit": mode.submit, "leave": mode.leave},
        "discards": [{"value": str(one), "words": one.words} for one in DiscardReason] if mode.can_discard else [],
        "longest": {"comment": MAX_COMMENT_LENGTH, "note": MAX_NOTE_LENGTH},
        "storage": storage,
        "rows": [length, *rows],
        "speakers": list(speakers),
        "questions": list(QUESTIONS),
        "scale": [{**asdict(point), "signs": list(point.signs)} for point in SCALE_POINTS],
        "draft": None,
        "seen": "",
        "error": None,
    }


def draft_data(form: FilledForm | None) -> dict[str, Any] | None:
    """A stored draft as the component takes it."""
    if form is None:
        return None
    return {"rev": form.rev, "score": form.score, "answers": list(form.answers), "comment": form.comment}


def tell_kept(place: DeltaGenerator, token: str) -> None:
    """Tells the desk in the browser that a form is stored, before the next game is read and drawn.

    Args:
        place: An empty element that the run before left beside the desk; it takes no room.
        token: The form's.
    """
    with place:
        _receipt(key=_RECEIPT, data={"token": token}, height="content")


def rating_desk(data: Mapping[str, Any], *, key: str, react: Callable[[str], None]) -> None:
    """Mounts the desk; ``react`` is told the name of each event, whose content ``st.session_state[key]`` has then."""
    _component(
        key=key,
        data=dict(data),
        on_submit_change=access_checks.event("desk_submit", partial(react, "submit")),
        on_draft_change=access_checks.event("desk_draft", partial(react, "draft")),
        on_skip_change=access_checks.event("desk_skip", partial(react, "skip")),
        on_discard_change=access_checks.event("desk_discard", partial(react, "discard")),
        on_begun_change=access_checks.event("desk_begun", partial(react, "begun")),
        on_change_change=access_checks.event("desk_change", partial(react, "change")),
        on_guide_change=access_checks.event("desk_guide", partial(react, "guide")),
    )
