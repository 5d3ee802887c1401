import io
import json
import zipfile
from collections import Counter
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from evaluation.readers import ReadResult, iter_paths, read_path, read_upload, read_uploads
from evaluation.transcript import Transcript

FOLDER = Path(__file__).parents[2] / "data" / "autobox"
RUNS, TRACES = FOLDER / "runs.json", FOLDER / "traces.json"

RUN: dict[str, Any] = {
    "id": "r1",
    "status": "completed",
    "started_at": "2025-01-01T10:00:00Z",
    "orchestrator": {"name": "orchestrator", "llm": {"model": "big"}},
    "planner": {"name": "Planner"},
    "workers": [
        {"name": "Ann", "role": "guard", "description": "Calm.", "backstory": "Born.", "llm": {"model": "small"}},
        {"name": "Bob", "role": "cook"},
    ],
}
TRACE: list[dict[str, Any]] = [
    {
        "from": "orchestrator",
        "to": "ann",
        "content": "Ask.",
        "is_system_trace": False,
        "created_at": "2025-01-01T10:00:01Z",
    },
    {
        "from": "bob",
        "to": "orchestrator",
        "content": "Me too.",
        "is_system_trace": False,
        "created_at": "2025-01-01T10:00:03Z",
    },
    {
        "from": "ANN",
        "to": "orchestrator",
        "content": "Yes.",
        "is_system_trace": False,
        "created_at": "2025-01-01T10:00:02Z",
    },
    {
        "from": "Ann",
        "to": "planner",
        "content": "log",
        "is_system_trace": True,
        "created_at": "2025-01-01T10:00:04Z",
    },
]


def read(runs: Any, traces: Any) -> list[ReadResult]:
    return read_uploads([("runs.json", json.dumps(runs).encode()), ("traces.json", json.dumps(traces).encode())])


def read_one(runs: Any = RUN, traces: Any = TRACE) -> Transcript:
    (result,) = read([runs], {"r1": traces})
    assert result.error is None
    assert result.transcript is not None
    return result.transcript


def test_the_40_runs() -> None:
    results = read_path(FOLDER)
    assert [result.name for result in results][:1] == ["autobox/4a3a1167-2599-49a1-9b48-259fe880d795"]
    assert Counter(result.format for result in results) == {"autobox": 40}
    # jq: 401 traces; 85 of them by a worker and not the system's; 7 runs have the status "created" and no trace.
    transcripts = [result.transcript for result in results if result.transcript]
    channels = Counter(message.channel for transcript in transcripts for message in transcript.messages)
    assert channels == {"system": 316, "public": 85}
    refusals = {str(result.error) for result in results if result.error}
    assert len(transcripts) == 33
    assert refusals == {"The run has no trace yet; its status is created. Export it again once it has run."}


def test_the_first_run() -> None:
    transcript = read_path(FOLDER)[0].transcript
    assert transcript is not None
    assert [(m.speaker, m.recipients, m.text[:30]) for m in transcript.discussion] == [
        ("Sarah", ("orchestrator",), "Proposes a beach day with voll"),
        ("Mike", ("orchestrator",), "Confirms the weather forecast "),
        ("Emma", ("orchestrator",), "Recommends cost-effective buff"),
    ]
    assert [(p.name, p.role, p.alignment, p.model) for p in transcript.players] == [
        ("Sarah", "social organizer", None, "gpt-4o"),
        ("Mike", "practical planner", None, "gpt-4o"),
        ("Emma", "budget conscious friend", None, "gpt-4o"),
    ]
    assert transcript.metadata["status"] == "completed"
    assert transcript.metadata["simulation_id"] == "fd18233a-fa24-45d5-8fde-6d52761bde5f"


def test_names_of_any_case_times_and_the_systems_traces() -> None:
    transcript = read_one()
    assert [(m.speaker, m.channel, m.recipients, m.text) for m in transcript.messages] == [
        ("orchestrator", "system", ("Ann",), "Ask."),
        ("Ann", "public", ("orchestrator",), "Yes."),
        ("Bob", "public", ("orchestrator",), "Me too."),
        ("Ann", "system", ("Planner",), "log"),
    ]
    # "guard" is a profession here, not a role of the game.
    assert transcript.player("Ann").alignment is None
    assert transcript.player("Ann").persona == {"description": "Calm.", "backstory": "Born."}


def test_the_pair_comes_as_folder_zip_or_two_files() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in (RUNS, TRACES):
            archive.write(path, f"export/{path.name}")
    ways = [
        read_path(FOLDER),
        read_upload("x.zip", buffer.getvalue()),
        read_uploads([(path.name, path.read_bytes()) for path in (TRACES, RUNS)]),
        list(iter_paths([RUNS, TRACES])),
    ]
    ids = [{result.transcript.id for result in way if result.transcript} for way in ways]
    assert [len(way) for way in ways] == [40] * 4
    assert ids[0] == ids[1] == ids[2] == ids[3]


def test_other_files_given_with_the_pair_are_read_on_their_own() -> None:
    results = list(iter_paths([RUNS, FOLDER / "LICENSE", TRACES, "missing.json"]))
    assert Counter(result.error is None for result in results) == {True: 33, False: 9}
    assert [result.name for result in results[40:]] == ["LICENSE", "missing.json"]


@pytest.mark.parametrize("path", [RUNS, TRACES], ids=["runs", "traces"])
def test_one_of_the_two_alone(path: Path) -> None:
    (result,) = read_path(path)
    assert str(result.error) == (
        "This is one file of a game in the format autobox, which consists of several. "
        "Hand in the whole folder, or a zip of it."
    )


def test_files_that_have_only_the_names() -> None:
    results = read_uploads([("runs.json", b'{"a": 1}'), ("traces.json", b"[1]")])
    assert [result.name for result in results] == ["runs.json", "traces.json"]
    assert all("No reader knows this shape." in str(result.error) for result in results)


def broken(key: str, value: Any) -> list[dict[str, Any]]:
    traces = deepcopy(TRACE)
    traces[1][key] = value
    return traces


@pytest.mark.parametrize(
    ("traces", "expected"),
    [
        (
            {"r1": broken("from", "Zoe")},
            'traces.json: $.r1[1].from: Found the text "Zoe", expected one of the workers (Ann, Bob) or of the staff '
            "(orchestrator, Planner). Correct that value and try again.",
        ),
        (
            {"r1": broken("created_at", None)},
            "traces.json: $.r1[1].created_at: Found nothing, expected a time as in 2025-01-31T18:05:00Z. "
            "Correct that value and try again.",
        ),
        (
            {"r2": TRACE},
            "The traces do not name the run r1. Hand in runs.json and traces.json of the same export.",
        ),
    ],
)
def test_a_broken_run_is_refused_and_the_others_go_in(traces: Any, expected: str) -> None:
    first, second = read([RUN, RUN | {"id": "good"}], traces | {"good": TRACE})
    assert str(first.error) == expected
    assert second.error is None


def test_a_worker_twice() -> None:
    (result,) = read([RUN | {"workers": [{"name": "Ann"}, {"name": "Ann"}]}], {"r1": TRACE[:1]})
    assert str(result.error) == "$: The player name 'Ann' occurs twice. Correct that value and try again."
