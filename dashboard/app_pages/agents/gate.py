"""The gate on the Agents page: what it did with messages, single messages, and one agent's settings."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any

import streamlit as st

from dashboard.app_pages.agents import gate_data as data
from dashboard.app_pages.agents.gate_data import Looked
from dashboard.shared import resources, state
from dashboard.shared.answer import answer
from dashboard.shared.formatting import verdict_color
from dashboard.shared.identity import identity
from dashboard.shared.local_time import local_time
from dashboard.shared.notices import empty_state, plain, refusal_told
from dashboard.shared.status_table import status_table
from evaluation.access import Action
from evaluation.corrections.action_gate import Attempt, GateOutcome, LoggedMessage
from evaluation.corrections.config import CorrectionConfig, read_config
from evaluation.corrections.statistics import (
    COUNT,
    MARK,
    OUTCOME_MEANINGS,
    OUTCOMES,
    SWITCH,
    Setting,
    default_of,
    outcome_words,
    settings,
)
from evaluation.store import Store
from evaluation.text.display import counted, listed, shortened

AGENT = "agent"
MESSAGE = "checked"
_PICKED = "corrected_agent"
_ALL = ""
_FORM = "choose_checks"
_MOST_LISTED = 500
_SNIPPET = """gate = ActionGate(PropositionChecker(judge, PropositionLibrary.load()), log=log)
result = await gate.send(generate, ActionContext.of("michael", history), store.corrections.config("michael"))"""


_LONGEST_TEXT = 80


def gate(store: Store) -> None:
    """Draw what became of messages before they were sent, each with its attempts, or the form of what is checked."""
    checked = resources.read(store.corrections.agents)
    if state.CHOSEN_AGENT in st.session_state and any(checked.values()) and not checked.get(state.chosen(AGENT) or ""):
        # The agent of the view that one comes from: of all agents there is something to see.
        state.choose(**{AGENT: None})
    agent = choose_agent()
    if state.chosen(_FORM):
        choose_checks(store, agent)
    elif not any(checked.values()):
        nothing_checked()
    else:
        looked = resources.share(data.looked_at, agent)
        if looked.messages:
            outcomes(looked)
            messages(store, looked)
            with st.expander("Show the numbers", icon=":material/table:"):
                numbers(looked)
        else:
            names = resources.read(data.names_of_agents)
            others = listed([names[one] for one, count in checked.items() if count])
            with answer("No message of this agent was checked yet", f"Those of {others} were."):
                st.button("Show all agents", on_click=state.set_widgets, args=({_PICKED: _ALL},))
                _form_button()


def _form_button() -> None:
    st.button(
        "Choose what is checked",
        icon=":material/tune:",
        key="open_checks",
        type="primary",
        on_click=state.choose,
        kwargs={_FORM: "true"},
    )


def choose_checks(store: Store, agent: str | None) -> None:
    """The form of what is checked for an agent, and the way back."""
    names = resources.read(data.names_of_agents)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="checks_head"):
        leave: dict[str, Any] = {_FORM: None}
        st.button(
            "Checked messages",
            icon=":material/arrow_back:",
            key="leave_checks",
            type="tertiary",
            on_click=state.choose,
            kwargs=leave,
        )
        if agent:
            plain(f"What is checked for {names[agent]}")
    if agent is None:
        with answer("Each agent has checks of its own"):
            chosen = st.selectbox(
                "Of which agent?",
                list(names),
                None,
                names.__getitem__,
                key="checks_of",
                width=300,
                placeholder="Choose an agent",
                label_visibility="collapsed",
            )
        if chosen:
            state.choose(**{AGENT: chosen})
            st.rerun()
    else:
        settings_form(store, agent)


def nothing_checked() -> None:
    """The empty page: what the gate is, and how to wrap one's own agents."""
    empty_state(
        "No message was checked yet",
        "Your program asks the gate before an agent sends a message; what the gate did then stands here.",
    )
    with st.container(horizontal=True, horizontal_alignment="center"):
        _form_button()
    with st.expander("The code for your program"):
        st.code(_SNIPPET, language=None, wrap_lines=True)


