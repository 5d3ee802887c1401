"""A recorder: what it writes, what it refuses, and what is left of it when its process is killed."""

import os
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evaluation import Recorder, read_path
from evaluation.errors import InputError
from evaluation.readers import Answers
from evaluation.transcript import Transcript

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)


def record(folder: Path, **options: object) -> Path:
    with Recorder(folder, game_id="night", **options) as recorder:
        recorder.player("Ann", "doctor", alignment="town", persona={"age": 40})
        recorder.player("Ben", "mafia", alignment="mafia", is_human=False)
        recorder.begin_round(1, "day")
        first = recorder.message("Ann", "I was at home. ü", sent_at=NOON)
        recorder.message("Ben", "So was I.", reply_to=first, sent_at=NOON)
        recorder.message("Ben", "She lies.", channel="team", recipients=["Cleo"], sent_at=NOON)
        recorder.vote("Ann", "Ben", justification="He hesitated.", sent_at=NOON)
        recorder.vote("Cleo", None, sent_at=NOON)
        recorder.eliminate("Ben", role="mafia", sent_at=NOON)
        recorder.cost(usd=0.25, input_tokens=100, cached_tokens=50, output_tokens=10)
        recorder.cost(usd=0.5, input_tokens=100, cached_tokens=0, output_tokens=10)
        recorder.winner("town")
    return recorder.path


def only(folder: Path) -> Transcript:
    # A game that was broken off is taken on request only (test_who_speaks).
    (result,) = read_path(folder, answers=Answers(incomplete=True))
    assert result.error is None
    assert result.transcript is not None
    return result.transcript


def test_a_recorded_game_is_read_as_it_was_played(tmp_path: Path) -> None:
    path = record(tmp_path / "new" / "games", language="en", metadata={"seed": 3})
    assert os.listdir(path.parent) == ["night.jsonl"]
    game = only(path.parent)
    assert (game.game_id, game.source_format, game.language, game.winner) == ("night", "recorder", "en", "town")
    assert game.metadata == {"seed": 3}
    assert [(each.name, each.role, each.is_alive) for each in game.players] == [
        ("Ann", "doctor", True),
        ("Ben", "mafia", False),
        # Nobody named Cleo beforehand.
        ("Cleo", None, True),
    ]
    assert [(each.id, each.round, each.phase, each.channel) for each in game.messages] == [
        ("m1", 1, "day", "public"),
        ("m2", 1, "day", "public"),
        ("m3", 1, "day", "team"),
    ]
    assert game.messages[1].reply_to == "m1"
    assert [(each.voter, each.target) for each in game.votes] == [("Ann", "Ben"), ("Cleo", None)]
    assert (game.cost.total_usd, game.cost.input_tokens, game.cost.cache_hit_rate) == (0.75, 200, 0.25)


@pytest.mark.parametrize(
    ("call", "place"),
    [
        (lambda one: one.message("", "x"), "speaker"),
        (lambda one: one.message("Ann", "\ud800"), "text"),
        (lambda one: one.message("Ann", "x", recipients="Ben"), "recipients"),
        (lambda one: one.message("Ann", "x", round=-1), "round"),
        (lambda one: one.message("Ann", "x", metadata={"at": object()}), "metadata"),
        (lambda one: one.message("Ann", "x", metadata={"at": float("nan")}), "metadata"),
        (lambda one: one.message("Ann", "x", metadata={"raw": ["\ud83d"]}), "surrogates"),
        (lambda one: one.player("Cleo", persona={"\udc00": 1}), "surrogates"),
        (lambda one: one.vote("Ann", ""), "target"),
        (lambda one: one.eliminate(""), "player"),
        (lambda one: one.cost(usd=-1), "total_usd"),
        (lambda one: one.begin_round(-1), "round"),
        (lambda one: one.winner(3), "name"),
    ],
)
def test_what_a_transcript_cannot_hold_is_refused_and_nothing_of_it_is_kept(call, place: str, tmp_path: Path) -> None:
    with Recorder(tmp_path) as recorder:
        recorder.message("Ann", "first", sent_at=NOON)
        with pytest.raises((InputError, ValueError), match=place):
            call(recorder)
        recorder.message("Ann", "second", sent_at=NOON)
    game = only(tmp_path)
    assert [(each.id, each.text) for each in game.messages] == [("m1", "first"), ("m2", "second")]
    assert (game.player_names, game.votes, game.cost) == (("Ann",), (), None)


def test_a_player_is_named_once_also_after_it_has_spoken(tmp_path: Path) -> None:
    with Recorder(tmp_path) as recorder:
        recorder.message("Ann", "hello")
        recorder.player("Ann", "doctor")
        with pytest.raises(InputError, match="named before"):
            recorder.player("Ann")
    assert only(tmp_path).player("Ann").role == "doctor"


