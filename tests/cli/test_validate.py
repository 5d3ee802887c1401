"""``dramaturg validate``: what is recognised, what is missing, and what is refused, without a database."""

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.usefixtures("no_database")
def test_a_game_and_what_it_lacks(run: Any, data_root: Path, database: Path) -> None:
    done = run("validate", data_root / "aiwolf" / "game9.log")
    assert done.exit_code == 0
    assert done.stdout == (
        "game9.log: aiwolf\n"
        "  1 game: 5 players (George 5, Shion 8, Sakura 4, Midori 5, Minako 8), 30 public messages, "
        "4 other messages (4 control or empty), 2 rounds, 5 votes, 1 elimination, 5 roles.\n"
        "  read as 34 messages, 5 votes, 1 elimination\n"
        "  warning: No message says which one it answers, so coherence rests on names and words alone.\n"
        "  warning: No message has a time.\n"
        "  warning: The cost is unknown, so it cannot be judged.\n"
    )
    assert not database.exists()


def test_each_thing_that_can_be_missing(run: Any, tmp_path: Path) -> None:
    chat = tmp_path / "chat.csv"
    chat.write_text("name,text,time\nModerator,Night.,\nAnn,Hi,2025-01-01\n", encoding="utf-8")
    silent = tmp_path / "silent.json"
    players = [{"name": "Ann", "role": "MAFIA"}, {"name": "Bob"}]
    cost = {"totalCost": 1, "totalInputTokens": 1, "totalOutputTokens": 1}
    votes = [{"voterName": "Ann", "targetName": "Bob"}]
    messages = [{"playerName": "Moderator", "message": "Night.", "timestamp": "2025-01-01T00:00:00Z"}]
    game = {"players": players, "messages": messages, "votes": votes, "metadata": {"cost": cost}}
    silent.write_text(json.dumps(game), encoding="utf-8")
    done = run("validate", chat, silent, "--format", "json")
    first, second = json.loads(done.stdout)
    assert first["warnings"] == [
        "Moderator in the system channel: a moderator or narrator does not play.",
        "Only one player speaks in public, so nobody is answered and voices cannot be compared.",
        "No role was found, so role consistency will not apply.",
        "No votes were found, so memory accuracy cannot verify claims about them.",
        "No message says which one it answers, so coherence rests on names and words alone.",
        "1 message has no time.",
        "The cost is unknown, so it cannot be judged.",
    ]
    assert second["warnings"] == [
        "No player says anything in public, so no metric of the discussion will apply.",
        "1 of 2 players has no role.",
    ]
    assert (second["format"], second["players"], second["players_with_role"], second["votes"]) == ("native", 2, 1, 1)
    assert second["messages"] == {"system": 1}


def test_a_refusal_names_place_and_remedy_and_the_others_are_still_looked_at(
    run: Any, refused: Path, write_game: Any, tmp_path: Path
) -> None:
    broken, odd = tmp_path / "broken.csv", tmp_path / "a\x1b[31m\nb.txt"
    odd.write_text("\x1b]0;title\x07 nothing", encoding="utf-8")
    broken.write_text("name,text,day\nAnn,Hi,1\nBob,Ho,x\n", encoding="utf-8")
    done = run("validate", refused, broken, odd, write_game())
    assert done.exit_code == 2
    assert "notes.txt: refused\n  The text begins" in done.stdout
    assert "broken.csv: refused (taken for table)\n  line 3: Found \"x\" in the column 'day'" in done.stdout
    assert "game-1.json: dramaturg-transcript\n" in done.stdout
    assert done.stderr == "3 would be refused.\n"
    assert "\x1b" not in done.stdout
    listed = json.loads(run("validate", broken, "--format", "json").stdout)
    assert listed[0]["is_usable"] is False
    assert listed[0]["error"].keys() == {"message", "place", "remedy"}


def test_what_a_file_leaves_open_is_asked_and_answered(run: Any, tmp_path: Path) -> None:
    chat = tmp_path / "chat.txt"
    chat.write_text("01/06/2024, 10:00 - Ann: Hello\n02/06/2024, 10:01 - Bob: Good morning\n", encoding="utf-8")
    asked = run("validate", chat)
    assert asked.exit_code == 2
    assert 'Does "01/06/2024, 10:00" name the day or the month first?' in asked.stdout
    assert "--dates day-first|month-first" in asked.stdout
    assert run("validate", chat, "--dates", "day-first").exit_code == 0
    table = tmp_path / "table.csv"
    table.write_text("name,text,channel\nAnn,a,general\nBob,b,general\nAnn,c,lounge\n", encoding="utf-8")
    open_words = '1 message stands under "lounge", taken as not public. Who hears it?'
    assert open_words in run("validate", table).stdout
    assert "3 public messages" in run("validate", table, "--channel", "lounge=public").stdout
    wrong = run("validate", table, "--channel", "lounge=loud")
    assert wrong.exit_code == 2
    assert "Kinds are public, team, private, system." in wrong.stderr


def test_what_an_import_understood_is_told_with_what_it_did_not_see(run: Any, tmp_path: Path) -> None:
    talk = tmp_path / "talk.txt"
    talk.write_text("Olga: Good day, Per.\nPer: Good day, Olga.\nOlga: Who is it?\nPer: Rui, I think.\n", "utf-8")
    line = (
        "1 game: 2 players (Olga 2, Per 2), 4 public messages, other messages: none seen, rounds: none seen, "
        "votes: none seen, eliminations: none seen, roles: none seen."
    )
    assert line in run("validate", talk).stdout
    assert line in run("import", talk).stdout
