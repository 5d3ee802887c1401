"""Two games side by side, with their failing messages."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard.shared import queries, state
from dashboard.shared.answer import answer
from dashboard.shared.chat.conversation import Aim, focus_on, read_open
from dashboard.shared.clicked_marks import MarkTarget, remember_target
from dashboard.shared.comparison_tables import METRIC_LABELS
from dashboard.shared.drawing import chat_view
from dashboard.shared.formatting import label_with_unit, score_text, told_apart, without_unit
from dashboard.shared.notices import plain
from dashboard.shared.page_links import transcript_link
from dashboard.shared.queries import OpenTranscript
from dashboard.shared.status_table import status_table
from evaluation.judged_by import have_one_judge
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT
from evaluation.rubric.verdict import metric_judges
from evaluation.statistics.words import change_words
from evaluation.text.display import counted, half_up

_BEFORE, _AFTER = "game_before", "game_after"
_GAME = "game"


def two_games(before: OpenTranscript, after: OpenTranscript) -> None:
    """Two games beside each other, the second against the first; a message opens on its game's page."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="game_head"):
        st.button("All games", icon=":material/arrow_back:", key="back", type="tertiary", on_click=_close)
        with st.container(key="game_name", width="content"):
            st.text(f"{before.label} → {after.label}")
    answer(*difference_words(before, after))
    status_table(_scores(before, after), "Every metric of both games", is_matrix=True)
    for column, key, opened in zip(st.columns(2, gap="medium"), (_BEFORE, _AFTER), (before, after), strict=True):
        with column:
            _one_game(key, opened)


def _close() -> None:
    state.choose(**{state.TRANSCRIPT: None, state.BESIDE: None})


def difference_words(before: OpenTranscript, after: OpenTranscript) -> tuple[str, str]:
    """The second game against the first, metric by metric: a headline, and a sentence below it.

    Such as "Higher on 5 of 7 metrics", "Most on Personality diversity (30.0 % to 100.0 %), and lower on 2, most on
    Strategic depth (100.0 % to 89.8 %)."
    """
    moves = _moves(before, after)
    higher, lower = ([one for one in moves if one[0] * sign > 0] for sign in (1, -1))
    if not higher and not lower:
        return "The same on every metric that both have.", ""
    (first, count, most), *other = [
        (word, len(found), f"most on {label} ({words})")
        for word, found in (("higher", higher), ("lower", lower))
        if found
        for _, label, words, _ in [max(found, key=lambda one: abs(one[0]))]
    ]
    lower_words = "".join(f", and {word} on {number}, {on}" for word, number, on in other)
    return f"{first.capitalize()} on {count} of {len(moves)} metrics", f"M{most[1:]}{lower_words}."


def _moves(before: OpenTranscript, after: OpenTranscript) -> list[tuple[float, str, str, str]]:
    """By metric with a score in both games: the change as a share of the scale, the label, both scores, the change."""
    found = []
    for name, definition in DEFINITIONS.items():
        scores = [opened.results[name].score for opened in (before, after) if name in opened.results]
        if len(scores) == 2 and None not in scores and not _is_apart(name, before, after):
            first, second = (half_up(one or 0.0, 1) for one in scores)
            words = " to ".join(score_text(one, definition.scale) for one in (first, second))
            change = change_words(first, second, "")
            found.append(((second - first) / definition.scale.width, definition.label, words, change))
    return found


def _is_apart(name: str, *games: OpenTranscript) -> bool:
    return not have_one_judge(metric_judges(one.results[name]) for one in games if name in one.results)


def _scores(before: OpenTranscript, after: OpenTranscript) -> list[dict[str, object]]:
    moves = {label: change for _, label, _, change in _moves(before, after)}
    heads = told_apart({"metric": "Metric", "change": "Change", _BEFORE: before.label, _AFTER: after.label})
    return [
        {
            heads["metric"]: label_with_unit(name, METRIC_LABELS),
            heads[_BEFORE]: _cell(name, before),
            heads[_AFTER]: _cell(name, after),
            heads["change"]: "other judges" if _is_apart(name, before, after) else moves.get(one.label, ""),
        }
        for name, one in DEFINITIONS.items()
    ]


def _cell(name: str, opened: OpenTranscript) -> str:
    if name == ENGAGEMENT.name and name not in opened.results:
        return "hidden until you rate it"
    return without_unit(queries.score_cell(name, opened.results.get(name)))


def _one_game(key: str, opened: OpenTranscript) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        plain(f"{opened.label} · {counted(len(opened.transcript.discussion), 'public message')}")
        transcript_link("Open this game", transcript=opened.transcript.id)
    conversation = opened.conversation(roles_hidden=ENGAGEMENT.name not in opened.results)
    chat_view(
        conversation,
        focus_on(conversation.rows, Aim(None, None)),
        key=f"chat_{key}",
        on_open=_opener(f"chat_{key}", opened),
    )


def _opener(key: str, opened: OpenTranscript) -> Callable[[], None]:
    def react() -> None:
        chosen = read_open(state.sent(key, "open"), opened.transcript)
        if chosen is not None:
            message_id, metric = chosen
            remember_target(MarkTarget(metric or _GAME, opened.transcript.id, message_id))

    return react
