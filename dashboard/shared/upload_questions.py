"""Formats that are read, and what files leave open: columns of tables, and who speaks, to whom, when.

Column names and names of speakers are untrusted text. They are shown as plain text, in tables and among the options of
a select box, which Streamlit shows as plain text, and never in labels, helps or keys.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from dashboard.shared import state
from dashboard.shared.notices import plain
from dashboard.shared.status_table import status_table
from evaluation.readers import OPTIONS, Answers, ColumnMapping, Question, ReadResult, TableHead, Topic, guess_mapping
from evaluation.text.display import counted, listed, shortened

_CHOSEN = "columns_chosen"
_SEEN = "column_headings"
_MOST_NAMES = 3
_MOST_EDITORS = 6
_LONGEST_OPTION = 60

Columns = tuple[str, ...]

FORMATS: Mapping[str, str] = {
    "Games": "LLMafia (the game's folder, or a zip of it), llm-werewolf, werewolf-gpt, AIWolf",
    "Agents": "Inspect logs (`.json`, `.eval`), OpenAI chats, ShareGPT, TinyTroupe notebooks, traces",
    "Chats": "WhatsApp (`.txt`), Telegram, Discord, Slack, captions",
    "Text and tables": "`Name: text` in many shapes, CSV, JSON Lines, Parquet, Dramaturg's own export, zips of any",
}
"""What is recognised by its content, by kind."""

FIELDS: Mapping[str, tuple[str, str]] = {
    "speaker": ("Who speaks", "A player's name. Needed."),
    "text": ("What is said", "The words of the message. Needed."),
    "game": ("Which game", "Tells several games in one table apart."),
    "round": ("Round", 'A whole number, also inside words: "Day 2".'),
    "phase": ("Phase", "Any word."),
    "sent_at": ("When", "A date and time as in 2026-01-31T12:00:00, or seconds or milliseconds since 1970."),
    "role": ("Role", "The speaker's role in the game; without one, role consistency does not apply."),
    "reply_to": ("Answers whom", "The id of the message that is answered, or the player's name."),
    "message_id": ("Id of the message", "What an answer refers to."),
    "channel": ("Who hears it", "public, team, private or system, or a word for one of them."),
    "recipients": ("To whom", "Names, separated by semicolons, commas or bars."),
}


def chosen_columns() -> dict[Columns, ColumnMapping]:
    """The mappings that the person has made in this session, by the tables' columns."""
    found: dict[Columns, ColumnMapping] = st.session_state.setdefault(_CHOSEN, {})
    return found


def column_editor(results: Sequence[ReadResult]) -> None:
    """One editor for all tables with the same columns; draws the page again when something was changed."""
    groups: defaultdict[Columns, list[ReadResult]] = defaultdict(list)
    for result in results:
        if result.head is not None:
            groups[result.head.columns].append(result)
    # Those that cannot be read yet come first.
    ordered = sorted(groups.items(), key=lambda group: not _current(group[0]).missing)
    if len(ordered) > _MOST_EDITORS:
        st.caption(
            f"The tables have {len(ordered)} different headings; these are the first {_MOST_EDITORS}. Hand in tables "
            "of one heading at a time to choose the columns of the others."
        )
    for columns, tables in ordered[:_MOST_EDITORS]:
        head = tables[0].head
        assert head is not None
        current = _current(columns)
        is_read = any(table.preview or table.transcript for table in tables)
        made = _editor(head, [table.name for table in tables], current, is_read=is_read)
        if made != current:
            chosen_columns()[columns] = made
            st.rerun()


def _current(columns: Columns) -> ColumnMapping:
    return chosen_columns().get(columns) or guess_mapping(columns)


def _editor(head: TableHead, names: Sequence[str], current: ColumnMapping, *, is_read: bool) -> ColumnMapping:
    needs_choice = bool(current.missing) and not is_read
    # Neither the label nor what opens it may change with a choice, or the expander would close under the hand.
    number = _number_of(head.columns)
    open_at_first = st.session_state.setdefault(f"columns_open_{number}", needs_choice)
    with st.expander(f"Columns of {counted(len(names), 'table')}", expanded=open_at_first):
        if needs_choice:
            what = listed([FIELDS[name][0].lower() for name in current.missing])
            st.warning(f"Say which column holds {what}.", icon=":material/table_edit:")
        more = f"\nand {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        plain("\n".join(names[:_MOST_NAMES]) + more)
        status_table(pd.DataFrame(head.rows, columns=list(head.columns)), "The first rows of the table")
        made = _fields(head.columns, number, current)
        if made.speaker is not None and made.speaker == made.text:
            st.warning("Who speaks and what is said stand in the same column.", icon=":material/warning:")
        st.button(
            "Back to what the names suggest",
            key=f"columns_reset_{number}",
            icon=":material/undo:",
            on_click=_reset,
            args=(head.columns, number),
            disabled=current == guess_mapping(head.columns),
        )
    return made


