"""One transcript: the game's scores, its conversation with badges, and the ledger behind every number."""

from __future__ import annotations

from collections import defaultdict

import streamlit as st

from dashboard import access_checks
from dashboard.app_pages.games.insights import insights
from dashboard.app_pages.games.ledger import ledger_metric, ledger_table, show_ledger
from dashboard.app_pages.games.ledger_row import choose_message, message_detail
from dashboard.app_pages.games.rename_move_delete import edit_transcript
from dashboard.shared import state
from dashboard.shared.chat.conversation import focus_on, read_open, worst_verdict
from dashboard.shared.drawing import chat_view
from dashboard.shared.formatting import CHANCE, look, rules_text, score_text, share_text, threshold_text, usd_text
from dashboard.shared.notices import plain
from dashboard.shared.queries import BEYOND_SCORE, OpenTranscript
from dashboard.shared.version_notes import outdated_note
from evaluation.readers import broken_off
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT, PERSONALITY_DIVERSITY, SHORT_LABELS
from evaluation.rubric.verdict import Scored, VerdictStatus, has_low_evidence, is_metric_at_chance, marked_status
from evaluation.score import (
    LOW_EVIDENCE,
    OVERRULED,
    LedgerRow,
    MetricDefinition,
    RowVerdict,
    Status,
    changed_words,
    failure_beyond_score,
)
from evaluation.store import Store
from evaluation.text.display import counted, shortened
from evaluation.transcript import Message, Transcript
from evaluation.validity import trust_words

_BLIND_FOR = "blind_for"
_LONGEST_REASON = 150


def transcript_view(store: Store, opened: OpenTranscript, *, is_blind: bool) -> None:
    """Draws the game's name and views, the verdict and the seven metrics, and the conversation, ledger or insights."""
    view, roles_hidden = _head(opened)
    outdated_note(store, opened.results)
    if is_blind:
        st.caption("What others gave this game, and its verdict with that, are hidden until you have rated it.")
    _strip(opened, ledger_metric(opened) if view == state.LEDGER else None)
    if (reason := broken_off(opened.transcript.metadata)) is not None:
        plain(f"This run was broken off by {reason}.")
    if view == state.LEDGER:
        ledger_table(opened)
    elif view == state.INSIGHTS:
        insights(opened.transcript.id)
    else:
        _conversation(opened, roles_hidden=roles_hidden)


