"""Instructions for raters: what to look for, the scale in full, the questions, and use of the desk."""

from __future__ import annotations

from functools import cache

import streamlit as st
from pydantic import BaseModel, ConfigDict, Field

from dashboard.app_pages.rate import rate_view as parts
from dashboard.shared.notices import plain
from dashboard.shared.status_table import status_table
from evaluation.files.bundled import shipped
from evaluation.files.yaml_files import parse_model
from evaluation.ratings import QUESTION_COUNT
from evaluation.rubric.rating_guide import QUESTIONS, SCALE_POINTS

FILE = "practice.yaml"


class _Rated(BaseModel):
    """The rating that it should get: the score and why, to each question the answer (yes is true) and a reason."""

    model_config = ConfigDict(frozen=True)
    score: int
    why: str
    answers: tuple[bool, ...] = Field(min_length=QUESTION_COUNT, max_length=QUESTION_COUNT)
    reasons: tuple[str, ...] = Field(min_length=QUESTION_COUNT, max_length=QUESTION_COUNT)


class ExampleGame(BaseModel):
    """A game to practise on, with its rating. Written for Dramaturg; no agent said any of it.

    Attributes:
        messages: Round, speaker and text of each, in order.
        left: The round after which a player left the game, and the player.
    """

    messages: tuple[tuple[int, str, str], ...]
    left: tuple[tuple[int, str], ...]
    reference: _Rated


@cache
def example_game() -> ExampleGame:
    """The shipped game.

    Raises:
        InputError: The file is damaged; the installation is.
    """
    return parse_model(
        (shipped("data/practice") / FILE).read_bytes(), ExampleGame, FILE, remedy="Install Dramaturg again."
    )


# From 1 to 5: the same moment, told five times.
_EXAMPLES = (
    '"I think Kim is suspicious because of the evidence." "I agree, let us look at the evidence." And so on, with '
    "other names. No evidence is ever named.",
    '"I accuse Kim! There is no doubt!" Next time it is Lou, without a doubt either. Some have a style of their own, '
    "but nobody reacts to anybody.",
    "Kim explains it, the others weigh the answer and vote.",
    "Kim's answer drags in a third player, who denies it and recalls it otherwise. Two people "
    "change their votes and say why.",
    "Kim's answer is a lie, and one player knows it. That player says nothing, and uses it one round later, when it "
    "costs Kim the only ally. You would tell a friend about it.",
)

_LOOK_FOR = (
    "Answer for yourself: would you watch on, if nobody asked you to?",
    "Curious means that you wanted to know, not that you could have guessed.",
    "One agent is enough. Clever and interesting both count.",
    "Yes is natural, no is scripted: templates with names exchanged, everybody in turn, nobody reacting.",
    "Another game by the same players, tomorrow. Not this one again.",
)


def rating_guide() -> None:
    """The game to practise on beside the instructions, folded, in plain words."""
    st.markdown(
        "You read a conversation of agents who play a game of hidden roles, and say **how good it was to watch**. You "
        "are the audience, not the referee: it does not matter who is right, or how it ended. **Read to the end** "
        "before you score."
    )
    game, guide = st.columns(2, gap="medium")
    with game:
        _example()
    with guide:
        with st.container(key="main_action"):
            st.button("Rate a game", type="primary", key="guide_desk", on_click=parts.to_desk)
        for label, draw in {
            "The score": _score,
            "The five questions": _questions,
            "How this game should be rated, and why": _answer,
            "Rules for every game": _rules,
        }.items():
            with st.expander(label):
                draw()


def _rules() -> None:
    st.markdown(
        "- **A slow beginning can pay off**, a good one can run dry: the end counts as well.\n"
        "- **Rate this conversation**, not the one before it. High and low scores need not balance.\n"
        "- **Do not discuss a game with other raters** before all of you have rated it. Independent ratings are worth "
        "more than ratings that agree.\n"
        '- **Look past the vocabulary.** "Evidence" and "suspicious" cost nothing. Ask what the evidence is.\n'
        "- **Leave a question untouched** when you cannot say: no answer is better than a guess. The form asks once, "
        "before it saves.\n"
        "- **A bad conversation gets a low score.** *Cannot rate* is only for what you cannot judge: cut off, "
        "unreadable, in a language you do not know, or a game that you took part in.\n"
        "- **What you enter is kept** while you type, also for another computer. What you saved can be revised under "
        "*My ratings*. At the desk, `?` lists the keys."
    )


def _score() -> None:
    st.markdown(
        "Each score has an example. In those for 3, 4 and 5 somebody has asked: *Kim, yesterday "
        "you trusted Lou, today you vote to eliminate Lou. What changed?*"
    )
    rows = [
        {
            "Score": f"{one.score} {one.name}",
            "It is": one.summary,
            "Signs": "; ".join(one.signs),
            "For example": example,
        }
        for one, example in zip(SCALE_POINTS, _EXAMPLES, strict=True)
    ]
    status_table(rows, "The five scores, each with its signs and an example")
    st.markdown("Torn between two? Take the lower one, or add a half if you can name a moment that deserves more.")


def _questions() -> None:
    for number, (question, words) in enumerate(zip(QUESTIONS, _LOOK_FOR, strict=True), start=1):
        st.markdown(f"**{number}. {question}** {words}")
    st.markdown(
        "With four or five times yes, a score below 3 does not fit. The reverse does not hold: a 4 with two times yes "
        "is fine. Where the two do not fit, the form asks you to look again, and saves what you decide."
    )


def _example() -> None:
    """One game to try oneself on."""
    game = example_game()
    st.subheader("Try it on one game", anchor=False)
    st.caption("Written for practice. Choose a score and answers for yourself, then open how it should be rated.")
    with st.container(border=True):
        for number in sorted({round_ for round_, _, _ in game.messages}):
            st.markdown(f"**Round {number}**")
            plain("\n".join(f"{speaker}: {text}" for round_, speaker, text in game.messages if round_ == number))
            for player in (player for round_, player in game.left if round_ == number):
                st.caption(f"{player} left the game.")


def _answer() -> None:
    rated = example_game().reference
    st.markdown(f"**{rated.score} – {SCALE_POINTS[rated.score - 1].name}.** {rated.why}")
    for question, answer, reason in zip(QUESTIONS, rated.answers, rated.reasons, strict=True):
        st.markdown(f"**{question}** {'Yes' if answer else 'No'}. {reason}")
    st.caption("One point apart is common among careful raters. Read the reason, and trust your own judgement.")
