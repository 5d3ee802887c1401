"""One transcript: the game's scores, its conversation with badges, and the ledger behind every number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from dashboard import access_checks
from dashboard.app_pages.games.insights import insights
from dashboard.app_pages.games.ledger import excluded_words, ledger_table, show_ledger
from dashboard.app_pages.games.ledger_row import message_detail
from dashboard.shared import resources, state
from dashboard.shared.chat.chat_view import chat_view
from dashboard.shared.chat.conversation import focus_on, read_open
from dashboard.shared.formatting import fraction_text, look, score_text, share_text, threshold_text, usd_text
from dashboard.shared.jobs.judging_form import READING, reading_panel
from dashboard.shared.notices import plain
from dashboard.shared.queries import BEYOND_SCORE, OpenTranscript
from evaluation.readers import broken_off
from evaluation.rubric.control_words import control_words
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT
from evaluation.rubric.verdict import VerdictStatus, shown_status
from evaluation.score import MetricDefinition, MetricResult, RowVerdict, Status, failure_beyond_score
from evaluation.text.display import counted

_BLIND_FOR = "blind_for"


def transcript_view(opened: OpenTranscript) -> None:
    """Draws the header with the verdict and seven metrics in a line, and below it the conversation or a ledger.

    The cards with what stands behind the scores are drawn when they are opened: they take a browser longer than the
    conversation does.
    """
    _header(opened)
    # Side by side while both are closed, so that the conversation begins higher up.
    is_open = any(st.session_state.get(key) or state.chosen(key) == "true" for key in (state.SCORES, READING))
    with st.container(horizontal=not is_open):
        with state.linked_box("Why these scores", state.SCORES) as shows_cards:
            if shows_cards:
                _cards(opened)
        reading_panel(resources.store(), opened.transcript.id)
    with st.container(horizontal=True, vertical_alignment="center", key="game_views"):
        view = state.choose_part([state.CONVERSATION, state.LEDGER, state.INSIGHTS], key=state.VIEW)
        if is_hidden(opened, ENGAGEMENT.name) and st.session_state.get(_BLIND_FOR) != opened.transcript.id:
            # At first for each game that is still to be rated, whatever was chosen for another.
            st.session_state[_BLIND_FOR], st.session_state["blind"] = opened.transcript.id, True
        roles_hidden = view == state.CONVERSATION and st.toggle(
            "Hide roles and private chat", key="blind", bind="query-params"
        )
    if view == state.LEDGER:
        ledger_table(opened)
    elif view == state.INSIGHTS:
        insights(opened.transcript.id)
    else:
        _conversation(opened, roles_hidden=roles_hidden)


def _header(opened: OpenTranscript) -> None:
    transcript = opened.transcript
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("All games", icon=":material/arrow_back:", key="back", on_click=_close)
        # Within an iteration a game has its number; a title that somebody gave it stands beside that.
        is_titled = opened.name not in (opened.label, transcript.game_id)
        with st.container(key="game_name", width="content"):
            st.text(f"{opened.label} · {opened.name}" if is_titled else opened.label)
        st.caption(
            f"{counted(len(transcript.players), 'player')} · {counted(len(transcript.discussion), 'public message')} · "
            f"{counted(len(transcript.valid_votes), 'vote')}"
        )
    if (reason := broken_off(transcript.metadata)) is not None:
        plain(f"This run was broken off by {reason}.")
    st.markdown(_summary(opened))


def _summary(opened: OpenTranscript) -> str:
    """The verdict and every metric as labels in a row, all in our own words."""
    waits = opened.verdict.status is VerdictStatus.PENDING and is_hidden(opened, ENGAGEMENT.name)
    appearance = look("hidden" if waits else opened.verdict.status)
    told = 6 if is_hidden(opened, ENGAGEMENT.name) else 7
    passes = f"{opened.verdict.passed_count} of {told} pass{opened.verdict.count_words}"
    verdict = f"{appearance.symbol} Verdict {appearance.word}, {passes}"
    labels = [f":{appearance.color}-badge[{verdict}]"]
    for name, definition in DEFINITIONS.items():
        outcome = opened.outcomes.get(name)
        shown = look("hidden" if is_hidden(opened, name) else shown_status(outcome) if outcome else "not_computed")
        words, coverage, missed = shown.word, "", ""
        if outcome is not None and outcome.score is not None:
            words = score_text(outcome.score, definition.scale, outcome.threshold)
            if outcome.status is Status.FAILED and outcome.score < outcome.threshold:
                missed = f", {threshold_text(outcome.threshold, definition.scale)}"
            coverage = outcome.coverage.mark if outcome.coverage else ""
            if failure_beyond_score(outcome):
                coverage += BEYOND_SCORE
        labels.append(f":{shown.color}-badge[{shown.symbol} {definition.label} {words}{coverage}{missed}]")
    return " ".join(labels)


def is_hidden(opened: OpenTranscript, name: str) -> bool:
    """Whether a metric is left out because a rater has not rated the game; engagement itself never fails."""
    return name == ENGAGEMENT.name and name not in opened.results


def _close() -> None:
    state.choose(transcript=None, message=None, metric=None)


def _cards(opened: OpenTranscript) -> None:
    cost = opened.transcript.cost
    known = cost if cost is not None and cost.is_known else None
    usd, cache = usd_text(known.total_usd if known else None), share_text(known.cache_hit_rate if known else None)
    with st.grid(4, min_column_width=150):
        verdict_card(
            str(opened.verdict.status),
            f"{opened.verdict.passed_count} of {6 if is_hidden(opened, ENGAGEMENT.name) else 7}",
            f"cost {usd}, cache hits {cache}",
            opened.verdict.reasons,
        )
        for name in DEFINITIONS:
            _card(opened, name)
    if any(_is_uncompared(result) for result in opened.results.values()):
        st.caption("These scores are not compared with scrambled copies yet.")


def _is_uncompared(result: MetricResult) -> bool:
    """Whether the score waits for its comparison with scrambled copies: said once a game, not on every card."""
    return result.score is not None and (result.control is None or result.control.get("status") == "pending")


def _card(opened: OpenTranscript, name: str) -> None:
    definition = DEFINITIONS[name]
    if is_hidden(opened, name):
        score_card(definition, None, "hidden", definition.threshold, "until you rate it")
        return
    if name not in opened.results:
        score_card(definition, None, "not_computed", definition.threshold, "the scorer failed on this game")
        return
    outcome = opened.outcomes[name]
    result = opened.results[name]
    beside = "" if _is_uncompared(result) else control_words(name, outcome.score, result.control)
    detail = "  \n".join(filter(None, (metric_detail(result), beside)))
    score_card(
        definition,
        outcome.score,
        shown_status(outcome),
        outcome.threshold,
        detail,
        on_open=partial(show_ledger, name),
    )


def metric_detail(result: MetricResult) -> str:
    """The numbers behind a game's score: "17 of 20 references, 3 unverified"."""
    if result.score is None and not result.ledger:
        return ""
    parts = [fraction_text(result.numerator, result.denominator, result.definition)] if result.denominator else []
    excluded = sum(row.verdict is RowVerdict.EXCLUDED for row in result.ledger)
    if coverage := result.coverage:
        parts.append(coverage.words)
    elif excluded:
        parts.append(f"{excluded} {excluded_words(result.name)}")
    return ", ".join(parts)


