"""``list``, ``show``, ``rate``, ``iterations`` and ``export`` on a real database file, and sheets of ratings."""

import csv
import io
import json
import shlex
from pathlib import Path
from typing import Any

from evaluation.store import Store


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


def test_show_says_where_a_game_stands_and_opens_the_ledger_behind_a_score(run: Any, write_game: Any) -> None:
    run("import", write_game())
    [transcript_id] = ids(run)
    text = run("show", transcript_id[:6]).stdout
    for told in ("Verdict: pending, 5 of 7 pass", "Engagement is pending: not rated yet.", "No metric fails so far."):
        assert told in text
    assert run("show", "game-1").stdout == text
    assert "Do you mean 'game-1'?" in run("show", "game-7").stderr
    text = run("show", "game-1", "--metric", "coherence").stdout
    assert text.startswith("Conversation coherence: 100.0 %, passed, not compared (5 of 5; threshold 70)")
    assert "#2 round 1 Ben" in text
    assert "the ledger is empty" in run("show", "game-1", "--metric", "engagement").stdout
    ledger = json.loads(run("show", "game-1", "--metric", "coherence", "--format", "json").stdout)["ledger"]
    assert len(ledger) == 6
    # Rows without evidence to quote show their message all the same.
    run("import", write_game("bad", good=False))
    shown = run("show", "bad", "--metric", "strategic_depth").stdout
    assert shown.count("The weather is nice here today and my lunch was very good indeed.") == 4


def test_rate_saves_and_says_what_it_changes(run: Any, write_game: Any, database: Path) -> None:
    run("import", write_game())
    # Options may come before the game.
    done = run("rate", "add", "--rater", "Ann", "--score", 4, "--answers", "yyn-y", "--comment", "Tense.", "game-1")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[1] == "Engagement is 4.00 by 1 rater; the verdict is passed."
    [rating] = Store(database).ratings.latest(ids(run)[0])
    assert (rating.score, rating.answers, rating.comment) == (4, (True, True, False, None, True), "Tense.")
    warned = run("rate", "add", "game-1", "--rater", "Ben", "--score", 2, "--answers", "yyyyn")
    assert (warned.exit_code, warned.stderr.startswith("warning: 4 of 5 answers are yes")) == (0, True)
    for score, answers in ((6, "yyyyy"), (3, "yes"), ("good", "yyyyy")):
        assert run("rate", "add", "game-1", "--rater", "Cid", "--score", score, "--answers", answers).exit_code == 2
    assert set(Store(database).ratings.all()["rater"]) == {"Ann", "Ben"}


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


def test_wrong_iterations_are_bad_input(run: Any, tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.bin"
    prompt.write_bytes(b"\xff\xfe\x00\xd8")
    for wrong, told in (
        ("create v1 --parent nope", "nope"),
        ("create v1 --target charm", "charm"),
        ("decide nope kept --reason x", "nope"),
        (f"create v1 --prompt {prompt}", "not UTF-8"),
    ):
        done = run("iterations", *wrong.split(" "))
        assert (done.exit_code, told in done.stderr) == (2, True), wrong


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


def test_printed_commands_can_be_pasted_whatever_the_name(run: Any) -> None:
    name = "tone; rm 'all' $HOME"
    said = run("iterations", "create", name).stdout
    command = said.partition("dramaturg ")[2].rstrip().removesuffix(".")
    assert shlex.split(command) == ["import", "PATH", "--iteration", name]
    run("iterations", "create", "v2", "--parent", name)
    said = run("iterations", "decide", "v2", "kept", "--reason", "x", "--note", "y", "--by", "Ann").stdout
    command = said.partition("To take it back: dramaturg ")[2].rstrip().removesuffix(".")
    assert shlex.split(command)[:4] == ["iterations", "decide", "v2", "undecided"]


def test_messages_are_exported_of_all_games_or_of_one_iteration(run: Any, write_game: Any) -> None:
    run("import", write_game("one"), "--iteration", "v1")
    run("import", write_game("two", good=False), "--iteration", "v2")
    rows = list(csv.DictReader(io.StringIO(run("export", "transcripts", "--format", "csv").stdout)))
    assert [(row["game_id"], row["speaker"], row["reply_to"]) for row in rows][:2] == [
        ("one", "Ann", ""),
        ("one", "Ben", "m0"),
    ]
    only = run("export", "transcripts", "--format", "csv", "--iteration", "v2").stdout
    assert {row["game_id"] for row in csv.DictReader(io.StringIO(only))} == {"two"}


def test_an_export_that_cannot_be_made_is_wrong_usage(run: Any, write_game: Any, tmp_path: Path) -> None:
    done = run("export", "transcripts", "--output", tmp_path / "x.zip")
    assert (done.exit_code, "There is no transcript to export." in done.stderr) == (2, True)
    assert list(tmp_path.glob("*.zip")) == []
    run("import", write_game("one"))
    for options, told in (
        (("transcripts", "--format", "canonical"), "--output"),
        (("results", "--format", "canonical"), "--format"),
        (("transcripts", "--format", "csv", "--iteration", "v3"), "v3"),
        (("transcripts", "one", "--output", tmp_path / "no" / "file.json"), "no such folder"),
    ):
        done = run("export", *options)
        assert (done.exit_code, told in done.stderr) == (2, True), options


def test_a_sheet_of_ratings_goes_out_and_comes_back(run: Any, write_game: Any, database: Path, tmp_path: Path) -> None:
    run("import", write_game())
    for score in (2, 4):
        run("rate", "add", "game-1", "--rater", "Ann", "--score", score, "--answers", "yyn-y", "--comment", "=1+1")
    before, sheet = Store(database).ratings.every(), tmp_path / "ratings.csv"
    assert run("export", "ratings", "-o", sheet).exit_code == 0
    assert run("rate", "import", sheet).stdout.startswith("0 new stored, 2 known already")
    own = tmp_path / "own.csv"
    own.write_text("game,score\ngame-1,2\ngame-1,\n")
    done = run("rate", "import", own, "--rater", "Ben", "--dry-run")
    assert done.stdout.startswith("1 new would be stored, 0 known already, 1 without a score")
    own.write_text("game,rater,score\ngame-1,Ben,3\ngame-1,Ben,9\nnowhere,Ben,3\n")
    done = run("rate", "import", own)
    assert done.exit_code == 2
    for told in ("line 3, score: '9'", "line 4, game: 'nowhere'", "Nothing was stored."):
        assert told in done.stderr
    assert Store(database).ratings.every() == before
