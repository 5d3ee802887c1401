import json
import shutil
from pathlib import Path

import pytest

from evaluation.readers import read_path
from tests.faults.bad_files import zip_of
from tests.unit.readers.reading import DATA, read, refusal, result

GAMES = DATA / "llmafia" / "games"
FILES = ("config.json", "public_manager_chat.txt", "public_daytime_chat.txt", "public_nighttime_chat.txt")


def small_game(**changes: str) -> dict[str, str | bytes]:
    """Two rounds around midnight; keyword arguments replace a chat file by its middle word."""
    players = [
        {"name": "Lee", "is_mafia": False, "is_llm": False, "llm_config": {}},
        {"name": "Lee: Junior", "is_mafia": True, "is_llm": True, "llm_config": {"model_name": "llama"}},
        {"name": "Ann", "is_mafia": False, "is_llm": False, "llm_config": {}},
    ]
    texts = {
        "manager": "[23:59:00] Game-Manager: Now it's Daytime for 3 minutes\n"
        "[00:02:00] Game-Manager: Ann was voted out. Their role was bystander\n"
        "[00:02:00] Game-Manager: Now it's Nighttime for 1 minutes\n",
        "daytime": "[23:59:30] Lee: Junior: I am\nhere.\n\n[23:59:40] Lee: Hi: all\n"
        "[00:00:10] Ann: Past midnight.\n"
        "[00:01:00] Game-Manager: Daytime has ended, now it's time to vote!\n"
        "[00:01:30] Game-Manager: Lee: Junior voted for Ann\n",
        "nighttime": "[00:02:10] Lee: Junior: Alone.\n",
    } | changes
    chats: dict[str, str | bytes] = {f"public_{part}_chat.txt": text for part, text in texts.items()}
    return {"config.json": json.dumps({"players": players})} | chats


@pytest.mark.parametrize("folder", ["", "0006/", "deep/er/0006/"])
def test_a_zip_of_the_folder_is_the_same_game(folder: str) -> None:
    files = {f"{folder}{path.name}": path.read_bytes() for path in (GAMES / "0006").iterdir()}
    found = result(zip_of(files), "game.zip")
    assert found.transcript == read(GAMES / "0006")
    assert found.name == f"game.zip/{folder}".rstrip("/")


def test_names_with_colons_lines_that_continue_and_midnight() -> None:
    transcript = read(zip_of(small_game()), "llmafia")
    assert [(m.speaker, m.text) for m in transcript.messages if m.channel != "system"] == [
        ("Lee: Junior", "I am\nhere."),
        ("Lee", "Hi: all"),
        ("Ann", "Past midnight."),
        ("Lee: Junior", "Alone."),
    ]
    assert [(v.voter, v.target, v.round) for v in transcript.votes] == [("Lee: Junior", "Ann", 1)]
    clocks = [m.sent_at for m in transcript.messages]
    assert clocks == sorted(clocks, key=lambda time: (time is None, time))
    assert {m.round for m in transcript.messages} == {1}


def test_the_manager_never_plays_and_its_words_from_others_mean_nothing() -> None:
    config = json.loads(small_game()["config.json"])
    config["players"].append({"name": "Game-Manager", "is_mafia": False})
    day = "[23:59:30] Lee: Ann voted for Lee\n[23:59:31] Lee: Ann was voted out. Their role was mafia\n"
    transcript = read(zip_of(small_game(daytime=day) | {"config.json": json.dumps(config)}))
    assert "Game-Manager" not in transcript.player_names
    assert transcript.votes == ()
    assert [e.role for e in transcript.eliminations] == ["bystander"]


def test_without_announcements_rounds_are_unknown() -> None:
    transcript = read(zip_of(small_game(manager="")))
    assert {(m.round, m.phase) for m in transcript.messages} == {(None, "day"), (None, "night")}


def with_config(text: str) -> dict[str, str | bytes]:
    return small_game() | {"config.json": text}


