"""Two games side by side, with their failing messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import access_checks
from dashboard.shared import queries, state
from dashboard.shared.answer import answer
from dashboard.shared.chat.conversation import read_open
from dashboard.shared.clicked_marks import MarkTarget, MarkTargets, remember_click, remember_target
from dashboard.shared.drawing import cockpit_rows, two_chats
from dashboard.shared.formatting import look, score_text, threshold_text, told_apart
from dashboard.shared.queries import OpenTranscript
from evaluation.judged_by import have_one_judge
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT
from evaluation.rubric.verdict import marked_status, metric_judges
from evaluation.statistics.words import change_words
from evaluation.text.display import half_up

_MARKS, _CHATS = "two_marks", "two_chats"
_GAME = "game"


def two_games(before: OpenTranscript, after: OpenTranscript) -> None:
    """Two games beside each other, the second against the first; a message opens on its game's page."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="game_head"):
        st.button("All games", icon=":material/arrow_back:", key="back", type="tertiary", on_click=_close)
        with st.container(key="game_name", width="content"):
            st.text(f"{before.label} → {after.label}")
    answer(*difference_words(before, after))
    found = [_row(name, before, after) for name in DEFINITIONS]
    names = told_apart({_BEFORE: before.label, _AFTER: after.label})
    legend = [f"○ {names[_BEFORE]}", f"● {names[_AFTER]}", "┃ threshold: left of it fails", "a mark opens its ledger"]
    cockpit_rows(
        key=_MARKS,
        data={"rows": [row for row, _ in found], "legend": legend, "now": "●"},
        on_open_change=access_checks.event(
            "cockpit_open", _leaving(remember_click(_MARKS, [targets for _, targets in found]))
        ),
    )
    games = (before, after)
    titles = [names[key] for key in (_BEFORE, _AFTER)]
    shown = [one.conversation(roles_hidden=ENGAGEMENT.name not in one.results) for one in games]
    two_chats(dict(zip(titles, shown, strict=True)), key=_CHATS, on_open=_leaving(_opener(games)))


_BEFORE, _AFTER = "before", "after"


def _close() -> None:
    state.choose(**{state.TRANSCRIPT: None, state.BESIDE: None})


def difference_words(before: OpenTranscript, after: OpenTranscript) -> tuple[str, str]:
    """The second game against the first, metric by metric: a headline, and a sentence below it.

    Such as "Higher on 5 of 7 metrics", "Most on Personality diversity (30.0 % to 100.0 %), and lower on 2, most on
    Strategic depth (100.0 % to 89.8 %)." Metrics at chance in one of them are not counted.
    """
    at_chance = {DEFINITIONS[name].label for name in DEFINITIONS if _is_at_chance(name, before, after)}
    moves = [one for one in _moves(before, after) if one[1] not in at_chance]
    higher, lower = ([one for one in moves if one[0] * sign > 0] for sign in (1, -1))
    if not higher and not lower:
        same = "every metric that both have"
        return f"The same on {same}{' and that is not at chance' * bool(at_chance)}.", ""
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


def _is_at_chance(name: str, *games: OpenTranscript) -> bool:
    results = [one.results[name] for one in games if name in one.results]
    return any(str(marked_status(name, one)).endswith("at_chance") for one in results)


def _is_apart(name: str, *games: OpenTranscript) -> bool:
    return not have_one_judge(metric_judges(one.results[name]) for one in games if name in one.results)


def _row(name: str, before: OpenTranscript, after: OpenTranscript) -> tuple[dict[str, Any], MarkTargets]:
    """A metric of both games as a row for ``cockpit_rows.js``, whose marks open the metric's ledger of their game."""
    one, sides = DEFINITIONS[name], {_BEFORE: before, _AFTER: after}
    moves = {label: change for _, label, _, change in _moves(before, after)}
    cells = {side: _cell(name, opened) for side, opened in sides.items()}
    shares = {
        side: one.scale.share(result.score)
        if (result := opened.results.get(name)) and result.score is not None
        else None
        for side, opened in sides.items()
    }
    threshold = (after.results.get(name) or before.results.get(name) or one).threshold
    status = look(marked_status(name, after.results[name])) if name in after.results else look("hidden")
    row: dict[str, Any] = {
        "label": one.label,
        "words": f"{one.label}: {cells[_BEFORE]}, then {cells[_AFTER]}.",
        "threshold": one.scale.share(threshold),
        **shares,
        "games": [],
        "status": status.label,
        "texts": {
            "threshold": threshold_text(threshold, one.scale),
            "before": f"{before.label}: {cells[_BEFORE]}",
            "after": f"{after.label}: {cells[_AFTER]}",
            "current": cells[_AFTER].lstrip("✓✗…≈ ") if shares[_AFTER] is not None else "no score",
            "change": "other judges" if _is_apart(name, before, after) else moves.get(one.label, ""),
            "no_score": cells[_AFTER],
        },
    }
    targets = {side: (MarkTarget(name, opened.transcript.id),) for side, opened in sides.items()}
    return row, {"metric": targets[_AFTER], **targets}


def _cell(name: str, opened: OpenTranscript) -> str:
    if name == ENGAGEMENT.name and name not in opened.results:
        return "hidden until you rate it"
    return queries.score_cell(name, opened.results.get(name))


def _leaving(react: Callable[[], None]) -> Callable[[], None]:
    """A callback that opens what was pressed alone, without the other game."""

    def opened() -> None:
        react()
        state.choose(**{state.BESIDE: None})

    return opened


def _opener(games: Sequence[OpenTranscript]) -> Callable[[], None]:
    def react() -> None:
        value = state.sent(_CHATS, "open")
        place = value.get("game") if isinstance(value, Mapping) else None
        if not isinstance(place, int) or isinstance(place, bool) or not 0 <= place < len(games):
            return
        opened = games[place]
        if value.get("message") is None:
            remember_target(MarkTarget(_GAME, opened.transcript.id))
        elif (chosen := read_open(value, opened.transcript)) is not None:
            message_id, metric = chosen
            remember_target(MarkTarget(metric or _GAME, opened.transcript.id, message_id))

    return react
