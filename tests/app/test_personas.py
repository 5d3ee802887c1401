"""The Agents page: personas and speakers, runs by rules and by a model, what the gate did, and its settings."""

import json
from collections.abc import Iterator

import pytest

from dashboard.app_pages.agents.gate_data import check_lines
from dashboard.shared.jobs import jobs
from dashboard.shared.jobs.judging_jobs import PersonaOrder
from evaluation.corrections.action_gate import Attempt, DimensionCheck, GateOutcome, GateResult, MessageScore
from evaluation.corrections.config import CorrectionConfig
from evaluation.corrections.statistics import settings
from evaluation.judging.propositions import Dimension
from evaluation.readers.import_report import ImportReport
from evaluation.store import JobState, Store
from tests.app.drawn import data_of, tables, wait_for_jobs
from tests.judge_questions import reading
from tests.judge_server import JudgeServer


def finished(store: Store, job_id: str):
    wait_for_jobs()
    return store.jobs.get(job_id)


def test_a_persona_given_here_counts_and_a_speaker_can_be_another_agent(open_page, filled, words) -> None:
    app = open_page("agents", agent="alpha", profile_part="Persona")
    assert not app.exception
    app.text_area[0].set_value("A gruff sailor.")
    app.button(key="save_persona").click().run()
    assert filled.agents.get("alpha").persona == "A gruff sailor."
    app.selectbox(key="speaker_0").set_value("Bravo")
    app.button(key="map_speaker_send").click().run()
    assert not app.exception
    assert filled.agents.speakers() == {"Bravo": "alpha"}
    app.button(key="unmap_0").click().run()
    assert filled.agents.speakers() == {}


def test_without_a_model_a_run_is_judged_by_rules_and_says_so(open_page, filled, words, table) -> None:
    app = open_page("agents", agent="alpha", evaluate="true")
    assert "There is no key and no address of a model, so rules judge" in words(app)
    app.button(key="start_personas").click().run()
    assert not app.exception
    [job] = filled.jobs.list()
    done = finished(filled, job.id)
    assert (done.state, done.done) == (JobState.DONE, done.total)
    assert "0 calls, $0.0000" in done.message
    app = open_page("agents", agent="alpha")
    assert "judged by rules, without a model" in words(app)
    app = open_page("agents", agent="alpha", agents="Runs")
    assert "offline: rules-2" in " ".join(one.to_string() for one in tables(app))


@pytest.fixture
def reading_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    """A model that finds every message that it is asked about shallow."""
    with JudgeServer(content=reading).in_thread() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("DRAMATURG_MODEL", "local-model")
        yield server


def test_a_model_reads_a_game_from_its_page(open_page, filled, words, small_game, reading_server) -> None:
    game = small_game("one").id
    closed = open_page("games", transcript=game)
    assert "start_reading" not in {button.key for button in closed.button}
    app = open_page("games", transcript=game, read_game="true")
    assert "1 question, 1 call to local-model, cost not known." in words(app)
    assert reading_server.tally.asked.total() == 0
    app.button(key="start_reading").click().run()
    assert not app.exception
    [job] = [one for one in filled.jobs.list() if one.kind == "judge_rows"]
    done = finished(filled, job.id)
    assert (done.state, done.total) == (JobState.DONE, 1)
    assert done.message.startswith("8 of 8 messages in 1 game read")
    assert reading_server.tally.asked.total() == 1
    assert filled.results.load(game)["strategic_depth"].score == 0.0
    again = open_page("games", transcript=game, read_game="true")
    assert "1 question, 1 of them answered already, 0 calls to local-model" in words(again)


def test_uploads_are_read_where_settings_say_so(filled, small_game, reading_server) -> None:
    def upload(name: str) -> int:
        job = jobs.start_evaluation(filled, [(small_game(name), f"{name}.json")], ImportReport(()))
        finished(filled, job.id)
        # The thread of the upload began this one before it ended.
        return len([finished(filled, one.id) for one in filled.jobs.list() if one.kind == "judge_rows"])

    assert upload("silent") == 0
    filled.settings.set_judges_imports(True)
    assert upload("told") == 1
    assert upload("told") == 1
    assert reading_server.tally.asked.total() == 1
    assert filled.decisions.current(small_game("told").id)
    assert not filled.decisions.current(small_game("silent").id)


def test_an_interrupted_run_goes_on_without_evaluating_anybody_twice(filled) -> None:
    order = PersonaOrder(agents=["alpha", "bravo"], dimensions=[Dimension.FLUENCY], sample_size=2)
    first = jobs.start_judging(filled, order)
    finished(filled, first.id)
    with filled.unit(write=True) as cursor:
        cursor.execute("UPDATE jobs SET state = 'failed' WHERE job_id = ?", [first.id])
        cursor.execute("UPDATE evaluation_runs SET status = 'failed' WHERE agent_id = 'bravo'")
    again = jobs.go_on(filled, first.id)
    assert finished(filled, again.id).message.startswith("1 evaluated.")
    assert list(filled.evaluations.runs("alpha")["status"]) == ["completed"]
    assert list(filled.evaluations.runs("bravo")["status"]) == ["failed", "completed"]