@st.fragment
@access_checks.fragment("conversation")
def _conversation(opened: OpenTranscript, *, roles_hidden: bool) -> None:
    transcript = opened.transcript
    is_in_dialog = st.session_state.pop("open_in_dialog", False)
    left, right = st.columns([17, 9], gap="small")
    conversation = opened.conversation(roles_hidden=roles_hidden)
    focus = focus_on(conversation.rows, state.aim_of(transcript.id))
    with left:
        chat_view(conversation, focus, key=_chat_key(transcript.id), on_open=lambda: _open(opened))
    message_id, metric = state.chosen(state.MESSAGE), state.chosen(state.METRIC, DEFINITIONS)
    with right:
        if message_id is None or transcript.message(message_id) is None:
            st.caption(
                "Select a label under a message to see why it got that verdict, or the number of the message for all "
                "its labels."
            )
        elif not is_in_dialog:
            # The same widgets must not stand on the page twice.
            message_detail(opened, message_id, metric)
    if is_in_dialog and message_id:
        _dialog(opened, message_id, metric)


@st.dialog("Why this verdict", width="medium")
@access_checks.fragment("why_this_verdict")
def _dialog(opened: OpenTranscript, message_id: str, metric: str | None) -> None:
    message_detail(opened, message_id, metric)


def _chat_key(transcript_id: str) -> str:
    return f"chat_{transcript_id}"


def _open(opened: OpenTranscript) -> None:
    value = state.sent(_chat_key(opened.transcript.id), "open")
    chosen = read_open(value, opened.transcript)
    if chosen:
        state.follow(opened.transcript.id, *chosen)
        st.session_state["open_in_dialog"] = value.get("narrow") is True


def score_card(
    definition: MetricDefinition,
    score: float | None,
    status: str,
    threshold: float,
    detail: str,
    on_open: Callable[[], None] | None = None,
) -> None:
    """Draws a metric's score, its status, the numbers behind it and the threshold.

    Args:
        definition: The metric.
        score: On its scale; ``None`` when there is none.
        status: ``passed``, ``failed``, ``pending`` or ``not_applicable``; the first two also ``_low_evidence``.
        threshold: The threshold it was judged by.
        detail: The numbers behind the score, in our own words ("17 of 20 references").
        on_open: What a click on "See the rows" does; no such button without it.
    """
    value = score_text(score, definition.scale, threshold) if score is not None else "–"
    with st.container(border=True, height="stretch", gap="xsmall"):
        _head(definition.label, value, status)
        st.caption(f"{threshold_text(threshold, definition.scale)}  \n{detail}")
        if on_open is not None:
            st.button("See the rows", key=f"rows_{definition.name}", type="tertiary", on_click=on_open)


def verdict_card(status: str, passed: str, detail: str, reasons: Sequence[str] = ()) -> None:
    """Draws a verdict like a metric: its word, how many pass ("5 of 7"), a remark in our own words, and the reasons."""
    with st.container(border=True, height="stretch", gap="xsmall"):
        _head("Verdict", passed, status)
        st.caption(f"needs 5 of 7, engagement among them  \n{detail}")
        if reasons:
            with st.popover("Why this verdict", type="tertiary"):
                plain("\n".join(reasons))


def _head(label: str, value: str, status: str) -> None:
    appearance = look(status)
    st.markdown(f"**{label}**")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"## {value}", width="content")
        st.badge(appearance.label, color=appearance.color)
