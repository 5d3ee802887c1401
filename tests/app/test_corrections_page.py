"""The view of checks on the Agents page: what the gate did, attempts side by side, and the settings of an agent."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from dashboard.app_pages.agents.gate_data import check_lines, over_time, sent_before
from dashboard.app_pages.agents.gate_outcomes import outcome_figure
from evaluation.corrections.config import CorrectionConfig
from evaluation.corrections.gate import Attempt, DimensionCheck, GateOutcome, GateResult, MessageScore
from evaluation.corrections.statistics import SWITCH, settings
from evaluation.store import Store
from tests.app.drawn import tables


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


def test_before_any_message_the_page_tells_how_to_see_one_and_leads_to_the_settings(open_page, database, words) -> None:
    app = open_page("agents", agents="Checks")
    assert not app.exception
    assert "No message was checked yet" in words(app)
    assert "Nothing is switched on here" in words(open_page("agents", agents="Checks", choose_checks="true"))


def test_outcomes_come_with_counts_shares_and_intervals(open_page, checked, words, table) -> None:
    app = open_page("agents", agents="Checks")
    assert not app.exception
    assert "Of 4 messages, 2 passed at once, 1 passed once written again and 1 went out unjudged" in words(app)
    # All came in one minute: a chart over time would have one bar.
    assert not app.get("plotly_chart")
    shown = tables(app)[0].set_index("Outcome")
    assert list(shown["Messages"]) == ["2", "1", "0", "0", "1"]
    # Wilson for 1 of 4: 5 to 70 %.
    assert list(shown.loc["no judge answered", ["Share", "95 % interval"]]) == ["25%", "5 to 70 %"]
    # First texts scored 8, 8 and 2; the silent judge's is not among them; the one written again got 9.
    row = next(one for one in tables(app) if "First texts that failed" in one).iloc[0]
    assert (row["Check"], row["First texts that failed"]) == ("Adherence", "1 of 3 (33%)")
    assert (row["Rewritten texts that failed"], row["No answer"]) == ("0 of 1 (0%)", "1")


def test_messages_of_several_days_are_drawn_over_time(checked) -> None:
    at = datetime(2026, 5, 1, tzinfo=UTC)
    found = [replace(one, at=at + timedelta(days=2 * day)) for day, one in enumerate(checked.corrections.messages())]
    counts, step = over_time(found)
    assert (len(counts), step) == (7, "day")
    names = {trace.name for trace in outcome_figure(counts).data}
    assert names == {"passed at once", "passed after a retry", "no judge answered"}


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


def test_every_setting_has_a_field_that_names_its_default(open_page, store) -> None:
    assert set(settings()) == set(CorrectionConfig.model_fields)
    switches = {name for name, setting in settings().items() if setting.kind == SWITCH}
    assert {setting.switch for setting in settings().values() if setting.switch} <= switches
    app = open_page("agents", agents="Checks", choose_checks="true", checked_agent="michael")
    assert not app.exception
    fields = [*app.toggle, *app.number_input]
    assert len(fields) == len(settings())
    assert all("Default: " in field.help for field in fields)


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
