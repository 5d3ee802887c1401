"""The page of settings: thresholds, limits, backup and restore, the judge, and the guide."""

import json

import pytest

from dashboard.app_pages.settings import guide as parts
from dashboard.app_pages.settings.explanations import explained_metrics, terms
from dashboard.shared.database_panel import backup_bytes
from evaluation.files.bundled import shipped
from evaluation.judging.judge_config import SETTINGS_KEY
from evaluation.readers import read_upload
from evaluation.readers._format_detection import BINARY_READERS, FILE_READERS
from evaluation.rubric.definitions import DEFAULT_THRESHOLDS
from tests.app.drawn import tables
from tests.judge_questions import reading
from tests.judge_server import JudgeServer


def settings(open_page, **inputs):
    app = open_page("settings")
    for key, value in inputs.items():
        app.number_input(key=key).set_value(value)
    app.run()
    assert not app.exception
    return app


def test_a_threshold_shows_what_it_would_change_before_it_is_stored(open_page, filled, table) -> None:
    # Games "one" (4) and "two" (2) are rated: with 3.0 one of the two passes on engagement, with 2.0 both do.
    app = settings(open_page, threshold_engagement=2.0)
    row = next(line for line in table(app).splitlines() if "Engagement" in line)
    for told in ("at least 3 of 5", "at least 2 of 5", "1 of 2 scored games", "2 of 2", "1 more"):
        assert told in row
    assert filled.settings.thresholds() == DEFAULT_THRESHOLDS


def test_limits_are_stored_in_their_units_and_reset(open_page, store, words) -> None:
    app = settings(open_page, limit_file_bytes=5, limit_messages=100)
    app.button(key="save_settings").click().run()
    assert not app.exception
    assert (store.settings.limits().file_bytes, store.settings.limits().messages) == (5 * 1024 * 1024, 100)
    app = settings(open_page)
    app.button(key="reset_limits").click().run()
    assert "not saved yet: import limits" in words(app)
    app.button(key="save_settings").click().run()
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
    app.button(key="save_settings").click().run()
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
    app.button(key="save_settings").click().run()
    assert "60 of 60" not in words(app)


@pytest.mark.parametrize(("name", "format_name"), [("discussion.json", "native"), ("messages.csv", "table")])
def test_the_examples_are_read_as_they_are_shown(name: str, format_name: str) -> None:
    (result,) = read_upload(name, parts.example(name).encode())
    assert (result.error, result.format) == (None, format_name)
    assert result.transcript is not None
    assert [message.speaker for message in result.transcript.messages] == ["Ann", "Ben", "Cid"]
    assert all(player.role for player in result.transcript.players)


def test_every_field_that_is_explained_is_in_the_example() -> None:
    held = json.loads(parts.example("discussion.json"))
    for path, *_ in [line.split(",") for line in parts.example("native_fields.csv").splitlines()[1:]]:
        value = held
        for step in path.split("."):
            value = value[step.removesuffix("[]")]
            value = value[0] if step.endswith("[]") else value
        assert value is not None or "inReplyTo" in path


def test_every_metric_is_explained_in_the_words_of_the_documentation() -> None:
    documented = " ".join((shipped("docs") / "metrics.md").read_text("utf-8").replace("*", "").split())
    for one in explained_metrics():
        for told in (one.text, one.exactly):
            assert told.rstrip(".") in documented.replace("`", "")


def test_terms_are_those_of_the_glossary(open_page, table) -> None:
    app = open_page("settings", help="Guide", guide_view="Terms")
    assert not app.exception
    assert dict(terms()["Agents and experiments"])["persona"] == "what an agent is meant to be like"
    held = [word for group in terms().values() for word, _ in group]
    # Those of code and commands are for the documentation.
    assert "untrusted text" not in held
    assert tables(app)[0]["Word"].tolist() == held
    assert len(set(held)) == len(held) > 40
    app.text_input(key="find_word").set_value("companion").run()
    assert tables(app)[0]["Word"].tolist() == ["companion"]


def test_how_to_run_it_in_ci_is_found_with_the_iterations_of_the_database(open_page, filled) -> None:
    app = open_page("settings", help="Guide", guide_view="Terms")
    for word in ("ci", "nightly", "gate", "exit code"):
        app.text_input(key="find_word").set_value(word).run()
        found = tables(app)[0].set_index("Word")["Meaning"]
        assert "In CI" in found["gate (in CI)"], word
    app.segmented_control(key="guide_view").set_value("In CI").run()
    said = "\n".join(one.value for one in app.markdown)
    assert "dramaturg evaluate games/ --no-store --gate automatic" in said
    assert "actions/checkout" in said
    assert "- 1: a game cannot pass any more" in said
    assert "dramaturg compare 'Baseline prompt' 'Shorter prompt' --gate" in app.code[-1].value


def test_the_table_of_traces_is_the_documentations_and_names_every_format(open_page) -> None:
    shown = next(
        table for table in tables(open_page("settings", help="Guide", guide_view="Formats")) if "One game is" in table
    )
    folder = "evaluation.readers.traces"
    readers = [reader for reader in (*FILE_READERS, *BINARY_READERS) if reader.read.__module__.startswith(folder)]
    assert sorted({reader.format for reader in readers}) == sorted(shown["Format"])
    assert shown.iloc[-1].tolist() == [
        "concordia",
        "HTML page, JSON log",
        "name before  -- ; entity_name",
        "the file; a scene is a round",
    ]
