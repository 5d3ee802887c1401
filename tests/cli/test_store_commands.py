"""``list``, ``show``, ``rate``, ``iterations`` and ``export`` on a real database file, and sheets of ratings."""

from __future__ import annotations

import csv
import io
import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evaluation.engines.scoring import SCORERS, evaluate_transcript
from evaluation.errors import InputError
from evaluation.score import MetricResult
from evaluation.store import Store
from evaluation.transcript import Transcript


def ids(run: Any) -> list[str]:
    return [row["id"] for row in json.loads(run("list", "--format", "json").stdout)]


def test_an_empty_store_says_what_to_do(run: Any) -> None:
    for command, told in (("list", "dramaturg import --samples"), ("iterations", "dramaturg iterations create")):
        done = run(command)
        assert (done.exit_code, done.stdout, told in done.stderr) == (0, "", True)
    assert json.loads(run("list", "--format", "json").stdout) == []


def test_list_shows_what_is_stored_with_its_verdict(run: Any, write_game: Any) -> None:
    run("import", write_game("one"), "--iteration", "v1")
    run("import", write_game("two", good=False, usd=None))
    first, second = json.loads(run("list", "--format", "json").stdout)
    assert (first["game_id"], first["iteration"], first["total_usd"]) == ("one", "v1", 1.0)
    assert (second["iteration"], second["total_usd"], second["verdict"]["status"]) == (None, None, "failed")
    lines = run("list").stdout.splitlines()
    assert "$1.00" in lines[2]
    assert "unknown" in lines[3]
    [only] = json.loads(run("list", "--iteration", "v1", "--format", "json").stdout)
    assert only["game_id"] == "one"
    assert run("list", "--iteration", "nope").exit_code == 2


def test_show_takes_an_id_its_beginning_or_the_games_id(run: Any, write_game: Any) -> None:
    run("import", write_game())
    [transcript_id] = ids(run)
    shown = {run("show", reference).stdout for reference in (transcript_id, transcript_id[:6], "game-1")}
    assert len(shown) == 1
    text = shown.pop()
    assert "Verdict: pending, 5 of 7 pass" in text
    assert "Engagement is pending: not rated yet." in text
    assert "No metric fails so far." in text


def test_show_opens_the_ledger_behind_a_score(run: Any, write_game: Any) -> None:
    run("import", write_game())
    text = run("show", "game-1", "--metric", "coherence").stdout
    assert text.startswith("Conversation coherence: 100.0 %, passed (5 of 5; threshold 70)")
    assert "#2 round 1 Ben" in text
    assert "the ledger is empty" in run("show", "game-1", "--metric", "engagement").stdout
    ledger = json.loads(run("show", "game-1", "--metric", "coherence", "--format", "json").stdout)["ledger"]
    assert len(ledger) == 6


def test_show_judges_by_todays_threshold(run: Any, write_game: Any, database: Path) -> None:
    run("import", write_game())
    Store(database).settings.set_threshold("coherence", 20.0)
    text = run("show", "game-1", "--metric", "coherence").stdout
    assert text.startswith("Conversation coherence: 100.0 %, passed (5 of 5; threshold 20)")


def test_show_says_what_could_not_be_computed(run: Any, write_game: Any, database: Path) -> None:
    def fail(transcript: Transcript, *, threshold: float | None = None) -> MetricResult:
        raise ZeroDivisionError("no luck")

    store = Store(database)
    transcript = Transcript.from_json(write_game().read_bytes())
    store.transcripts.add(transcript, source_name="game-1.json")
    store.results.save([evaluate_transcript(transcript, scorers={**SCORERS, "coherence": fail})])
    text = run("show", "game-1").stdout
    assert "could not be computed: ZeroDivisionError: no luck" in text
    done = run("show", "game-1", "--metric", "coherence")
    assert "coherence was not computed" in done.stderr


def test_rate_saves_and_says_what_it_changes(run: Any, write_game: Any, database: Path) -> None:
    run("import", write_game())
    done = run("rate", "game-1", "--rater", "Ann", "--score", 4, "--answers", "yyn-y", "--comment", "Tense.")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[1] == "Engagement is 4.00 by 1 rater; the verdict is passed."
    [rating] = Store(database).ratings.latest(ids(run)[0])
    assert (rating.score, rating.answers, rating.comment) == (4, (True, True, False, None, True), "Tense.")


def test_a_rating_that_breaks_the_one_way_rule_is_saved_with_a_warning(
    run: Any, write_game: Any, database: Path
) -> None:
    run("import", write_game())
    done = run("rate", "game-1", "--rater", "Ann", "--score", 2, "--answers", "yyyyn")
    assert done.exit_code == 0
    assert done.stderr.startswith("warning: 4 of the five questions")
    assert Store(database).ratings.latest(ids(run)[0])[0].breaks_one_way_rule