def choose_agent() -> str | None:
    """The agent whose messages and settings are shown, whether or not it ever spoke; ``None`` for all agents.

    The choice stands in the URL.
    """
    names = resources.read(data.names_of_agents)

    def words(key: str) -> str:
        return data.agent_words(names, key) if key else "All agents"

    with state.head():
        chosen = state.select_linked("Agent", [_ALL, *names], words, parameter=AGENT, key=_PICKED, width=230)
    return chosen or None


def outcomes(looked: Looked) -> None:
    """Outcomes of messages in a sentence."""
    with answer(*outcome_words(one.result for one in looked.messages)):
        _form_button()
    if len(looked.messages) < looked.count:
        st.caption(f"The latest {len(looked.messages):,} of {looked.count:,} checked messages.")


def numbers(looked: Looked) -> None:
    """Outcomes with intervals, which check sends messages back, and retries, calls and cost."""
    status_table(data.outcome_rows(looked.messages), "Outcomes with their shares and meaning")
    st.caption(
        "Texts that failed a check, of those that a judge scored, with Wilson's 95 % intervals. Rewritten texts "
        "exist only where an earlier one failed, so they stand apart."
    )
    status_table(data.failure_rows(looked.messages), "Failures by check, first texts and rewritten ones apart")
    status_table(data.statistics_rows(looked.messages), "Rewritten texts that failed, calls and cost per message")


def messages(store: Store, looked: Looked) -> None:
    """A choice of messages by their outcome, and all texts that were tried for one of them side by side."""
    counts = Counter(one.outcome for one in looked.messages)
    wanted = st.pills(
        "What became of the messages",
        [each for each in GateOutcome if counts[each]],
        selection_mode="multi",
        format_func=lambda each: f"{OUTCOMES[each]}: {counts[each]:,}",
        key="outcome",
        bind="query-params",
        wrap=True,
    )
    found = [one for one in looked.messages if not wanted or one.outcome in wanted][:_MOST_LISTED]
    if not found:
        st.info("No message had that outcome. Choose other ones.")
        return
    chosen = _choose_message(found)
    meaning = OUTCOME_MEANINGS[chosen.outcome] if chosen.was_sent else "No text passed, and nothing was sent."
    attempts = chosen.result.attempts
    st.caption(f"{meaning} {counted(len(attempts), 'text')} tried, on {local_time(chosen.at)}.")
    limit = store.corrections.config(chosen.result.agent).max_action_similarity
    with st.grid(min(len(attempts), 3), min_column_width=240):
        for attempt in attempts:
            _attempt(attempt, data.check_lines(attempt, limit), is_sent=attempt == chosen.result.committed)


def _choose_message(found: Sequence[LoggedMessage]) -> LoggedMessage:
    ids = [one.id for one in found]
    names = {
        one.id: f"{number}. {OUTCOMES[one.outcome] if one.was_sent else 'not sent'}: "
        f"{shortened((one.result.committed or one.result.attempts[0]).text, _LONGEST_TEXT)}"
        for number, one in enumerate(found, start=1)
    }
    chosen = state.select_linked("Message", ids, names.__getitem__, parameter=MESSAGE, key="checked_message")
    return found[ids.index(chosen)]