def test_a_game_is_not_recorded_over_another(tmp_path: Path) -> None:
    path = record(tmp_path)
    before = path.read_bytes()
    with pytest.raises(FileExistsError):
        record(tmp_path)
    assert path.read_bytes() == before
    with Recorder(tmp_path, game_id="other") as one:
        one.message("Ann", "hello")
        with pytest.raises(FileExistsError), Recorder(tmp_path, game_id="other"):
            pass


def test_an_error_of_the_simulation_is_passed_on_and_named_in_what_was_recorded(tmp_path: Path) -> None:
    def simulate() -> None:
        with Recorder(tmp_path) as recorder:
            recorder.message("Ann", "hello")
            raise ZeroDivisionError("division by zero")

    with pytest.raises(ZeroDivisionError):
        simulate()
    assert only(tmp_path).metadata == {"stopped_by": "ZeroDivisionError: division by zero"}


def test_outside_of_its_block_it_refuses(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    with pytest.raises(InputError, match="not open"):
        recorder.message("Ann", "hello")


def test_many_threads_record_every_message_once(tmp_path: Path) -> None:
    with Recorder(tmp_path) as recorder:

        def speak(name: str) -> None:
            for number in range(200):
                recorder.message(name, f"{name} {number}")

        threads = [threading.Thread(target=speak, args=(f"P{number}",)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    game = only(tmp_path)
    assert len({each.id for each in game.messages}) == 1600
    for name in game.player_names:
        own = [each.text for each in game.messages if each.speaker == name]
        assert own == [f"{name} {number}" for number in range(200)]


_SPEAKS = """
import sys
from evaluation import Recorder
with Recorder(sys.argv[1], game_id="cut") as recorder:
    recorder.player("Ann", "doctor")
    number = 0
    while True:
        recorder.message("Ann", f"message {number}")
        print(number, flush=True)
        number += 1
"""


def test_what_was_recorded_before_a_kill_is_a_readable_transcript(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _SPEAKS, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = [int(next(process.stdout)) for _ in range(50)]
        process.send_signal(signal.SIGKILL)
        told += [int(line) for line in process.stdout if line.endswith("\n")]
    assert os.listdir(tmp_path) == ["cut.jsonl"]
    game = only(tmp_path)
    assert (game.game_id, game.source_format) == ("cut", "recorder")
    assert game.metadata == {"recording_cut_off": True}
    assert game.player("Ann").role == "doctor"
    # Whatever a call had recorded before it came back is there.
    said = [each.text for each in game.messages]
    assert said[: len(told)] == [f"message {number}" for number in told]
    assert len(said) <= len(told) + 1


def test_a_torn_last_line_is_left_out_and_a_broken_one_is_named(tmp_path: Path) -> None:
    with Recorder(tmp_path, game_id="torn") as recorder:
        recorder.message("Ann", "one")
        recorder.message("Ann", "two")
        written = recorder.path.read_text()
    recorder.path.unlink()
    (tmp_path / "cut.jsonl").write_text(written[:-20])
    assert [each.text for each in only(tmp_path).messages] == ["one"]
    (tmp_path / "cut.jsonl").write_text(written.replace('{"message":{"id":"m1"', '{"massage":{"id":"m1"'))
    (result,) = read_path(tmp_path)
    assert "'massage' is not a kind of event" in str(result.error)
    (tmp_path / "cut.jsonl").write_text(written.splitlines()[0] + "\n[]\n")
    (result,) = read_path(tmp_path)
    assert "line 2" in str(result.error)


def test_a_full_disk_is_told_and_what_was_recorded_before_is_read(tmp_path: Path) -> None:
    program = (
        "import resource, signal, sys\n"
        "from evaluation import Recorder\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))\n"
        "with Recorder(sys.argv[1], game_id='full') as recorder:\n"
        "    while True: recorder.message('Ann', 'x' * 40)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False)
    assert "File too large" in done.stderr
    assert len(only(tmp_path).messages) >= 3


def test_half_a_character_in_the_facts_of_a_game_or_in_its_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="surrogates"):
        Recorder(tmp_path, metadata={"raw": "\ud83d"}).__enter__()
    assert os.listdir(tmp_path) == []

    def simulate() -> None:
        with Recorder(tmp_path) as recorder:
            recorder.message("Ann", "hello")
            raise ValueError("\ud83d")

    with pytest.raises(ValueError, match="\ud83d"):
        simulate()
    assert only(tmp_path).metadata == {"stopped_by": "ValueError: ?"}


def test_every_game_gets_a_file_of_its_own_in_the_folder_whatever_its_name(tmp_path: Path) -> None:
    names = ["遊戯", "試合", "Spiel ä/1", "Spiel ö/1", "x" * 90 + "1", "x" * 90 + "2", "x", "../../etc/\u202epasswd"]
    for name in names:
        with Recorder(tmp_path, game_id=name) as recorder:
            recorder.message("Ann", "hello")
        assert recorder.path.parent == tmp_path
    assert sorted(result.transcript.game_id for result in read_path(tmp_path) if result.transcript) == sorted(names)