def test_all_evaluated_agents_stand_above_the_profile(open_page, filled, run_of) -> None:
    run_of(filled, "alpha", 8, "rules-2")
    run_of(filled, "bravo", 3, "rules-2")
    run_of(filled, "alpha", 7, "rules-2")
    app = open_page("agents", agent="alpha")
    everybody = tables(app)[0]
    # The least in character first, with the change since the run before; the row of the one that is shown is marked.
    assert everybody["Agent"].tolist() == ["Bravo", "Alpha"]
    assert everybody["Adherence"].tolist() == ["4.1", "5.2"]
    assert everybody["Change"].tolist() == ["", "\u22120.2"]
    (drawn,) = [one for one in app.get("bidi_component") if '"Agents with their scores' in one.proto.json]
    assert (json.loads(drawn.proto.json)["atFirst"], json.loads(drawn.proto.json)["groups"]) == (1, [])
    # The interval of the mean over games is drawn with the score, where there is one.
    assert all(row["interval"] == [None, None] or row["games"] for row in data_of(app, "cockpit_rows")["rows"])


def test_runs_of_different_judges_are_never_compared(open_page, filled, words, run_of) -> None:
    run_of(filled, "alpha", 8, "rules-2")
    run_of(filled, "alpha", 3, "small")
    app = open_page("agents", agents="Runs", agent="alpha")
    assert "Run 1 stands apart: judged by scripted: rules-2, not by scripted: small." in words(app)
    assert not any(said in words(app) for said in ("beyond luck", "could be luck", "Game by game"))
    profile = words(open_page("agents", agent="alpha"))
    assert "Run 1 stands apart" in profile
    assert "Since the run before" not in profile
    # Of an agent that another judge scored last, the run of the common judge counts, which is said.
    run_of(filled, "michael", 2, "other")
    run_of(filled, "bravo", 9, "rules-2")
    ranked = words(open_page("agents", agent="alpha"))
    assert "Of Alpha an earlier run counts here: the latest one has no Adherence by this judge." in ranked
    # One whom only another judge scored stands apart, below a heading, and is not ranked.
    app = open_page("agents", agent="alpha")
    (drawn,) = [one for one in app.get("bidi_component") if '"Agents with their scores' in one.proto.json]
    held = json.loads(drawn.proto.json)
    groups = dict(zip((row[0][0] for row in held["rows"]), held["groups"], strict=True))
    assert groups["Alpha"] == groups["Bravo"] != groups["Michael"]
    assert "Michael" not in " ".join(line for line in ranked.splitlines() if "in character" in line)


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
    similar = "✓ Similarity: 25 % like an earlier message, at most 60 % is allowed"
    assert f"✗ Adherence: 2 of 9, at least 7 is needed\n{similar}" in said
    assert "✓ Adherence: 9 of 9, at least 7 is needed" in said
    assert app.query_params["checked"]


def test_a_text_that_repeats_stands_with_the_limit() -> None:
    twin = Attempt(0, "Good morning, all.", similarity=2 / 3, is_similar=True)
    assert check_lines(twin, 0.6) == ["✗ Similarity: 67\u00a0% like an earlier message, at most 60\u00a0% is allowed"]
    # A limit that cannot have been the one is not named.
    assert check_lines(twin, 0.7) == ["✗ Similarity: 67\u00a0% like an earlier message, too much"]


def test_every_setting_has_a_field(open_page, store) -> None:
    app = open_page("agents", agents="Checks", choose_checks="true", agent="michael")
    assert not app.exception
    assert len([*app.toggle, *app.number_input]) == len(settings()) == len(CorrectionConfig.model_fields)


def test_settings_are_stored_refused_with_the_reason_and_reset(open_page, store, words) -> None:
    app = open_page("agents", agents="Checks", choose_checks="true", agent="dwight")
    # One agent is chosen on the page: what is saved is of the one that its head names.
    assert [one.value for one in app.selectbox] == ["dwight"]
    assert _field(app.number_input, "gate_fluency_threshold").disabled
    _field(app.toggle, "gate_fluency_enabled").set_value(True).run()
    disabled = [one.key.rpartition("_")[0] for one in app.number_input if one.disabled]
    assert "gate_fluency_threshold" not in disabled
    assert "gate_adherence_threshold" in disabled
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
    nothing = "No message of this agent was checked yet"
    app = open_page("agents", agent="jim")
    for view in ("Runs", "Profiles"):
        app.segmented_control(key="agents").set_value(view).run()
        picker = app.selectbox(key="chosen_agent")
        # The default counts in a browser that was never told of the session's value.
        assert picker.value == "jim"
        assert "jim" in picker.options[picker.proto.default]
        assert app.query_params["agent"] == "jim"
    # Nothing of this agent was checked: what was checked of others is shown at first.
    app.segmented_control(key="agents").set_value("Checks").run()
    assert app.selectbox(key="corrected_agent").value == ""
    assert nothing not in words(app)
    app.selectbox(key="corrected_agent").set_value("jim").run()
    assert f"{nothing}\nThose of " in words(app)
    _button(app, "Show all agents").click().run()
    assert "agent" not in app.query_params
    assert nothing not in words(app)
    app = open_page("agents", agents="Checks", choose_checks="true")
    assert not app.toggle
    assert app.selectbox(key="checks_of").value is None
    app.selectbox(key="checks_of").set_value("jim").run()
    assert (app.query_params["agent"], bool(app.toggle)) == ("jim", True)
