"""``dramaturg search`` on a real database file."""

from __future__ import annotations

import json
from typing import Any


def test_it_lists_who_said_it_where(run: Any, write_game: Any) -> None:
    run("import", write_game("one"), "--iteration", "v1")
    done = run("search", '"evidence first" ROPES')
    assert done.exit_code == 0
    row = done.stdout.splitlines()[2]
    assert ("one" in row, "v1" in row, "#3" in row, "Cid" in row) == (True, True, True, True)
    assert "Evidence first, friends!" in row
    assert "1 message in 1 game." in done.stderr


def test_json_holds_whole_messages_and_the_total(run: Any, write_game: Any) -> None:
    run("import", write_game("one"))
    run("import", write_game("two"))
    found = json.loads(run("search", "suspicious", "--format", "json", "--limit", "1").stdout)
    assert (found["total"], found["games"], len(found["messages"])) == (2, 2, 1)
    (message,) = found["messages"]
    assert (message["game_id"], message["number"], message["speaker"]) == ("one", 6, "Cid")
    assert (message["iteration"], message["round"]) == (None, 1)
    assert message["text"].endswith("for nobody below deck.")


def test_nothing_found_is_no_error_and_says_what_to_try(run: Any, write_game: Any) -> None:
    run("import", write_game())
    done = run("search", "nowhere")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "Fewer words find more" in done.stderr
    assert json.loads(run("search", "nowhere", "--format", "json").stdout) == {"total": 0, "games": 0, "messages": []}


def test_more_than_is_shown_is_said(run: Any, write_game: Any) -> None:
    run("import", write_game())
    # "e" stands in all six messages of the game.
    assert "6 messages in 1 game; the first 2 are shown" in run("search", "e", "--limit", "2").stderr


def test_a_search_for_nothing_and_an_unknown_iteration_are_refused(run: Any) -> None:
    assert run("search", "  ").exit_code == 2
    assert run("search", "x", "--iteration", "nope").exit_code == 2