def _attempt(attempt: Attempt, lines: Sequence[str], *, is_sent: bool) -> None:
    with st.container(border=True, height="stretch", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{'First text' if attempt.number == 0 else f'Retry {attempt.number}'}**")
            words = "✓ sent" if attempt.is_passed else "✗ sent although it failed"
            st.badge(words if is_sent else "not sent", color=verdict_color(words) if is_sent else "gray")
        st.code(attempt.text or "(empty)", language=None, wrap_lines=True)
        plain("\n".join(lines))
        for check in attempt.checks:
            st.caption(f"Why this mark for {check.dimension}")
            plain(check.found.reasoning or "no reason given")
            for line in check.found.recommendations:
                plain(f"- {line}")
        if attempt.feedback:
            with st.expander("What the agent was told"):
                st.code(attempt.feedback, language=None, wrap_lines=True)


_ROW = (2.2, 4.2, 3.6)
"""Widths of a row of the form: the switch, what it does, and its limit."""
_SAVED = "correction_saved"
_TIMES = "corrections_stored"


def settings_form(store: Store, agent: str) -> None:
    """The form for one agent. No form of Streamlit's: a switch must turn on at once what stands beside it."""
    held = store.corrections.config(agent)
    _tell_what_holds(held)
    if (saved := st.session_state.pop(_SAVED, None)) is not None:
        st.success(saved)
    place = _place(agent, held)
    values: dict[str, bool | float] = {}
    for part, entries in groupby(settings().items(), key=lambda entry: entry[1].part):
        st.subheader(part, anchor=False)
        with st.container(key=f"check_rows_{len(values)}", gap=None):
            # What a switch turns on stands beside it.
            for _, row in groupby(entries, key=lambda entry: entry[1].switch or entry[0]):
                (name, setting), *limits = row
                what, meaning, limit = st.columns(_ROW, vertical_alignment="center", gap="small")
                meaning.caption(setting.meaning)
                if setting.kind == SWITCH:
                    with what:
                        values[name] = _field(name, setting, held, place)
                else:
                    what.markdown(setting.label)
                    limits = [(name, setting)]
                with limit:
                    for under, number in limits:
                        is_off = not values.get(number.switch, True)
                        values[under] = _field(under, number, held, place, is_off=is_off)
    with st.container(horizontal=True, key="check_actions"):
        is_sent = st.button("Save", type="primary", key="save_corrections")
        is_reset = st.button("Back to the defaults", icon=":material/undo:", key="reset_corrections")
    if is_sent:
        _save(store, agent, values)
    if is_reset:
        _reset(store, agent)


def _tell_what_holds(held: CorrectionConfig) -> None:
    changed = _changed(held)
    if not changed:
        st.caption("Nothing is switched on here. Programs use these settings unless they bring their own.")
    else:
        labels = ", ".join(
            f"{settings()[name].label} ({settings()[name].shown(getattr(held, name))})" for name in changed
        )
        st.caption(f"{counted(len(changed), 'setting')} other than the default: {labels}.")


def _changed(held: CorrectionConfig) -> list[str]:
    return [name for name in settings() if getattr(held, name) != default_of(name)]


def _field(name: str, setting: Setting, held: CorrectionConfig, place: str, *, is_off: bool = False) -> bool | float:
    value, key = getattr(held, name), f"{name}_{place}"
    if setting.kind == SWITCH:
        return st.toggle(setting.label, value, key=key, width="stretch")
    # A limit that no switch turns on has its name where the others have their switch.
    shown = "visible" if setting.switch else "hidden"
    help_text = f"{setting.meaning} Default: {setting.shown(default_of(name))}."
    number = partial(st.number_input, key=key, help=help_text, disabled=is_off, label_visibility=shown)
    if setting.kind == COUNT:
        return number(setting.label, 0, value=int(value), step=1)
    step = 0.5 if setting.kind == MARK else 0.05
    # Wide open on purpose: what lies outside is refused with the reason, and not silently changed.
    return float(number(f"{setting.label} ({setting.kind})", value=float(value), step=step, format="%g"))


def _save(store: Store, agent: str, values: Mapping[str, bool | float]) -> None:
    with refusal_told("Nothing is stored yet. Correct this first:"):
        identity.require(Action.CONFIGURE)
        store.corrections.configure(agent, read_config(values))
        _tell("Stored. The next message of this agent is checked like this.")


def _reset(store: Store, agent: str) -> None:
    identity.require(Action.CONFIGURE)
    store.corrections.forget(agent)
    _tell("Back to the defaults: nothing is switched on here.")


def _place(agent: str, held: CorrectionConfig) -> str:
    """Tells the fields of this agent, and of what is stored for it, from others: whenever that changes they show it."""
    times = st.session_state.get(_TIMES, 0)
    return hashlib.blake2b(f"{agent}\n{held.model_dump_json()}\n{times}".encode(), digest_size=6).hexdigest()


def _tell(done: str) -> None:
    st.session_state[_SAVED] = done
    st.session_state[_TIMES] = st.session_state.get(_TIMES, 0) + 1
    st.rerun()