def _head(opened: OpenTranscript) -> tuple[str, bool]:
    """The name of the game and its views on a line: the view that is chosen, and whether it hides roles."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="game_head"):
        st.button("All games", icon=":material/arrow_back:", key="back", type="tertiary", on_click=_close)
        # Within an iteration a game has its number; a title that somebody gave it stands beside that.
        is_titled = opened.name not in (opened.label, opened.transcript.game_id)
        with st.container(key="game_name", width="content"):
            st.text(f"{opened.label} · {opened.name}" if is_titled else opened.label)
        view = state.choose_part([state.CONVERSATION, state.LEDGER, state.INSIGHTS], key=state.VIEW)
        if is_hidden(opened, ENGAGEMENT.name) and st.session_state.get(_BLIND_FOR) != opened.transcript.id:
            # At first for each game that is still to be rated, whatever was chosen for another.
            st.session_state[_BLIND_FOR], st.session_state["blind"] = opened.transcript.id, True
        is_blind = view == state.CONVERSATION and st.toggle(
            "Hide roles and private chat", key="blind", bind="query-params"
        )
        edit_transcript(opened)
        return view, is_blind


def is_hidden(opened: OpenTranscript, name: str) -> bool:
    """Whether a metric is left out because a rater has not rated the game; engagement itself never fails."""
    return name == ENGAGEMENT.name and name not in opened.results


def _close() -> None:
    state.choose(transcript=None, message=None, metric=None)


def _strip(opened: OpenTranscript, shown: str | None) -> None:
    """The verdict with its reasons, and each metric, which opens its ledger; all labels in our own words."""
    verdict, is_unrated = opened.verdict, is_hidden(opened, ENGAGEMENT.name)
    waits = verdict.status is VerdictStatus.PENDING and is_unrated
    status = "hidden" if waits else str(verdict.status)
    passed = f"{verdict.passed_count} of {6 if is_unrated else 7}"
    more = f"{verdict.at_chance_count} more pass {CHANCE}" * bool(verdict.at_chance_count)
    beside = filter(None, (look(status).word, more))
    with st.container(horizontal=True, gap=None, key="score_strip"):
        with st.popover(_cell("Verdict", status, passed, *beside), type="tertiary", wrap=True):
            _facts(opened)
        for name, definition in DEFINITIONS.items():
            st.button(
                _metric_cell(opened, definition),
                key=f"metric_{name}",
                type="secondary" if name == shown else "tertiary",
                width="stretch",
                wrap=True,
                disabled=name not in opened.results,
                on_click=show_ledger,
                args=(name,),
            )


def _cell(label: str, status: str, value: str, *beside: str) -> str:
    """A cell of the strip: its name, the value behind a symbol, and what qualifies it."""
    appearance = look(status)
    value = f":{appearance.color}-badge[{appearance.symbol} {value}]"
    return "  \n".join([label, value, " · ".join(beside) or appearance.word])


def _metric_cell(opened: OpenTranscript, definition: MetricDefinition) -> str:
    outcome = opened.results.get(definition.name)
    label = SHORT_LABELS[definition.name]
    if outcome is None:
        is_unrated = is_hidden(opened, definition.name)
        return _cell(label, *("hidden", "hidden", "until you rate it") if is_unrated else ("not_computed", "no score"))
    status = marked_status(definition.name, outcome)
    limit = threshold_text(outcome.threshold, definition.scale).replace("at least", "≥")
    if outcome.score is None:
        return _cell(label, status, "no score" if outcome.status is Status.NOT_APPLICABLE else look(status).word, limit)
    value = score_text(outcome.score, definition.scale, outcome.threshold)
    alone = outcome.details.get(OVERRULED, "").rpartition("; ")[2]
    by_rules = rules_text((outcome.details.get("by_rule") or {}).get("score"), outcome.score, outcome.threshold)
    beside = (limit, by_rules, _caution(outcome, definition.name), alone, changed_words(outcome.changed))
    return _cell(label, status, value, *filter(None, beside))


def _caution(outcome: Scored, metric: str) -> str:
    """The caution about a score in a few words: a fault beyond it, little evidence, else the trust in it."""
    if failure_beyond_score(outcome):
        return BEYOND_SCORE.removeprefix(", ")
    if is_metric_at_chance(outcome):
        return CHANCE if outcome.status is Status.PASSED else f"fails {CHANCE}"
    return LOW_EVIDENCE if has_low_evidence(outcome) else trust_words(metric)


def _facts(opened: OpenTranscript) -> None:
    transcript, cost = opened.transcript, opened.transcript.cost
    known = cost if cost is not None and cost.is_known else None
    usd, cache = usd_text(known.total_usd if known else None), share_text(known.cache_hit_rate if known else None)
    plain("\n".join(opened.verdict.reasons))
    st.caption(
        f"A game passes with 5 of 7, engagement among them{opened.verdict.count_words.replace(', ', '; ')}.  \n"
        f"{counted(len(transcript.players), 'player')}, {counted(len(transcript.discussion), 'public message')}"
        f"{_markers(transcript)}, "
        f"{counted(len(transcript.valid_votes), 'vote')}; cost {usd}, cache hits {cache}."
    )


def _markers(transcript: Transcript) -> str:
    """The number of messages that only mark a turn, which are shown and judged nowhere; empty without any."""
    count = sum(one.is_control for one in transcript.messages)
    return f" and {count} that only mark a turn, such as “Over”" if count else ""


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
            _what_fails(opened, with_reasons=not roles_hidden)
            st.caption("A label under a message tells why it got that verdict, the number of a message tells all.")
        elif not is_in_dialog:
            # The same widgets must not stand on the page twice.
            message_detail(opened, message_id, metric)
    if is_in_dialog and message_id:
        _dialog(opened, message_id, metric)


def _what_fails(opened: OpenTranscript, *, with_reasons: bool) -> None:
    """Number of messages, or players, that fail each metric; a click opens the first, whose reason may tell a role."""
    judged = defaultdict[str, set[str]](set)
    failing = defaultdict[str, dict[str, tuple[Message, LedgerRow]]](dict)
    for message in opened.transcript.messages:
        for name, rows in opened.concerning.get(message.id, {}).items():
            verdict = worst_verdict(rows)
            row = next(one for one in rows if one.verdict is verdict)
            # A player's row stands beside each message that shows it.
            of = row.player or "" if name == PERSONALITY_DIVERSITY.name else message.id
            if verdict is not RowVerdict.EXCLUDED:
                judged[name].add(of)
            if verdict is RowVerdict.DOES_NOT_COUNT:
                failing[name].setdefault(of, (message, row))
    st.markdown("**What fails in this game**" if failing else "**No judged message fails**")
    for name in (one for one in DEFINITIONS if one in failing):
        (message, row), count = next(iter(failing[name].values())), len(failing[name])
        noun = "player" if name == PERSONALITY_DIVERSITY.name else "message"
        many = f"{count} of " * (count < len(judged[name]))
        with st.container(gap=None):
            st.button(
                f"{DEFINITIONS[name].label}: {many}{counted(len(judged[name]), noun)}",
                key=f"first_failing_{name}",
                type="tertiary",
                icon=":material/arrow_forward:",
                on_click=choose_message,
                args=(opened.transcript.id, message.id, name),
            )
            if with_reasons:
                plain(shortened(f"{message.index + 1}, {row.player or message.speaker}: {row.reason}", _LONGEST_REASON))


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
