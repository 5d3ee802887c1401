"""Questions that uploaded files leave open about who speaks, to whom and when, and a person's answers to them.

Names are untrusted text: they are shown as plain text, and never in labels or keys.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard.shared.notices import plain
from evaluation.readers import OPTIONS, Answers, Question, ReadResult, Topic
from evaluation.text.display import counted, shortened

_CHOSEN = "answers_chosen"
_MOST_SHOWN = 12
_WORDS = {
    "player": "A player",
    "moderator": "Moderator, no player",
    "text": "Text of the message above",
    "public": "Everybody",
    "team": "A team",
    "private": "Only some",
    "system": "An announcement",
    "day-first": "The day",
    "month-first": "The month",
    "mafia": "The informed minority",
    "town": "The others",
    "none": "Neither",
    "carry": "Said by the speaker above",
    "take": "Take it as it is",
    "leave": "Leave it out",
}

_Key = tuple[Topic, str]


def chosen_answers() -> Answers:
    """The answers that the person has given in this session."""
    given = _given()
    return Answers(
        {name: answer for (topic, name), answer in given.items() if topic is Topic.SPEAKER},
        {name: answer for (topic, name), answer in given.items() if topic is Topic.CHANNEL},
        given.get((Topic.DATES, "")),
        given.get((Topic.BROKEN_OFF, "")) == "take",
        {name: answer for (topic, name), answer in given.items() if topic is Topic.ROLE},
        given.get((Topic.MERGED, "")),
    )


def forget_answers() -> None:
    """Lets go of the answers, which were about files that are gone."""
    for kept in (_given(), _shown()):
        kept.clear()


def question_editor(results: Sequence[ReadResult]) -> None:
    """Each question once, however many games leave it open; draws the page again when one is answered."""
    asked: dict[_Key, list[Question]] = {}
    files: dict[_Key, list[str]] = {}
    for result in results:
        for question in result.questions:
            key = question.topic, question.name
            asked.setdefault(key, []).append(question)
            files.setdefault(key, []).append(result.name)
    asked |= {key: [] for key in _given() if key in _shown() and key not in asked}
    if not asked:
        return
    st.subheader("Who speaks, to whom, when", anchor=False)
    waiting = sum(
        any(question.taken is None for question in questions) for key, questions in asked.items() if key not in _given()
    )
    if waiting:
        st.warning(f"{counted(waiting, 'question')} to answer before these games are stored.", icon=":material/help:")
    # What keeps a game from being stored comes first.
    ordered = sorted(asked.items(), key=lambda one: all(question.taken for question in one[1]))
    for key, questions in ordered[:_MOST_SHOWN]:
        _ask(key, questions, files.get(key, ()))
    if len(ordered) > _MOST_SHOWN:
        st.caption(f"{len(ordered) - _MOST_SHOWN} more follow when these are answered.")


def _ask(key: _Key, questions: Sequence[Question], files: Sequence[str]) -> None:
    if questions:
        _shown()[key] = questions[0].words
    given = _given().get(key)
    with st.container(border=True):
        plain(_shown()[key])
        if files:
            more = f" and {counted(len(files) - 1, 'more game')}" if len(files) > 1 else ""
            plain(f"In {shortened(files[0], 60)}{more}")
        answer = st.segmented_control(
            "Answer",
            questions[0].choices if questions else OPTIONS[key[0]],
            default=given or (questions[0].taken if questions else None),
            format_func=_WORDS.__getitem__,
            key=f"answer_{list(_shown()).index(key)}",
            label_visibility="collapsed",
        )
    taken = questions[0].taken if questions and given is None else given
    if answer is not None and answer != taken:
        _given()[key] = answer
        st.rerun()


def _given() -> dict[_Key, str]:
    found: dict[_Key, str] = st.session_state.setdefault(_CHOSEN, {})
    return found


def _shown() -> dict[_Key, str]:
    """The words of each question that was asked in this session, also once it is answered."""
    found: dict[_Key, str] = st.session_state.setdefault(f"{_CHOSEN}_words", {})
    return found
