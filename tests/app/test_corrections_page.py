"""The view of checks on the Agents page: what the gate did, attempts side by side, and the settings of an agent."""

from __future__ import annotations

import pytest

from dashboard.app_pages.agents.gate_data import check_lines, sent_before
from evaluation.corrections.action_gate import Attempt, DimensionCheck, GateOutcome, GateResult, MessageScore
from evaluation.corrections.config import CorrectionConfig
from evaluation.corrections.statistics import settings
from evaluation.store import Store


def attempt(number: int, score: float | None, text: str = "Let us wait.", feedback: str = "") -> Attempt:
    found = MessageScore(score, f"reason for {score}", ("Speak as the person.",) if score and score < 7 else ())
    return Attempt(number, text, (DimensionCheck("adherence", 7.0, found),), 0.25, feedback=feedback)


@pytest.fixture
def checked(store: Store, hostile: str) -> Store:
    """Four messages: two passed at once, one after a retry, one that no judge answered for."""
    for text in ("Good morning.", "Let us begin."):
        passed = attempt(0, 8, text)
        store.corrections.add(GateResult("michael", passed, GateOutcome.PASSED, (passed,)))
    first, second = attempt(0, 2, hostile, feedback="Scored 2 of 9."), attempt(1, 9, "I once saved this office.")
    store.corrections.add(GateResult("michael", second, GateOutcome.PASSED_AFTER_RETRY, (first, second)))
    silent = attempt(0, None)
    store.corrections.add(GateResult("dwight", silent, GateOutcome.TIMEOUT_PASS_THROUGH, (silent,)))
    return store


def test_attempts_stand_side_by_side_with_scores_reasons_and_feedback(
    open_page, checked, words, table, hostile
) -> None:
    app = open_page("agents", agents="Checks", agent="michael")
    assert not app.exception
    app.pills(key="outcome").set_value([GateOutcome.PASSED_AFTER_RETRY]).run()
    assert not app.exception
    said = words(app)
    assert "A rewritten text passed every check. 2 texts tried" in said
    assert [code.value for code in app.code] == [hostile, "Scored 2 of 9.", "I once saved this office."]
    assert {"reason for 2", "reason for 9", "- Speak as the person."} <= {one.value for one in app.text}
    similar = "✓ Similarity: 25% like an earlier message, at most 60% is allowed"
    assert f"✗ Adherence: 2 of 9, at least 7 is needed\n{similar}" in said
    assert "✓ Adherence: 9 of 9, at least 7 is needed" in said
    assert app.query_params["checked"]


def test_a_text_that_repeats_stands_with_the_message_and_the_limit(checked) -> None:
    twin = Attempt(0, "Good morning, all.", similarity=2 / 3, is_similar=True)
    checked.corrections.add(GateResult("michael", twin, GateOutcome.FORCED_THROUGH, (twin,)))
    messages = checked.corrections.messages("michael")
    sent = sent_before(messages, messages[0])
    assert sent == ["Good morning.", "Let us begin.", "I once saved this office."]
    told = ["✗ Similarity: 67% like an earlier message, at most 60% is allowed", "The earlier message: “Good morning.”"]
    assert check_lines(twin, 0.6, sent) == told
    # What it was compared with is not kept: a limit or a message that cannot have been it is not named.
    assert check_lines(twin, 0.7, sent[1:]) == ["✗ Similarity: 67% like an earlier message, too much"]


def test_every_setting_has_a_field(open_page, store) -> None:
    app = open_page("agents", agents="Checks", choose_checks="true", checked_agent="michael")
    assert not app.exception
    assert len([*app.toggle, *app.number_input]) == len(settings()) == len(CorrectionConfig.model_fields)


def test_settings_are_stored_refused_with_the_reason_and_reset(open_page, store, words) -> None:
    app = open_page("agents", agents="Checks", choose_checks="true", checked_agent="dwight")
    _field(app.toggle, "gate_fluency_enabled").set_value(True)
    _field(app.number_input, "gate_fluency_threshold").set_value(12.0)
    _button(app, "Save").click().run()
    assert not app.exception
    assert "gate_fluency_threshold: Input should be less than or equal to 9 (was 12.0)" in words(app)
    assert store.corrections.configs() == {}
    _field(app.number_input, "gate_fluency_threshold").set_value(5.5)
    _button(app, "Save").click().run()
    assert not app.exception
    assert store.corrections.config("dwight") == CorrectionConfig(gate_fluency_enabled=True, gate_fluency_threshold=5.5)
    assert "2 settings other than the default: Judge fluency (on), Fluency at least (5.5)." in words(app)
    _button(app, "Back to the defaults").click().run()
    assert not app.exception
    assert store.corrections.configs() == {}
    assert _field(app.toggle, "gate_fluency_enabled").value is False


def _field(fields, name: str):
    return next(one for one in fields if one.key.startswith(name))


def _button(app, label: str):
    return next(one for one in app.button if one.label == label)


def test_all_views_are_of_the_agent_of_the_address(open_page, checked, words) -> None:
    app = open_page("agents", agent="jim")
    for view in ("Checks", "Runs", "Profiles"):
        app.segmented_control(key="agents").set_value(view).run()
        picker = app.selectbox(key="corrected_agent" if view == "Checks" else "chosen_agent")
        # The default counts in a browser that was never told of the session's value.
        assert picker.value == "jim"
        assert "jim" in picker.options[picker.proto.default]
        assert app.query_params["agent"] == "jim"
        assert ("No message of this agent was checked yet; those of " in words(app)) == (view == "Checks")
    app.segmented_control(key="agents").set_value("Checks").run()
    _button(app, "Show all agents").click().run()
    assert "agent" not in app.query_params
    assert "No message of this agent was checked yet" not in words(app)
