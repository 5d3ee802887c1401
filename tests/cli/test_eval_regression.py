"""``dramaturg persona run | compare | baseline | record``: planted regressions, judges that fail, costs."""

import json
import os
import re
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from evaluation.files.bundled import shipped
from evaluation.persona.agents import Agent
from evaluation.store import Store
from tests.dashboard_server import dramaturg
from tests.judge_server import JudgeServer, plausible_answer
from tests.stored_rows import llm_calls

CAST = ["michael", "dwight", "jim", "lisa-carter", "oscar"]
CHANNELS = ["channel:conference-room", "channel:sales-floor", "channel:public"]


def test_by_default_the_whole_shipped_cast_is_held_against_its_baselines_by_recorded_answers(run: Any) -> None:
    started = time.monotonic()
    done = run("eval", "compare", "--format", "json")
    assert time.monotonic() - started < 60
    assert done.exit_code == 0
    rows = json.loads(done.stdout)["rows"]
    assert {row["outcome"] for row in rows} == {"fine"}
    assert list(dict.fromkeys(row["agent_id"] for row in rows)) == CAST + CHANNELS
    assert json.loads(done.stdout)["models"] == ["sample-judge-1"]
    assert "Recorded answers of sample-judge-1 are played back" in done.stderr


def test_two_runs_print_the_same_bytes(tmp_path: Path) -> None:
    running = [
        subprocess.Popen(
            [dramaturg(), "eval", "run", "--agents", "jim", "--format", "json", "--db", tmp_path / f"{seed}.duckdb"],
            env=os.environ | {"PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for seed in ("1", "2")
    ]
    first, second = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert first == second
    assert json.loads(first)[0]["agent"]["id"] == "jim"


def test_a_score_below_its_baseline_is_exit_code_1_in_every_format(run: Any, tmp_path: Path) -> None:
    shutil.copytree(shipped("data/baselines"), tmp_path, dirs_exist_ok=True)
    body = json.loads((tmp_path / "jim.json").read_text("utf-8"))
    body["dimensions"]["fluency"]["score"] += 1.5
    (tmp_path / "jim.json").write_text(json.dumps(body), encoding="utf-8")
    chosen = ("--agents", "jim", "--baselines", tmp_path)
    done = run("eval", "run", *chosen)
    assert done.exit_code == 1
    assert "regression: Jim Halpert, Fluency: 7.38, baseline 8.88: it fell by 1.50, which is more than 1" in done.stdout
    markdown = run("eval", "compare", *chosen, "--format", "markdown")
    assert (markdown.exit_code, "**regression**" in markdown.stdout) == (1, True)
    assert run("eval", "run", *chosen, "--max-drop", 1.6).exit_code == 0
    assert run("eval", "run", *chosen, "--dimensions", "consistency").exit_code == 0


def test_a_place_that_cannot_hold_recordings_is_wrong_input(run: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder.jsonl").mkdir()
    for place in ("file/below", "folder.jsonl"):
        done = run("eval", "record", tmp_path / place, "--agents", "jim")
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.startswith(f"error: {tmp_path}/f")


def test_a_baseline_is_written_and_later_runs_are_held_against_it(run: Any, database: Path, tmp_path: Path) -> None:
    done = run("eval", "baseline", "--agents", "oscar", "--baselines", tmp_path / "new")
    assert done.exit_code == 0
    written = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert written == ["channel--public.json", "oscar.json"]
    expected = shipped("data/baselines") / "oscar.json"
    assert (tmp_path / "new" / "oscar.json").read_bytes() == expected.read_bytes()
    assert Store(database).evaluations.runs()["is_baseline"].tolist() == [True, True]


def test_baselines_that_are_not_there_are_wrong_usage_before_anybody_is_asked(
    run: Any, database: Path, tmp_path: Path
) -> None:
    (tmp_path / "oscar.json").write_text('{"format":', encoding="utf-8")
    for command in ("run", "compare"):
        for folder, told in ((tmp_path / "gone", "gone: There is no such folder"), (tmp_path, "oscar.json")):
            done = run("eval", command, "--agents", "oscar", "--baselines", folder)
            assert (done.exit_code, told in done.stderr) == (2, True)
    assert Store(database).evaluations.runs().empty


def test_no_baseline_is_written_of_a_judge_that_failed(run: Any, tmp_path: Path) -> None:
    done = run("eval", "baseline", "--agents", "oscar", "--model", "nobody", "--baselines", tmp_path / "new")
    assert done.exit_code == 3
    assert "No baseline was written." in done.stderr
    assert "nothing is recorded for this prompt" in done.stderr
    assert not (tmp_path / "new").exists()


def test_recordings_of_several_models_need_a_choice(run: Any, tmp_path: Path) -> None:
    one, other, *_ = (shipped("data/recordings") / "oscar.jsonl").read_text("utf-8").splitlines()
    (tmp_path / "a.jsonl").write_text(f"{one}\n{other.replace('sample-judge-1', 'gpt')}\n", encoding="utf-8")
    done = run("eval", "run", "--recordings", tmp_path)
    assert (done.exit_code, "Choose with --model: gpt, sample-judge-1." in done.stderr) == (2, True)


def test_a_judge_that_cannot_be_asked_is_exit_code_3_before_anything_is_asked(run: Any, database: Path) -> None:
    with socket.socket() as reserved:
        # Bound and not listening: whoever connects is refused.
        reserved.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{reserved.getsockname()[1]}/v1"
        done = run("eval", "compare", "--mode", "synthetic", "--base-url", address)
    assert (done.exit_code, f"{address}: The judge cannot be reached: " in done.stderr) == (3, True)
    done = run("eval", "run", "--mode", "live")
    assert (done.exit_code, "There is no key for gpt-4o-mini in the environment." in done.stderr) == (3, True)
    assert Store(database).evaluations.runs().empty


def in_character_or_judging(body: dict[str, Any]) -> str:
    if str(body["messages"][0]["content"]).startswith("You are Bob."):
        return f"I bake bread, whatever you say of {len(str(body['messages'][-1]['content']))} loaves."
    return plausible_answer(body)


def test_in_synthetic_mode_an_agent_that_never_spoke_answers_and_is_judged(run: Any, database: Path) -> None:
    store = Store(database)
    store.agents.save(Agent("bob", "Bob", persona="A baker."))
    with JudgeServer(content=in_character_or_judging).in_thread() as server:
        chosen = ("--mode", "synthetic", "--agents", "Bob", "--base-url", server.url, "--model", "m")
        done = run("eval", "run", *chosen, "--format", "json")
    assert done.exit_code == 0
    (bob,) = json.loads(done.stdout)
    assert list(bob["dimensions"]) == ["adherence", "consistency", "fluency"]
    assert bob["sample_size"] == 8
    (stored,) = store.transcripts.summaries().to_dict("records")
    transcript = store.transcripts.get(stored["transcript_id"])
    assert (transcript.source_format, transcript.metadata["synthetic"]) == ("synthetic", True)
    assert [message.channel for message in transcript.messages[:2]] == ["system", "public"]
    assert transcript.messages[1].text.startswith("I bake bread")
    assert store.evaluations.runs()["mode"].tolist() == ["synthetic"]
    assert llm_calls(store)["purpose"].value_counts()["synthetic"] == 8
    # Made for the purpose: it never counts as what the agent said elsewhere.
    assert run("eval", "run", "--mode", "offline", "--agents", "bob").exit_code == 2


def test_who_cannot_answer_prompts_is_named(run: Any, database: Path) -> None:
    store = Store(database)
    store.agents.save(Agent("mute", "Mute"))
    store.close()
    unknown = "No agent called 'nobody' is known. Choose from: michael,"
    with JudgeServer().in_thread() as server:
        for name, told in (("nobody", unknown), ("mute", "Mute has no persona to answer")):
            done = run("eval", "run", "--mode", "synthetic", "--agents", name, "--base-url", server.url)
            assert (done.exit_code, told in done.stderr) == (2, True)


def test_what_to_do_about_a_missing_recording_does_it(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "own" / "fluency" / "_default.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(
        "{dimension: fluency, agent_id: _default, target_type: agent, "
        "propositions: [{id: brief, claim: '{{agent_name}} is brief.', weight: 1}]}"
    )
    asked = ("--agents", "michael", "--dimensions", "fluency", "--propositions", "own")
    missing = run("persona", "run", "--mode", "mock", *asked)
    assert missing.exit_code == 3
    record, play = re.findall(r"`(dramaturg persona [^`]*)`", missing.stderr)[:2]
    with JudgeServer(content=plausible_answer).in_thread() as server:
        recorded = run(*record.split()[1:], *asked, "--base-url", server.url, "--model", "m")
    assert (recorded.exit_code, recorded.stderr.count("Recorded: ")) == (0, 1), recorded.stderr
    played = run(*play.split()[1:], *asked)
    assert played.exit_code == 0, played.stderr
    assert "is recorded" not in played.stderr


def test_no_baseline_is_written_into_the_shipped_folder_without_a_path(run: Any) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in shipped("data/baselines").iterdir()}
    refused = run("persona", "baseline")
    assert (refused.exit_code, "need a place" in refused.stderr) == (2, True)
    assert {path.name: path.stat().st_mtime_ns for path in shipped("data/baselines").iterdir()} == before


def test_an_estimate_needs_neither_key_nor_server(run: Any, write_game: Any) -> None:
    run("import", write_game())
    for command in (
        "persona run --mode synthetic",
        "persona compare --mode live",
        "persona record x.jsonl",
        "experiment run debate-controversial --scale 0.05",
        "judge",
    ):
        done = run(*command.split(), "--estimate")
        assert done.exit_code == 0, done.stderr
        assert " to gpt-4o-mini" in done.stdout or " calls, " in done.stdout, command


@pytest.mark.long
def test_several_experiments_end_in_one_table_without_the_paper_for_a_script(run: Any) -> None:
    done = run("experiment", "run", "all", "--scripted", "--scale", "0.01", "--steps", "8")
    assert done.exit_code == 0, done.stderr
    joint = done.stdout[done.stdout.rindex("Experiment  ") :].splitlines()
    assert joint[0].split()[:2] == ["Experiment", "Dimension"]
    brainstorming = [f"brainstorming-{name}" for name in ("average", "difficult-full", "difficult-variety")]
    names = [*brainstorming, "debate-controversial"]
    assert [line.split()[0] for line in joint[2:22]] == [name for name in names for _ in range(5)]
    assert "Paper" not in done.stdout
    assert "in the paper:" not in done.stdout
