"""The guide: examples that are read as they stand, and a check that names every problem."""

from __future__ import annotations

import json

import pytest

from dashboard.app_pages.settings import guide as parts
from dashboard.app_pages.settings.explanations import explained_metrics, terms
from evaluation.files.bundled import documentation_root
from evaluation.readers import read_upload
from evaluation.readers._format_detection import BINARY_READERS, FILE_READERS


@pytest.mark.parametrize(("name", "format_name"), [("discussion.json", "native"), ("messages.csv", "table")])
def test_the_examples_are_read_as_they_are_shown(name: str, format_name: str) -> None:
    (result,) = read_upload(name, parts.example(name).encode())
    assert (result.error, result.format) == (None, format_name)
    assert result.transcript is not None
    assert [message.speaker for message in result.transcript.messages] == ["Ann", "Ben", "Cid"]
    assert all(player.role for player in result.transcript.players)


def test_every_field_that_is_explained_is_in_the_example() -> None:
    held = json.loads(parts.example("discussion.json"))
    for path, *_ in parts.NATIVE_FIELDS:
        value = held
        for step in path.split("."):
            value = value[step.removesuffix("[]")]
            value = value[0] if step.endswith("[]") else value
        assert value is not None or "inReplyTo" in path


def test_every_metric_is_explained_in_the_words_of_the_documentation_with_rows_of_a_sample_game() -> None:
    documented = " ".join((documentation_root() / "metrics.md").read_text("utf-8").replace("*", "").split())
    for one in explained_metrics():
        for told in (one.text, one.exactly):
            assert told.rstrip(".") in documented.replace("`", "")
    assert [one.definition.name for one in explained_metrics() if not one.examples] == ["engagement"]


def test_terms_are_those_of_the_glossary(open_page, table) -> None:
    app = open_page("settings", help="Guide", guide_view="Terms")
    assert not app.exception
    assert dict(terms()["Agents and experiments"])["persona"] == "what an agent is meant to be like"
    held = [word for group in terms().values() for word, _ in group]
    # Those of code and commands are for the documentation.
    assert "untrusted text" not in held
    assert sum(one.value.count("- **") for one in app.markdown) == len(set(held)) == len(held) > 40
    app.text_input(key="find_word").set_value("companion").run()
    assert sum(one.value.count("- **") for one in app.markdown) == 1


def test_how_to_run_it_in_ci_is_found_with_the_iterations_of_the_database(open_page, filled) -> None:
    app = open_page("settings", help="Guide", guide_view="Terms")
    for word in ("ci", "nightly", "gate", "exit code"):
        app.text_input(key="find_word").set_value(word).run()
        assert any("**gate (in CI)**" in one.value and "In CI" in one.value for one in app.markdown), word
    app.segmented_control(key="guide_view").set_value("In CI").run()
    said = "\n".join(one.value for one in app.markdown)
    assert "dramaturg evaluate games/ --no-store --gate automatic" in said
    assert "actions/checkout" in said
    assert "exit code is 1" in said
    assert "dramaturg compare 'Baseline prompt' 'Shorter prompt' --gate" in app.code[-1].value


def test_the_mapping_of_traces_is_the_documentations_and_names_every_format() -> None:
    page = (documentation_root() / "formats.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in page.splitlines()]
    told = {tuple(cell.replace("`", "").strip("| ") for cell in row) for row in rows if len(row) == 4}
    assert {tuple(row) for row in parts.TRACE_FORMATS} <= told
    folder = "evaluation.readers.traces"
    readers = [reader for reader in (*FILE_READERS, *BINARY_READERS) if reader.read.__module__.startswith(folder)]
    assert sorted({reader.format for reader in readers}) == sorted(row[0] for row in parts.TRACE_FORMATS)
