"""The manual check for personality on the Rate page: guess a speaker from the language alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

import streamlit as st

from dashboard.app_pages.rate import rate_view as parts
from dashboard.shared import state
from dashboard.shared.answer import answer
from dashboard.shared.formatting import share_text
from dashboard.shared.identity import identity
from dashboard.shared.notices import plain
from dashboard.shared.status_table import open_row, status_table
from dashboard.shared.style_results import result_words
from evaluation.access import Action
from evaluation.rating_desk.style_check import (
    StyleAnswer,
    StyleQuestion,
    chance_to_pass,
    passes_manual_check,
    style_questions,
    style_result,
)
from evaluation.rubric.definitions import PERSONALITY_DIVERSITY
from evaluation.score import RowVerdict, row_id_of
from evaluation.store import Store
from evaluation.text.display import counted, shortened

CANNOT_TELL = "I cannot tell"
_GAME = "style_game"
_ASKED = "style_questions"
_PLAYERS = "style_players"
_MUCH_LUCK = 0.05


def style_check(store: Store, rater: str) -> None:
    """One player at a time; the truth is told when all players of a game are done."""
    answers = store.style_answers.list(rater)
    rated = [one.transcript_id for one in store.ratings.by_rater(rater)]
    chosen = st.session_state.get(_GAME)
    if chosen in rated:
        _ask_or_tell(store, rater, chosen, answers)
    else:
        _choose_game(store, rater, rated, answers)


def _choose_game(store: Store, rater: str, rated: Sequence[str], answers: list[StyleAnswer]) -> None:
    names = store.transcripts.game_names()
    games = [key for key in rated if key in names]
    players = {key: count for key in games if (count := _player_count(store, key, rater))}
    given = {key: [one.is_identified for one in answers if one.transcript_id == key] for key in players}
    left = [key for key, count in players.items() if len(given[key]) < count]
    headline = f"{len(players) - len(left)} of {counted(len(players), 'game')} done."
    if not players:
        headline = f"Rate a {'longer ' * bool(games)}game first"
    result = style_result(answers)
    with answer(headline, f"{_WHAT_IT_IS} {result_words(result) if result else ''}".strip()):
        if not players:
            st.button("Rate a game", key="style_desk", type="primary", on_click=parts.to_desk)
        elif left:
            label = "Go on with the next game" if any(given.values()) else "Start with the latest game"
            st.button(label, type="primary", key="style_start", on_click=state.set_widgets, args=({_GAME: left[0]},))
    if left_out := len(games) - len(players):
        st.caption(
            f"{counted(left_out, 'game')} that you rated cannot be used: too few players say enough, or there is "
            "nothing to tell them apart by."
        )
    rows = [{"Game": names[key], "Players": _state_words(given[key], count)} for key, count in players.items()]
    if rows and (row := open_row(rows, "Games that you rated", "style_games")) is not None:
        st.session_state[_GAME] = list(players)[row]
        st.rerun()


_WHAT_IT_IS = (
    "Read messages of one player without the name and say who speaks. "
    "Your answers check Personality diversity and change no score."
)


def _state_words(given: Sequence[bool], players: int) -> str:
    """A rater's answers on a game: how many are left, or how many players were recognised."""
    if len(given) < players:
        return f"{len(given)} of {counted(players, 'player')} answered"
    passes = passes_manual_check(sum(given), players)
    return f"{'✓ passed' if passes else '✗ not passed'}: {sum(given)} of {players} recognised"


def _player_count(store: Store, transcript_id: str, rater: str) -> int:
    """The number of players asked about; found out once a session, as reading all rated games takes its time."""
    known: dict[str, int] = st.session_state.setdefault(_PLAYERS, {})
    if transcript_id not in known:
        known[transcript_id] = len(style_questions(store.transcripts.get(transcript_id), rater))
    return known[transcript_id]


def _ask_or_tell(store: Store, rater: str, transcript_id: str, answers: list[StyleAnswer]) -> None:
    questions = _questions(store, transcript_id, rater)
    given = {one.player: one for one in answers if one.transcript_id == transcript_id}
    waiting = [question for question in questions if question.player not in given]
    if not questions:
        st.info("Too few players of this game say enough, or there is nothing to tell them apart by.")
    elif waiting:
        _ask(store, rater, transcript_id, waiting[0], len(questions) - len(waiting) + 1, len(questions))
    else:
        _tell(store, rater, transcript_id, [given[question.player] for question in questions])
    st.button("Another game", icon=":material/arrow_back:", key="style_back", type="tertiary", on_click=_leave_game)