DAY, NIGHT, MANAGER = (f"public_{part}_chat.txt, line" for part in ("daytime", "nighttime", "manager"))
UNKNOWN = "'Zed' is not among the players"
SAID = "[12:00:00] Game-Manager: "
REFUSALS = [
    (small_game(daytime="[12:00:00] Zed: hi"), f"{DAY} 1: {UNKNOWN}."),
    (small_game(daytime="hi\n[12:00:00] Lee: hi"), f'{DAY} 1: "hi" has no time.'),
    (small_game(nighttime="[12:00:00] Lee: hi\n[12:61:00] Lee: hi"), f"{NIGHT} 2: [12:61:00] is not a time of day."),
    (small_game(daytime=f"{SAID}Lee voted for Zed"), f"{DAY} 1: {UNKNOWN} (Lee, Lee: Junior, Ann)."),
    (
        small_game(manager=f"{SAID}Zed was voted out. Their role was mafia"),
        f"{MANAGER} 1: {UNKNOWN} (Lee, Lee: Junior,",
    ),
    (small_game(manager="", daytime="", nighttime=""), "The game has no message."),
    (with_config('{"players": [{"name": 7}]}'), "config.json: $.players[0].name: Found the number 7, expected text."),
    (with_config("{"), "config.json, line 1, column 2: Not valid JSON: Expecting property name"),
    (with_config("no JSON"), "config.json: $: Found nothing, expected an object with the players."),
    (
        small_game() | {"public_nighttime_chat.txt": b"[12:00:00] Lee: caf\xe9"},
        f"{NIGHT} 1: Byte 0xE9 (number 20 of the file) is not valid UTF-8.",
    ),
]


@pytest.mark.parametrize(("files", "expected"), REFUSALS, ids=range(len(REFUSALS)))
def test_a_broken_game_is_refused_with_its_place(files: dict[str, str | bytes], expected: str) -> None:
    assert refusal(zip_of(files)).startswith(expected)


@pytest.mark.parametrize("missing", FILES)
def test_a_missing_file_is_named(missing: str) -> None:
    files = small_game()
    del files[missing]
    assert refusal(zip_of(files)) == f"{missing} is missing. Choose the whole game folder."


@pytest.mark.parametrize("name", ["config.json", "public_daytime_chat.txt"])
def test_one_file_of_a_game_asks_for_the_folder(name: str) -> None:
    refused = refusal((GAMES / "0006" / name).read_bytes(), name=name)
    assert refused.startswith("This is one file of a game in the format llmafia, which consists of several.")


def with_more(tmp_path: Path, *names: str) -> Path:
    """Two games, each with more files of its folder."""
    for game in ("0001", "0002"):
        shutil.copytree(GAMES / "0008", tmp_path / "games" / game)
        for name in names:
            place = tmp_path / "games" / game / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text("[10:11:12] Lee: hi", encoding="utf-8")
    return tmp_path / "games"


@pytest.mark.parametrize("is_zip", [True, False])
def test_a_game_claims_all_files_of_its_folder(tmp_path: Path, is_zip: bool) -> None:
    place = with_more(tmp_path, "Lee_chat.txt", "Lee_status.txt", "notes.md", "logs/Lee_log.txt")
    if is_zip:
        place = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", place))
    results = read_path(place)
    assert [result.error for result in results] == [None, None]
    assert set(results[0].left_aside) == {"Lee_chat.txt", "Lee_status.txt", "notes.md"}


def test_another_game_in_the_folder_of_a_game_is_read(tmp_path: Path) -> None:
    place = with_more(tmp_path, "notes.md")
    (place / "0001" / "other.json").write_text(read(GAMES / "0001").to_json(), encoding="utf-8")
    results = read_path(place)
    assert sorted(str(result.format) for result in results) == ["dramaturg-transcript", "llmafia", "llmafia"]


def test_a_damaged_file_beside_a_game_is_still_refused(tmp_path: Path) -> None:
    place = with_more(tmp_path)
    (place / "0001" / "damaged.json").write_text('{"format": "dramaturg-transcript", "version": 1}', encoding="utf-8")
    refused = [result for result in read_path(place) if result.error is not None]
    assert [result.name for result in refused] == ["games/0001/damaged.json"]
