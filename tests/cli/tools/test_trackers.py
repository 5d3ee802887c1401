"""MLflow and Weights & Biases take the runs, ``make test-tools``."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchmarks import own_environments

pytestmark = pytest.mark.long
READ_MLFLOW = """
import json, sys, mlflow
client = mlflow.MlflowClient(tracking_uri=sys.argv[1])
experiment = client.get_experiment_by_name("games")
runs = client.search_runs([experiment.experiment_id])
print(json.dumps({run.info.run_name: [run.info.status, run.data.metrics, run.data.tags["source"],
    [one.value for one in client.get_metric_history(run.info.run_id, "coherence/score")]] for run in runs}))
"""
# The library writes the file that its "wandb sync" sends, and has no reader of it: blocks of 32 KB after seven bytes,
# as LevelDB's log has them, with a message of its own protocol in each entry.
READ_WANDB = """
import json, struct, sys
from wandb.proto import wandb_internal_pb2
data, place, entry = open(sys.argv[1], "rb").read(), 7, b""
told = {"summary": {}, "history": []}
pairs = lambda items: {one.key or "/".join(one.nested_key): json.loads(one.value_json) for one in items}
while place + 7 <= len(data):
    if 32768 - place % 32768 < 7:
        place += 32768 - place % 32768
        continue
    _, length, kind = struct.unpack_from("<IHB", data, place)
    entry += data[place + 7 : place + 7 + length]
    place += 7 + length
    if kind not in (1, 4):
        continue
    record, entry = wandb_internal_pb2.Record.FromString(entry), b""
    kind = record.WhichOneof("record_type")
    if kind == "run":
        told["name"], told["project"] = record.run.display_name, record.run.project
    elif kind == "summary":
        told["summary"].update(pairs(record.summary.update))
    elif kind == "history":
        told["history"].append(pairs(record.history.item))
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def programs() -> Path:
    return own_environments.install(Path(__file__).parent / "trackers.txt", "tools-trackers")


@pytest.fixture
def expected(run: Any, write_game: Any) -> list[dict[str, Any]]:
    run("import", write_game("one"), write_game("two", good=False), "--iteration", "v1")
    run("import", write_game("three"), "--iteration", "v2")
    runs: list[dict[str, Any]] = json.loads(run("export", "runs").stdout)
    assert [one["name"] for one in runs] == ["v1", "v2"]
    return runs


def call(command: list[object], folder: Path, **environment: str) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=os.environ | environment,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_mlflow_holds_a_run_for_each_iteration(
    programs: Path, expected: list[dict[str, Any]], database: Path, tmp_path: Path
) -> None:
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    command: list[object] = [programs / "dramaturg", "export", "runs", "--to", "mlflow", "--experiment", "games"]
    call([*command, "--uri", uri, "--db", database], tmp_path)
    seen = json.loads(call([programs / "python", "-c", READ_MLFLOW, uri], tmp_path).splitlines()[-1])
    assert set(seen) == {"v1", "v2"}
    for one in expected:
        status, metrics, source, scores = seen[one["name"]]
        assert (status, source, scores) == ("FINISHED", "dramaturg", pytest.approx(one["steps"]["coherence/score"]))
        assert {name: metrics[name] for name in one["metrics"]} == pytest.approx(one["metrics"])


def test_weights_and_biases_holds_a_run_for_each_iteration(
    programs: Path, expected: list[dict[str, Any]], database: Path, tmp_path: Path
) -> None:
    command: list[object] = [programs / "dramaturg", "export", "runs", "--to", "wandb", "--experiment", "games"]
    call([*command, "--db", database], tmp_path, WANDB_MODE="offline", WANDB_DIR=str(tmp_path))
    files = sorted(tmp_path.glob("wandb/offline-run-*/*.wandb"))
    seen = [json.loads(call([programs / "python", "-c", READ_WANDB, one], tmp_path).splitlines()[-1]) for one in files]
    by_name = {one["name"]: one for one in seen}
    assert set(by_name) == {"v1", "v2"}
    for one in expected:
        held = by_name[one["name"]]
        assert held["project"] == "games"
        assert {name: held["summary"][name] for name in one["metrics"]} == pytest.approx(one["metrics"])
        scores = [row["coherence/score"] for row in held["history"] if "coherence/score" in row]
        assert scores == pytest.approx(one["steps"]["coherence/score"])