def _fields(columns: Columns, number: int, current: ColumnMapping) -> ColumnMapping:
    places: list[int | None] = [None, *range(len(columns))]
    chosen: dict[str, str | None] = {}
    grid = st.grid(3, min_column_width=220)
    for field, (label, help_) in FIELDS.items():
        held = getattr(current, field)
        with grid.cell():
            place = st.selectbox(
                label,
                places,
                index=places.index(_place(columns, held)),
                format_func=lambda place: _option(columns, place),
                key=f"column_{number}_{field}",
                help=help_,
            )
        chosen[field] = None if place is None else columns[place]
    return ColumnMapping(**chosen)


def _option(columns: Columns, place: int | None) -> str:
    # The number keeps options apart that look the same once they are cut.
    return "no column" if place is None else f"{place + 1}. {shortened(columns[place], _LONGEST_OPTION)}"


def _number_of(columns: Columns) -> int:
    """Tells the editors of different tables apart without their columns' names."""
    seen: list[Columns] = st.session_state.setdefault(_SEEN, [])
    if columns not in seen:
        seen.append(columns)
    return seen.index(columns)


def _reset(columns: Columns, number: int) -> None:
    chosen_columns().pop(columns, None)
    guessed = guess_mapping(columns)
    state.set_widgets({f"column_{number}_{field}": _place(columns, getattr(guessed, field)) for field in FIELDS})


def _place(columns: Columns, name: str | None) -> int | None:
    return None if name is None else columns.index(name)


_ANSWERS = "answers_chosen"
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
        given.get((Topic.INCOMPLETE, "")) == "take",
        {name: answer for (topic, name), answer in given.items() if topic is Topic.ROLE},
        given.get((Topic.MERGED, "")),
        forms=frozenset(name for (topic, name), answer in given.items() if (topic, answer) == (Topic.AS_READ, "take")),
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
        st.caption(f"{counted(waiting, 'question')} to answer before these games are stored.")
    # What keeps a game from being stored comes first.
    ordered = sorted(asked.items(), key=lambda one: all(question.taken for question in one[1]))
    for key, questions in ordered[:_MOST_SHOWN]:
        asking = [result for result in results if result.name in files.get(key, ())]
        _ask(key, questions, files.get(key, ()), _evidence(key[1], asking))
    if len(ordered) > _MOST_SHOWN:
        st.caption(f"{len(ordered) - _MOST_SHOWN} more follow when these are answered.")


def _evidence(name: str, results: Sequence[ReadResult]) -> str:
    """The first lines of a speaker in the first games, or of these games: untrusted text."""
    games = [game for result in results[:_MOST_SHOWN] if (game := result.transcript or result.preview)]
    messages = [message for game in games for message in game.messages]
    lines = [message for message in messages if message.speaker == name] or messages
    return "\n".join(f"{message.speaker}: {shortened(message.text, 120)}" for message in lines[:2])


def _ask(key: _Key, questions: Sequence[Question], files: Sequence[str], evidence: str) -> None:
    if questions:
        _shown()[key] = questions[0].words
    given = _given().get(key)
    asked, choices = st.columns(2, vertical_alignment="center")
    with asked:
        # What was understood, and the question, on lines of their own.
        plain(_shown()[key].replace(" Understood: ", "\nUnderstood: ").replace(" Is that", "\nIs that"))
        st.caption(f"In {counted(len(files), 'game')}, such as:" if files else "Answered.")
        if evidence:
            plain(evidence)
    with choices:
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
    found: dict[_Key, str] = st.session_state.setdefault(_ANSWERS, {})
    return found


def _shown() -> dict[_Key, str]:
    """The words of each question that was asked in this session, also once it is answered."""
    found: dict[_Key, str] = st.session_state.setdefault(f"{_ANSWERS}_words", {})
    return found
