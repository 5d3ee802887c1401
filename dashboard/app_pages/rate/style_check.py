"""The manual check for personality on the Rate page: guess a speaker from the language alone."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.app_pages.rate import rate_view as parts
from dashboard.shared.identity import identity
from dashboard.shared.notices import plain
from dashboard.shared.status_table import open_row, status_table
from dashboard.shared.style_results import result_words
from evaluation.access import Action
from evaluation.errors import DramaturgError
from evaluation.rating_desk.style_check import (
    StyleAnswer,
    StyleQuestion,
    passes_manual_check,
    style_questions,
    style_result,
)
from evaluation.rubric.definitions import PERSONALITY_DIVERSITY
from evaluation.score import RowVerdict, row_id_of
from evaluation.store import Store
from evaluation.text.display import counted

CANNOT_TELL = "I cannot tell"
_GAME = "style_game"
_ASKED = "style_questions"
_DONE = "style_done"
_USABLE = "style_usable"
_KEPT = "kept"
_LONGEST_NAME = 60
_LETTERS = "ABCDEFGHIJ"


def style_check(store: Store, rater: str) -> None:
    """One player at a time; the truth is told when all players of a game are done."""
    st.markdown(
        "Could you tell an agent by how it talks? You read a few messages of one player, without names, and say which "
        "of the candidates speaks. Only games that you have rated are used; you see the answers once you are through "
        "with a game."
    )
    answers = store.style_answers.list(rater)
    chosen = st.session_state.get(_GAME)
    if isinstance(chosen, str) and chosen in {one.transcript_id for one in store.ratings.by_rater(rater)}:
        _ask_or_tell(store, rater, chosen, answers)
    else:
        _choose_game(store, rater, answers)
    _own_result(answers)


def _choose_game(store: Store, rater: str, answers: list[StyleAnswer]) -> None:
    rated = [one.transcript_id for one in store.ratings.by_rater(rater)]
    done = {one.transcript_id for one in answers}
    names = store.transcripts.game_names()
    games = [key for key in rated if key in names]
    if not games:
        st.info("Rate a game first; then you can be asked about it.", icon=":material/rate_review:")
        st.button("Rate a game", key="style_desk", on_click=parts.to_desk)
        return
    usable = [key for key in games if _is_usable(store, key, rater)]
    if left_out := len(games) - len(usable):
        st.caption(
            f"{counted(left_out, 'game')} that you rated cannot be used: too few players say enough, or there is "
            "nothing to tell them apart by."
        )
    if not usable:
        st.info("Rate a longer game; then you can be asked about it.", icon=":material/rate_review:")
        st.button("Rate a game", key="style_desk", on_click=parts.to_desk)
        return
    games = usable
    fresh = next((key for key in games if key not in done), None)
    if fresh is not None:
        st.button(
            "Start with the latest game", type="primary", key="style_start", on_click=_choose, args=(fresh,),
            icon=":material/play_arrow:",
        )  # fmt: skip
    frame = pd.DataFrame(
        [{"Game": names[key], "Your answers": "✓ begun or done" if key in done else "– not yet"} for key in games]
    )
    st.caption("Or select a game.")
    if (row := open_row(frame, "Games that you rated", "style_games")) is not None:
        st.session_state[_GAME] = games[row]
        st.rerun()


def _choose(transcript_id: str) -> None:
    st.session_state[_GAME] = transcript_id


def _is_usable(store: Store, transcript_id: str, rater: str) -> bool:
    """Whether the game has questions; found out once a session, as reading all rated games takes its time."""
    known: dict[str, bool] = st.session_state.setdefault(_USABLE, {})
    if transcript_id not in known:
        known[transcript_id] = bool(style_questions(store.transcripts.get(transcript_id), rater))
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
    st.button("Another game", icon=":material/arrow_back:", key="style_back", on_click=_leave_game)


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
    st.subheader(f"Player {number} of {total}", anchor=False)
    left, right = st.columns([1.3, 1])
    with left:
        st.caption("Messages of one player")
        for text in question.texts:
            with st.container(border=True):
                plain(text)
    with right:
        what = "Which personality speaks here?" if question.kind == "personality" else "Whose voice is this?"
        st.caption(what)
        for letter, candidate in zip(_LETTERS, question.candidates, strict=False):
            with st.container(border=True, horizontal=True, vertical_alignment="center"):
                st.button(
                    f"It is {letter}",
                    key=f"style_{letter}",
                    on_click=answer,
                    args=(store, rater, transcript_id, question, candidate.label),
                )
                plain("\n\n".join(candidate.samples) or candidate.label)
        st.button(CANNOT_TELL, key="style_none", on_click=answer, args=(store, rater, transcript_id, question, None))
        st.caption(f"Guessing finds it once in {len(question.candidates)} times.")


def answer(store: Store, rater: str, transcript_id: str, question: StyleQuestion, chosen: str | None) -> None:
    """Keeps one answer at once; a second one for the same player is not taken."""
    labels = tuple(candidate.label for candidate in question.candidates)
    given = StyleAnswer(
        transcript_id, rater, question.player, question.kind, labels, question.message_ids, question.truth, chosen
    )
    try:
        identity.require(Action.RATE)
        store.style_answers.add(given)
    except DramaturgError as error:
        st.session_state[_DONE] = str(error)


def _tell(store: Store, rater: str, transcript_id: str, given: list[StyleAnswer]) -> None:
    identified = sum(one.is_identified for one in given)
    passes = passes_manual_check(identified, len(given))
    show = st.success if passes else st.warning
    show(f"You recognised {identified} of {counted(len(given), 'player')}. {_rule_words(len(given), passes)}")
    frame = pd.DataFrame(
        [
            {
                "Player": one.player,
                "Told": "✓ yes" if one.is_identified else "✗ no",
                "It was": one.truth,
                "You said": one.chosen or CANNOT_TELL,
            }
            for one in given
        ]
    )
    # Of a voice, the truth is the player.
    is_told_twice = all(one.player == one.truth for one in given)
    status_table(frame.drop(columns="Player") if is_told_twice else frame, "Who it was")
    if message := st.session_state.pop(_DONE, None):
        _say_kept(message)
    if identity.allowed(Action.OVERRIDE):
        st.button(
            "Let this decide the game's personality metric",
            help="Players whom you told count as unique, the others do not: as your verdicts, which can be undone.",
            key="style_decide",
            on_click=decide,
            args=(store, rater, transcript_id, given),
        )


def _say_kept(message: str) -> None:
    if message == _KEPT:
        st.info("The metric follows your check now.", icon=":material/check:")
    else:
        plain(message)


def _rule_words(players: int, passes: bool) -> str:
    wanted = "five" if players >= 10 else "more than half"
    return f"{wanted.capitalize()} are needed: {'passed' if passes else 'not passed'}."


def decide(store: Store, rater: str, transcript_id: str, given: list[StyleAnswer]) -> None:
    """Makes the answers human verdicts on the game's personality metric, all of them or none."""
    try:
        identity.require(Action.OVERRIDE)
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
    except DramaturgError as error:
        st.session_state[_DONE] = str(error)
    else:
        st.session_state[_DONE] = _KEPT


def _own_result(answers: list[StyleAnswer]) -> None:
    result = style_result(answers)
    if result is not None:
        st.markdown(f"**So far:** {result_words(result)}")