def test_a_rating_off_the_form_is_refused(run: Any, write_game: Any, database: Path) -> None:
    run("import", write_game())
    for score, answers in ((6, "yyyyy"), (3, "yes"), ("good", "yyyyy")):
        assert run("rate", "game-1", "--rater", "Ann", "--score", score, "--answers", answers).exit_code == 2
    assert Store(database).ratings.all().empty


def test_iterations_from_creation_to_decision(run: Any, write_game: Any, tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("Cite rounds.", encoding="utf-8")
    assert run("iterations", "create", "v1").exit_code == 0
    options = ("--parent", "v1", "--change", "Cite rounds", "--target", "strategic_depth", "--prompt", prompt)
    assert run("iterations", "create", "v2", *options).exit_code == 0
    run("import", *[write_game(f"a{i}", good=False) for i in range(3)], "--iteration", "v1")
    run("import", *[write_game(f"b{i}") for i in range(3)], "--iteration", "v2")
    board = json.loads(run("iterations", "--format", "json").stdout)
    first, second = board["iterations"]
    assert (first["is_baseline"], first["decision"]) == (True, None)
    assert (second["parent"], second["change"], second["target_metric"]) == ("v1", "Cite rounds", "strategic_depth")
    assert [len(test["games"]) for test in second["tests"]] == [3]
    assert second["decision"]["choice"] == "not_yet"
    assert second["decision"]["reasons"][:2] == [
        "3 of 3 games of this iteration not rated yet.",
        "3 of 3 games of the reference not rated yet.",
    ]
    assert (second["decision"]["reference"], second["decision"]["recorded"]) == ("v1", None)
    states = [check["state"] for check in board["checklist"]["checks"]]
    assert states == ["not_met", "unknown", "unknown", "met", "not_met"]
    text = run("iterations").stdout
    assert "v1 (baseline)" in text
    assert "Its change, against v1: cannot be decided yet" in text
    assert "[ ] 3 consecutive tests pass" in text


def test_wrong_iterations_are_bad_input(run: Any) -> None:
    wrong = ("create v1 --parent nope", "create v1 --target charm", "decide nope kept --reason x")
    for arguments in (*(each.split() for each in wrong), ("create", " ")):
        done = run("iterations", *arguments)
        assert (done.exit_code, bool(done.stderr)) == (2, True), arguments


def test_a_prompt_that_is_no_text_is_refused(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "prompt.bin"
    path.write_bytes(b"\xff\xfe\x00\xd8")
    done = run("iterations", "create", "v1", "--prompt", path)
    assert done.exit_code == 2
    assert "not UTF-8" in done.stderr


@pytest.mark.parametrize("name", ["a\x1b[31m\nb", "a\nb", "a\x00", "a\u200bb", "a\u202eb", "\u200b"])
def test_an_iteration_whose_name_cannot_be_typed_as_it_is_shown_is_refused(run: Any, database: Path, name: str) -> None:
    refused = run("iterations", "create", name)
    assert refused.exit_code == 2
    assert "holds a character that no screen shows" in refused.stderr
    store = Store(database)
    with pytest.raises(InputError):
        store.iterations.ensure(name)
    assert store.iterations.list() == []


def test_the_database_may_be_named_before_or_after_a_subcommand(run: Any, tmp_path: Path) -> None:
    other = tmp_path / "other.duckdb"
    assert run("iterations", "--db", other, "create", "v1").exit_code == 0
    assert run("iterations", "create", "v2", "--db", other).exit_code == 0
    board = json.loads(run("iterations", "--db", other, "--format", "json").stdout)
    assert [one["name"] for one in board["iterations"]] == ["v1", "v2"]
    assert run("iterations").stdout == ""


def test_an_export_overwrites_only_when_forced(run: Any, write_game: Any, tmp_path: Path) -> None:
    run("import", write_game())
    path = tmp_path / "kept.json"
    path.write_text("mine", encoding="utf-8")
    done = run("export", "transcripts", "game-1", "--output", path)
    assert (done.exit_code, path.read_text("utf-8")) == (2, "mine")
    assert run("export", "transcripts", "game-1", "--output", path, "--force").exit_code == 0
    assert json.loads(path.read_text("utf-8"))["game_id"] == "game-1"
    assert [left.name for left in tmp_path.glob(".kept*")] == []
    done = run("export", "transcripts", "game-1", "--output", tmp_path / "no" / "file.json")
    assert (done.exit_code, "no such folder" in done.stderr) == (2, True)


def test_printed_commands_can_be_pasted_whatever_the_name(run: Any) -> None:
    name = "tone; rm 'all' $HOME"
    said = run("iterations", "create", name).stdout
    command = said.partition("dramaturg ")[2].rstrip().removesuffix(".")
    assert shlex.split(command) == ["import", "PATH", "--iteration", name]
    run("iterations", "create", "v2", "--parent", name)
    said = run("iterations", "decide", "v2", "kept", "--reason", "x", "--note", "y", "--by", "Ann").stdout
    command = said.partition("To take it back: dramaturg ")[2].rstrip().removesuffix(".")
    assert shlex.split(command)[:4] == ["iterations", "decide", "v2", "undecided"]


def test_a_ledger_shows_the_message_of_each_row(run: Any, write_game: Any) -> None:
    run("import", write_game("game-1", good=False))
    shown = run("show", "game-1", "--metric", "strategic_depth").stdout
    # No keyword, so no evidence to quote; the message must stand there all the same.
    assert shown.count("The weather is nice here today and my lunch was very good indeed.") == 4


def test_the_rubric_suggests_nothing_that_it_does_not_say(run: Any, write_game: Any) -> None:
    run("import", write_game("dear", good=False, usd=5.0))
    shown = run("show", "dear").stdout
    cost = shown.index("Cost: ")
    assert "Look at this:\n  - Check that prompt caching works" in shown[cost:]
    assert "The rubric suggests:" in shown
    assert "The rubric suggests" not in shown[cost : shown.index("prompt caching")]


def test_rows_go_to_standard_output(run: Any, write_game: Any) -> None:
    run("import", write_game("one"))
    rows = list(csv.DictReader(io.StringIO(run("export", "transcripts", "--format", "csv").stdout)))
    assert [(row["game_id"], row["speaker"], row["reply_to"]) for row in rows][:2] == [
        ("one", "Ann", ""),
        ("one", "Ben", "m0"),
    ]
    lines = run("export", "transcripts", "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line)["text"] for line in lines] == [row["text"] for row in rows]


def test_only_one_iteration(run: Any, write_game: Any) -> None:
    run("import", write_game("one"), "--iteration", "v1")
    run("import", write_game("two", good=False), "--iteration", "v2")
    rows = run("export", "transcripts", "--format", "jsonl", "--iteration", "v2").stdout.splitlines()
    assert {json.loads(row)["game_id"] for row in rows} == {"two"}
    assert run("export", "transcripts", "--format", "jsonl", "--iteration", "v3").exit_code == 2


def test_zips_and_parquet_need_a_file(run: Any, write_game: Any) -> None:
    run("import", write_game("one"))
    for what, kind in (("transcripts", "canonical"), ("transcripts", "parquet"), ("results", "parquet")):
        done = run("export", what, "--format", kind)
        assert (done.exit_code, "--output" in done.stderr) == (2, True)


def test_an_empty_database_says_so(run: Any, tmp_path: Path) -> None:
    done = run("export", "transcripts", "--output", tmp_path / "x.zip")
    assert done.exit_code == 2
    assert "There is no transcript to export." in done.stderr
    assert list(tmp_path.glob("*.zip")) == []


@pytest.fixture
def game(run: Any, write_game: Any, database: Path) -> str:
    run("import", write_game())
    return str(Store(database).transcripts.summaries()["transcript_id"].iloc[0])


def test_a_sheet_goes_out_and_comes_back_without_loss(run: Any, game: str, database: Path, tmp_path: Path) -> None:
    for score, comment in ((2, "=1+1"), (4, "line\r\nbreak")):
        run("rate", game, "--rater", "Ann", "--score", score, "--answers", "yyn-y", "--comment", comment)
    sheet = tmp_path / "ratings.csv"
    assert run("export", "ratings", "-o", sheet).exit_code == 0
    assert "'=1+1" in sheet.read_text("utf-8-sig")
    before = Store(database).ratings.every()
    again = run("rate", "import", sheet)
    assert again.stdout.startswith("0 new stored, 2 known already")
    other = tmp_path / "other.duckdb"
    run("import", tmp_path / "game-1.json", "--db", other)
    assert run("rate", "import", sheet, "--db", other).stdout.startswith("2 new stored")
    assert [replace(one, token="t") for one in Store(other).ratings.every()] == [
        replace(one, token="t") for one in before
    ]


def test_a_broken_sheet_names_every_line_and_stores_nothing(
    run: Any, game: str, tmp_path: Path, database: Path
) -> None:
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("game,rater,score\ngame-1,Ann,3\ngame-1,Ann,9\nnowhere,Ann,3\n")
    done = run("rate", "import", sheet)
    assert done.exit_code == 2
    for told in ("line 3, score: '9'", "line 4, game: 'nowhere'", "Nothing was stored."):
        assert told in done.stderr
    assert Store(database).ratings.every() == []


def test_a_dry_run_stores_nothing(run: Any, game: str, tmp_path: Path, database: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("game,score\ngame-1,2\ngame-1,\n")
    done = run("rate", "import", sheet, "--rater", "Ann", "--dry-run")
    assert done.stdout.startswith("1 new would be stored, 0 known already, 1 without a score")
    assert Store(database).ratings.every() == []


def test_options_may_come_before_the_game(run: Any, game: str) -> None:
    assert run("rate", "--rater", "Ann", "--score", 3, "--answers", "-----", game).exit_code == 0