def _questions(store: Store, transcript_id: str, rater: str) -> tuple[StyleQuestion, ...]:
    # Finding the names in thousands of messages takes a second, which not every click should.
    held = st.session_state.get(_ASKED)
    if held is None or held[0] != (transcript_id, rater):
        questions = style_questions(store.transcripts.get(transcript_id), rater)
        held = st.session_state[_ASKED] = ((transcript_id, rater), questions)
    found: tuple[StyleQuestion, ...] = held[1]
    return found


def _leave_game() -> None:
    st.session_state.pop(_GAME, None)


def _ask(store: Store, rater: str, transcript_id: str, question: StyleQuestion, number: int, total: int) -> None:
    st.progress((number - 1) / total, f"Player {number} of {total}")
    is_personality = question.kind == "personality"
    st.subheader(f"Which {'personality' if is_personality else 'of these voices'} speaks here?", anchor=False)
    left, right = st.columns([1.3, 1], gap="medium")
    with left:
        status_table([{"Messages of one player": text} for text in question.texts], "Messages of one player")
    with right, st.container(gap="small"):
        choices = [
            (one.label if is_personality else f"Voice {place}", one) for place, one in enumerate(question.candidates, 1)
        ]
        for place, (label, candidate) in enumerate([*choices, (CANNOT_TELL, None)], 1):
            st.button(
                _inert(label),
                key=f"style_{place}",
                type="secondary" if candidate else "tertiary",
                width="stretch",
                wrap=True,
                shortcut=str(place) if place < 10 else None,
                on_click=give,
                args=(store, rater, transcript_id, question, candidate and candidate.label),
            )
            if candidate and candidate.samples:
                plain("\n\n".join(candidate.samples))


def _inert(label: str) -> str:
    """Untrusted text as the label of a button, which reads Markdown."""
    return _MARKS.sub(r"\\\g<0>", shortened(label, _LONGEST_LABEL))


_MARKS = re.compile(r"[!-/:-@\[-`{-~]")
_LONGEST_LABEL = 120


def give(store: Store, rater: str, transcript_id: str, question: StyleQuestion, chosen: str | None) -> None:
    """Keeps one answer at once; a second one for the same player is not taken."""
    labels = tuple(candidate.label for candidate in question.candidates)
    given = StyleAnswer(
        transcript_id, rater, question.player, question.kind, labels, question.message_ids, question.truth, chosen
    )
    with identity.permitted(Action.RATE):
        store.style_answers.add(given)


def _tell(store: Store, rater: str, transcript_id: str, given: list[StyleAnswer]) -> None:
    identified = sum(one.is_identified for one in given)
    passes = passes_manual_check(identified, len(given))
    show = st.success if passes else st.warning
    luck = chance_to_pass(given)
    by_luck = f" Guessing alone passes {share_text(luck)} of such games." if luck >= _MUCH_LUCK else ""
    told = f"You recognised {identified} of {counted(len(given), 'player')}."
    wanted = "Five" if len(given) >= 10 else "More than half"
    show(f"{told} {wanted} are needed: {'passed' if passes else 'not passed'}.{by_luck}")
    # Of a voice, the truth is the player.
    is_told_twice = all(one.player == one.truth for one in given)
    rows = [
        ({} if is_told_twice else {"Player": one.player})
        | {
            "Recognised": "✓ yes" if one.is_identified else "✗ no",
            "It was": one.truth,
            "You said": one.chosen or CANNOT_TELL,
        }
        for one in given
    ]
    status_table(rows, "Who it was")
    if identity.allowed(Action.OVERRIDE):
        with st.popover("Use it for the score"):
            st.markdown(
                f"Personality diversity of this game then counts the {identified} whom you recognised, not the other "
                f"{len(given) - identified}, in place of what the program found. These are your verdicts: the game's "
                "ledger names you, and each can be undone there."
            )
            st.button(
                "Let this decide the game's personality metric",
                key="style_decide",
                on_click=decide,
                args=(store, rater, transcript_id, given),
            )


def decide(store: Store, rater: str, transcript_id: str, given: list[StyleAnswer]) -> None:
    """Makes the answers human verdicts on the game's personality metric, all of them or none."""
    with identity.permitted(Action.OVERRIDE):
        with store.unit(write=True):
            for one in given:
                store.overrides.add(
                    transcript_id,
                    PERSONALITY_DIVERSITY.name,
                    row_id_of(PERSONALITY_DIVERSITY.name, f"player:{one.player}"),
                    RowVerdict.COUNTS if one.is_identified else RowVerdict.DOES_NOT_COUNT,
                    author=rater,
                    reason="Manual check: " + ("told by the language alone." if one.is_identified else "not told."),
                )
        st.toast("The metric follows your check now.", icon=":material/check:")
