"""The page of settings: what a threshold would change before it is stored, limits, backup and restore."""

from __future__ import annotations

from dashboard.shared.database_panel import backup_bytes
from evaluation.judging.judge_config import SETTINGS_KEY
from evaluation.rubric.definitions import DEFAULT_THRESHOLDS
from tests.judge_questions import reading
from tests.judge_server import JudgeServer


def settings(open_page, **inputs):
    app = open_page("settings")
    for key, value in inputs.items():
        app.number_input(key=key).set_value(value)
    app.run()
    assert not app.exception
    return app


def test_a_threshold_shows_what_it_would_change_before_it_is_stored(open_page, filled, table, words) -> None:
    # Games "one" (4) and "two" (2) are rated: with 3.0 one of the two passes on engagement, with 2.0 both do.
    app = settings(open_page, threshold_engagement=2.0)
    row = next(line for line in table(app).splitlines() if "Engagement" in line)
    for told in ("at least 3 of 5", "at least 2 of 5", "1 of 2 scored games", "2 of 2", "1 more"):
        assert told in row
    assert "Verdicts on iterations" in words(app)
    assert filled.settings.thresholds() == DEFAULT_THRESHOLDS


def test_limits_are_stored_in_their_units_and_reset(open_page, store) -> None:
    app = settings(open_page, limit_file_bytes=5, limit_messages=100)
    app.button(key="save_limits").click().run()
    assert not app.exception
    assert (store.settings.limits().file_bytes, store.settings.limits().messages) == (5 * 1024 * 1024, 100)
    app = settings(open_page)
    app.button(key="reset_limits").click().run()
    assert store.settings.limits().messages == 5_000
    assert app.number_input(key="limit_messages").value == 5_000


def test_a_database_that_cannot_be_used_is_replaced_by_a_backup_on_the_settings_page(
    open_page, filled, words, database
) -> None:
    data = backup_bytes(filled)
    filled.close()
    whole = database.read_bytes()
    # The tables can still be looked up in it, and nothing else.
    unusable = whole[: len(whole) // 4]
    database.write_bytes(unusable)
    assert "The database file is damaged" in words(open_page("overview"))
    app = open_page("settings")
    app.file_uploader[0].upload("backup.duckdb", data, "application/octet-stream").run()
    assert "The backup can be used: 5 transcripts, 2 iterations, 2 ratings" in words(app)
    app.button(key="restore").click().run()
    assert not app.exception
    assert "The backup is restored." in words(app)
    assert len(filled.transcripts.summaries()) == 5
    (kept,) = database.parent.glob("app-before-restore-*.duckdb")
    assert kept.read_bytes() == unusable


def test_the_judge_says_whom_it_asks_and_whether_there_is_a_key_but_never_shows_one(
    open_page, store, words, monkeypatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    app = settings(open_page, judge_usd=2.5)
    assert "there is a key for it" in words(app)
    assert "sk-secret" not in words(app)
    app.text_input(key="judge_model").set_value("mistral/small").run()
    app.button(key="save_judge").click().run()
    assert not app.exception
    assert store.settings.get(SETTINGS_KEY) == {"model": "mistral/small", "max_usd": 2.5}
    assert "Model: mistral/small, at its provider, no key." in words(app)
    assert "No model is connected; the six computed metrics need none." in words(app)


def test_a_connected_model_is_tested_on_labelled_messages(open_page, words, table, monkeypatch) -> None:
    assert "test_connection" not in [button.key for button in open_page("settings", check_reader="true").button]
    with JudgeServer(content=lambda body: reading(body, is_strategic=True)).in_thread() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        app = open_page("settings", check_reader="true")
        assert "5 questions, 5 calls to gpt-4o-mini, about $0." in words(app)
        app.button(key="test_connection").click().run(timeout=60)
        assert not app.exception
        assert server.tally.asked.total() == 5
    assert "60 of 60 labelled messages read. 5 calls, " in words(app)
    assert "60 % (47 to 71 %)" in table(app, -1)
    # What another model would see is not known yet.
    app.text_input(key="judge_model").set_value("other").run()
    app.button(key="save_judge").click().run()
    assert "60 of 60" not in words(app)
