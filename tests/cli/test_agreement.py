"""``dramaturg agreement``: table, Markdown and JSON, and what it says before two people have rated."""

from __future__ import annotations

import json
from typing import Any


def rate(run: Any, rater: str, score: int, answers: str = "yynny") -> None:
    run("rate", "game-1", "--rater", rater, "--score", score, "--answers", answers)


def test_before_anybody_has_rated(run: Any, write_game: Any) -> None:
    run("import", write_game())
    done = run("agreement")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "At least two raters of the same game are needed" in done.stderr
    assert json.loads(run("agreement", "--format", "json").stdout)["raters"] == 0


def test_two_raters_in_every_format(run: Any, write_game: Any) -> None:
    run("import", write_game())
    rate(run, "Ann", 2)
    assert "so far there are 1 rating by 1 rater." in run("agreement").stderr
    rate(run, "Ben|`[x](http://evil.example)", 5, "nynny")
    done = run("agreement")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "Games that split the raters" in done.stdout
    assert "Ann 2, Ben|`[x](http://evil.example) 5" in done.stdout
    report = json.loads(run("agreement", "--format", "json").stdout)
    [split] = report["disagreements"]["between_raters"]
    assert (split["spread"], split["split_questions"]) == (3, [1])
    assert report["items"][0]["alpha"]["interval"]["note"] == "fewer than three games have no interval"
    assert report["references"][0]["reference"] == "automatic"


def test_rule_and_person_on_the_same_row_before_two_people_have_rated(run: Any, write_game: Any) -> None:
    run("import", write_game())
    ledger = json.loads(run("show", "game-1", "--metric", "strategic_depth", "--format", "json").stdout)["ledger"]
    row = next(one for one in ledger if one["verdict"] == "counts")
    done = run(
        *(
            "override",
            "game-1",
            row["id"],
            "--verdict",
            "does_not_count",
            "--author",
            "Ann|`x`",
            "--reason",
            "Not deep.",
        )
    )
    assert done.exit_code == 0, done.stderr
    text = run("agreement").stdout
    assert "Rule, judge and person" in text
    assert "rule and person" in text
    assert "0 of 1, 0 %" in text
    assert "rule: counts, person: does not count" in text
    report = json.loads(run("agreement", "--format", "json").stdout)
    (pair,) = report["rows"]
    assert (pair["first"], pair["second"], pair["rows"], pair["same"]) == ("rule", "human", 1, 0)
    (disputed,) = report["disagreements"]["rows"]
    assert (disputed["message_id"], disputed["author"]) == (row["message_id"], "Ann|`x`")
    # One of the ledger's rows weighs its share of 100 points.
    assert round(disputed["points"], 6) == round(100 / sum(one["denominator"] for one in ledger), 6)
    assert "Between" in run("agreement").stdout
