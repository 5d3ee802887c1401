"""Games scored and judged by one process, two and a Dask cluster: the same rows, whoever is killed meanwhile."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchmarks.generate import write
from benchmarks.judge_server import JudgeServer
from evaluation.engines._dask_cluster import run_on_cluster
from evaluation.engines.scoring import Evaluation, ScoreFailure, evaluate_many
from evaluation.engines.task_engines import EngineName, run_tasks
from evaluation.errors import InfrastructureError, InputError, NotFoundError
from evaluation.files.bundled import recording_root
from evaluation.files.locations import Location
from evaluation.judging.judge_config import build_judge, judge_config
from evaluation.judging.judges.cached import KeptAnswer
from evaluation.judging.judges.recording_file import recordings_version
from evaluation.judging.model_client.budget import Budget, BudgetSpentError
from evaluation.judging.model_client.calls import CallRecord
from evaluation.judging.model_client.leases import LeaseAddress, LeaseServer, LeaseTerms, LocalLeases, RemoteLeases
from evaluation.judging.model_client.server_state import CallEnd, ServerState
from evaluation.judging.protocol import Prompt
from evaluation.readers import iter_paths
from evaluation.store import Store
from evaluation.store.corpus.judged import JudgedPartition
from evaluation.store.corpus.packing import pack, scoring_key
from evaluation.store.corpus.partitions import Corpus
from evaluation.workflows.corpora.collection import Collected, compact_corpus, import_corpus
from evaluation.workflows.corpora.judging import estimate_corpus, judge_corpus
from evaluation.workflows.corpora.scoring import CorpusTally, score_to_corpus
from evaluation.workflows.judging import JudgingTally, judge_stored
from evaluation.workflows.scoring import PackedGame, Tally, current_outcomes, store_games
from tests.faults.killing import DaskCluster, dask_cluster, free_port, wait_until_open

GAMES = 10
KILLS_ITSELF = "__import__('os').kill(__import__('os').getpid(), 9)"
WAIT_SECONDS = 120


@pytest.fixture(scope="module")
def dask(tmp_path_factory) -> Iterator[DaskCluster]:
    with dask_cluster(tmp_path_factory.mktemp("dask"), free_port()) as started:
        yield started


@pytest.fixture(scope="module")
def cluster(dask) -> str:
    return dask.address


@pytest.fixture(scope="module")
def games(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("games")
    write(folder, GAMES)
    return folder


def scored(games: Path | str, output: Path | str, **options: object) -> tuple[CorpusTally, list[str]]:
    notes: list[str] = []
    tally = CorpusTally(Tally(note=notes.append))
    for _ in score_to_corpus([str(games)], str(output), tally, batch_size=3, **options):  # type: ignore[arg-type]
        pass
    return tally, notes


def rows(output: Path | str) -> dict[str, list[dict[str, object]]]:
    """Every row of results and ledger, in one order, without the time of scoring."""
    corpus = Corpus(Location.of(str(output)))
    parts = [corpus.read(partition) for partition in corpus.partitions()]
    results = pa.concat_tables([part.results for part in parts]).drop_columns(["scored_at"])
    ledger = pa.concat_tables([part.ledger for part in parts])
    by_result = [("transcript_id", "ascending"), ("metric", "ascending")]
    return {
        "results": results.sort_by(by_result).to_pylist(),
        "ledger": ledger.sort_by([*by_result, ("position", "ascending")]).to_pylist(),
    }


@pytest.fixture(scope="module")
def alone(games, tmp_path_factory) -> Path:
    """The games scored by this process."""
    output = tmp_path_factory.mktemp("alone")
    tally, _ = scored(games, output, iteration="v1 / a")
    assert (tally.scored, tally.had) == (GAMES, 0)
    return output


def test_one_process_two_and_dask_give_the_same_rows(games, alone, cluster, tmp_path) -> None:
    wanted = rows(alone)
    assert len(wanted["results"]) == GAMES * 6
    scored(games, tmp_path / "pool", iteration="v1 / a", jobs=2)
    assert rows(tmp_path / "pool") == wanted
    scored(games, tmp_path / "dask", iteration="v1 / a", engine=EngineName.DASK, scheduler=cluster)
    assert rows(tmp_path / "dask") == wanted
    names = {folder: sorted(path.name for path in folder.rglob("*.parquet")) for folder in (alone, tmp_path / "dask")}
    assert names[alone] == names[tmp_path / "dask"]


def test_what_is_there_is_left_out_and_one_lost_partition_is_made_again(games, alone, tmp_path) -> None:
    wanted = rows(alone)
    output = tmp_path / "out"
    scored(games, output, iteration="v1 / a")
    lost = sorted((output / "results").rglob("*.parquet"))[0]
    # Killed between the ledger and the results: the ledger alone does not count.
    lost.unlink()
    (lost.parent / f"{lost.name}.0.tmp").write_bytes(b"half")
    tally, _ = scored(games, output, iteration="v1 / a")
    assert tally.scored + tally.had == GAMES
    assert 0 < tally.scored <= 3
    assert rows(output) == wanted


def test_games_in_another_iteration_are_said_in_one_remark(games, tmp_path) -> None:
    scored(games, tmp_path / "out")
    _, notes = scored(games, tmp_path / "out")
    assert notes == []
    for iteration in ("v2", "v3"):
        tally, notes = scored(games, tmp_path / "out", iteration=iteration)
        assert (tally.scored, tally.had, tally.elsewhere) == (0, GAMES, GAMES)
        assert len(notes) == 1
        assert f"Left in another iteration, or in none: {GAMES} games" in notes[0]
        assert "another --output" in notes[0]


@pytest.mark.parametrize("letter", ["遊", "a", "%", "a遊"])
def test_long_names_of_iterations_have_folders_of_their_own(games, tmp_path, letter) -> None:
    whole = (letter * 200)[:199]
    place, names = str(sorted(games.iterdir())[0]), [whole, f"{whole}!"]
    for name in names:
        scored(place, tmp_path / name[199:] / "out", iteration=name)
    folders = [one.name for one in tmp_path.rglob("results/*")]
    assert len(set(folders)) == 2
    assert all(len(one.encode()) <= 255 and one.startswith("iteration=") for one in folders)
    tally, notes = scored(place, tmp_path / "out", iteration=names[0])
    assert (tally.scored, tally.had, notes) == (0, 1, [])
    compact_corpus(str(tmp_path / "out"))
    store = Store(":memory:")
    list(import_corpus(str(tmp_path / "out"), store, Collected()))
    assert [one.name for one in store.iterations.list()] == [names[0]]


@pytest.mark.parametrize("name", ["a" * 201, " "])
def test_a_name_that_no_database_takes_is_refused_before_anything_is_scored(games, tmp_path, name) -> None:
    with pytest.raises(InputError, match="cannot name an iteration"):
        scored(games, tmp_path / "out", iteration=name)
    assert not (tmp_path / "out").exists()


def test_a_lone_surrogate_in_a_name_is_replaced(games, tmp_path) -> None:
    place = str(sorted(games.iterdir())[0])
    assert [scored(place, tmp_path, iteration="v\udcff")[0].had for _ in range(2)] == [0, 1]


def test_a_killed_worker_loses_nothing(cluster, tmp_path) -> None:
    """One worker process is killed by its task: the other tasks of its batch are done, and it alone is given up."""
    touched = tmp_path / "done"
    tasks = [f"{number}" for number in range(6)] + [f"7;{KILLS_ITSELF};open({str(touched)!r}, 'w').close()"]
    answers = list(
        run_tasks(eval_all, tasks, split=lambda task: task.split(";"), engine=EngineName.DASK, scheduler=cluster)
    )
    assert dict(answers) == {
        **{f"{number}": [number] for number in range(6)},
        "7": [7],
        KILLS_ITSELF: None,
        f"open({str(touched)!r}, 'w').close()": [None],
    }
    assert touched.exists()


def eval_all(task: str) -> list[object]:
    return [eval(part) for part in task.split(";")]


def test_a_run_without_workers_says_so_once_and_goes_on_with_new_ones() -> None:
    from distributed import LocalCluster

    notes: list[str] = []
    with LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster:

        def tasks() -> Iterator[str]:
            for number in range(2):
                cluster.scale(0)
                until = time.monotonic() + WAIT_SECONDS
                while cluster.scheduler.workers:
                    assert time.monotonic() < until
                yield f"{number}"

        def note(remark: str) -> None:
            notes.append(remark)
            cluster.scale(1)

        answers = run_on_cluster(
            eval_all,
            tasks(),
            split=lambda task: [task],
            jobs=1,
            scheduler=cluster.scheduler_address,
            note=note,
            patience=0.5,
        )
        assert sorted(answers) == [("0", [0]), ("1", [1])]
    assert len(notes) == 1
    assert "no worker" in notes[0]


CLIENT = """
import sys
from evaluation.cli.main import main
sys.argv = ["dramaturg", *sys.argv[1:]]
main()
"""


def test_a_killed_client_is_followed_by_one_that_does_the_rest(games, alone, cluster, tmp_path) -> None:
    output = tmp_path / "out"
    command = [sys.executable, "-c", CLIENT, "evaluate", str(games), "--output", str(output), "--engine", "dask"]
    command += ["--scheduler", cluster, "--iteration", "v1 / a"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as client:
        until = time.monotonic() + WAIT_SECONDS
        while not list(output.rglob("*.parquet")) and client.poll() is None:
            assert time.monotonic() < until
        client.send_signal(signal.SIGKILL)
    scored(games, output, iteration="v1 / a", engine=EngineName.DASK, scheduler=cluster)
    corpus = Corpus(Location.of(str(output)))
    assert len(corpus.scored_ids(scoring_key())) == GAMES
    store = Store(":memory:")
    collected = Collected()
    list(import_corpus(str(output), store, collected))
    assert len(store.results.scores()) == GAMES * 7
    # The batches of the client that was killed may be there too, whole: no game is counted twice.
    assert collected.new == GAMES


def test_a_scheduler_that_is_not_there_is_named(games, tmp_path) -> None:
    with pytest.raises(InputError, match="Only the engine 'dask' has a scheduler"):
        scored(games, tmp_path / "out", scheduler="tcp://127.0.0.1:1")
    with pytest.raises(InputError, match="cannot see what is in the memory"):
        scored(games, "memory://out", jobs=2)


def test_collecting_gives_the_database_what_importing_gives(games, alone, tmp_path) -> None:
    store, plain = Store(":memory:"), Store(":memory:")
    results = list(iter_paths([games]))
    transcripts = [result.transcript for result in results if result.transcript is not None]
    for evaluation in evaluate_many(transcripts):
        store_games(plain, [(PackedGame.of(evaluation), "x")], iteration="v1 / a", updates_known=True)
    before = rows(alone)
    assert compact_corpus(str(alone)) == GAMES
    assert rows(alone) == before
    assert len(list(alone.rglob("*.parquet"))) == 3
    for new, known in ((GAMES, 0), (0, GAMES)):
        collected = Collected()
        list(import_corpus(str(alone), store, collected))
        assert (collected.new, collected.known) == (new, known)
    assert current_outcomes(store) == current_outcomes(plain)
    for transcript in transcripts:
        assert store.transcripts.get(transcript.id) == transcript
        assert store.results.load(transcript.id) == plain.results.load(transcript.id)
    ids = [transcript.id for transcript in transcripts]
    assert store.transcripts.player_names(ids) == plain.transcripts.player_names(ids)
    assert store.transcripts.openings(ids) == plain.transcripts.openings(ids)
    columns = "transcript_id, message_id, round, speaker, recipients, text, epoch_us(sent_at), metadata"
    query = f"SELECT {columns} FROM messages ORDER BY transcript_id, position"
    with store.unit() as cursor, plain.unit() as other:
        assert cursor.execute(query).fetchall() == other.execute(query).fetchall()


def scored_with(evaluation: Evaluation, version: str = "", failed: tuple[str, ...] = ()) -> Evaluation:
    """The evaluation as if coherence had another version, or some metrics had failed."""
    metrics = {name: result for name, result in evaluation.metrics.items() if name not in failed}
    if version:
        definition = replace(metrics["coherence"].definition, version=version)
        metrics["coherence"] = replace(metrics["coherence"], definition=definition)
    failures = [ScoreFailure(name, f"{name} failed.", "A test.", "") for name in failed]
    return replace(evaluation, metrics=metrics, failures=tuple(failures))


def put(output: Path, name: str, evaluations: list[Evaluation], scoring: str, compacts: bool = False) -> None:
    corpus = Corpus(Location.of(str(output)))
    pairs = [(one, "a.json") for one in evaluations]
    corpus.write(name, None, pack(pairs, iteration=None, scoring=scoring))
    if compacts:
        corpus.compact()


def current(store: Store, output: Path) -> tuple[set[str], int, list[list[str]]]:
    """After collecting: the versions of coherence that count, all results of coherence, what failed by game."""
    list(import_corpus(str(output), store, Collected()))
    with store.unit() as cursor:
        versions = {one for (one,) in cursor.execute(f"SELECT version {CURRENT}").fetchall()}
        (number,) = cursor.execute("SELECT count(*) FROM metric_results WHERE metric = 'coherence'").fetchone()
        query = "SELECT list(scorer ORDER BY scorer) FROM score_failures GROUP BY transcript_id ORDER BY transcript_id"
        return versions, number, [one for (one,) in cursor.execute(query).fetchall()]


CURRENT = "FROM current_results WHERE metric = 'coherence'"


@pytest.fixture(scope="module")
def evaluations(games) -> list[Evaluation]:
    found = [result.transcript for result in iter_paths([games]) if result.transcript is not None]
    return list(evaluate_many(found[:2]))


@pytest.mark.parametrize("compacts", [False, True])
@pytest.mark.parametrize("names", ["ab", "ba"])
def test_the_result_that_was_scored_last_is_current_whatever_partitions_are_called(
    evaluations, tmp_path, names, compacts
) -> None:
    old = [scored_with(one, version="0.0.1") for one in evaluations]
    put(tmp_path / "old", names[0], old, "old")
    put(tmp_path / "both", names[0], old, "old")
    put(tmp_path / "both", names[1], evaluations, "new", compacts)
    today = {evaluations[0].metrics["coherence"].definition.version}
    store = Store(":memory:")
    assert current(store, tmp_path / "both") == (today, 4, [])
    assert current(store, tmp_path / "both") == (today, 4, [])
    # An old corpus does not set a database back that was brought up to date: here, and by reevaluation.
    assert current(store, tmp_path / "old") == (today, 4, [])
    plain = Store(":memory:")
    store_games(plain, [(PackedGame.of(one), "x") for one in evaluations], iteration=None, updates_known=True)
    assert current(plain, tmp_path / "old") == (today, 2, [])
    put(tmp_path / "old", "c", old, "older again")
    assert current(plain, tmp_path / "old")[0] == {"0.0.1"}


@pytest.mark.parametrize("compacts", [False, True])
@pytest.mark.parametrize("names", ["abc", "cba"])
def test_a_failure_stays_until_its_metric_is_scored_later(evaluations, tmp_path, names, compacts) -> None:
    failed = [scored_with(one, failed=("coherence",)) for one in evaluations]
    all_failed = [scored_with(one, failed=tuple(one.metrics)) for one in evaluations]
    stepwise = Store(":memory:")
    put(tmp_path, names[0], failed, "first")
    assert current(stepwise, tmp_path) == (set(), 0, [["coherence"]] * 2)
    put(tmp_path, names[1], evaluations, "second", compacts)
    today = {evaluations[0].metrics["coherence"].definition.version}
    for store in (stepwise, stepwise, Store(":memory:")):
        assert current(store, tmp_path) == (today, 2, [])
    # What fails later is said beside the older score, once.
    put(tmp_path, names[2], [failed[0]], "third", compacts)
    for store in (stepwise, stepwise, Store(":memory:")):
        assert current(store, tmp_path) == (today, 2, [["coherence"]])
    put(tmp_path / "nothing", "a", all_failed, "first")
    assert current(Store(":memory:"), tmp_path / "nothing") == (set(), 0, [sorted(evaluations[0].metrics)] * 2)


def test_a_killed_compaction_is_not_seen_and_the_next_one_finishes(games, tmp_path) -> None:
    scored(games, tmp_path)
    corpus = Corpus(Location.of(str(tmp_path)))
    wanted, manifest = rows(tmp_path), tmp_path / "manifest.json"
    small = {path: path.read_bytes() for path in tmp_path.rglob("*.parquet")}
    corpus.compact()
    # As if it had been killed after the manifest was replaced: the small files are still there.
    done = manifest.read_text()
    for path, content in small.items():
        path.write_bytes(content)
    names = [str(path.relative_to(tmp_path)) for path in small if path.is_relative_to(tmp_path / "results")]
    manifest.write_text(done.replace('"replaced": []', f'"replaced": {names}'.replace("'", '"')))
    assert rows(tmp_path) == wanted
    # As if it had been killed before: the large file does not count.
    manifest.unlink()
    assert rows(tmp_path) == wanted
    corpus.compact()
    assert rows(tmp_path) == wanted


def test_an_empty_or_damaged_corpus_says_so(games, tmp_path) -> None:
    with pytest.raises(NotFoundError, match="There is no scored game"):
        compact_corpus(str(tmp_path))
    scored(games, tmp_path)
    damaged = sorted((tmp_path / "games").rglob("*.parquet"))[0]
    damaged.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(InfrastructureError, match=damaged.stem):
        compact_corpus(str(tmp_path))


@pytest.fixture
def object_store(monkeypatch) -> Iterator[str]:
    """A real S3 server on loopback."""
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "canary-key",
        "AWS_SECRET_ACCESS_KEY": "canary-secret",
        "no_proxy": "127.0.0.1",
    }.items():
        monkeypatch.setenv(name, value)
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until_open(port)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        opener.open(urllib.request.Request(f"http://127.0.0.1:{port}/corpora", method="PUT")).close()
        yield "s3://corpora"
    finally:
        server.kill()
        server.wait()


def test_games_and_scores_lie_in_an_object_store(games, alone, object_store, tmp_path) -> None:
    for path in games.iterdir():
        Location.of(f"{object_store}/games/{path.name}").write_bytes(path.read_bytes())
    tally, _ = scored(f"{object_store}/games", f"{object_store}/out", iteration="v1 / a")
    assert (tally.scored, tally.files.refused) == (GAMES, 0)
    tally, _ = scored(f"{object_store}/games", f"{object_store}/out", iteration="v1 / a")
    assert (tally.scored, tally.had) == (0, GAMES)
    assert compact_corpus(f"{object_store}/out") == GAMES
    assert rows(f"{object_store}/out") == rows(alone)
    with pytest.raises(NotFoundError) as refused:
        Location.of("s3://no-such-bucket/out").write_bytes(b"x")
    assert "canary" not in str(refused.value)


def test_memory_is_read_and_written_within_one_process(games, alone) -> None:
    for path in games.iterdir():
        Location.of(f"memory://games/{path.name}").write_bytes(path.read_bytes())
    scored("memory://games", "memory://out", iteration="v1 / a")
    assert rows("memory://out") == rows(alone)


def test_urls_with_secrets_or_unknown_schemes_are_refused_unseen() -> None:
    for url in ("s3://KEY:c4n4ry@bucket/p", "s3://bucket/p?secret_key=c4n4ry"):
        with pytest.raises(InputError) as refused:
            Location.of(url)
        assert "c4n4ry" not in str(refused.value)
    with pytest.raises(InputError, match="ftp"):
        Location.of("ftp://host/p")


CONCURRENCY = 3


def label(body: dict[str, Any]) -> str:
    """An answer that follows from the question: shallow or strategic."""
    text = str(body["messages"][-1]["content"])
    items = re.findall(r"^\[P(\d+)\] .*\[M(\d+)\]", text, re.MULTILINE)
    numbers = items or [("", re.findall(r"message \[M(\d+)\] strategic or shallow", text)[-1])]
    answers = [
        {"reason": "So it reads.", "label": ["shallow", "strategic"][int(number) % 2], "confidence": 0.9}
        | {"citations": [], "item": int(item or 0)}
        for item, number in numbers
    ]
    return json.dumps({"answers": answers} if items else answers[0])


def judged(
    output: Path | str, server: JudgeServer, max_calls: int | None = None, max_usd: float | None = None, **options: Any
) -> tuple[JudgingTally, Budget]:
    fields = {"mode": "live", "base_url": server.url, "model": "m", "concurrency": CONCURRENCY, "retries": 2}
    fields |= {"pricing": options.pop("pricing", None), "first_wait_seconds": 0.01}
    budget, tally = Budget(calls=max_calls, usd=max_usd), JudgingTally()
    config = judge_config({**fields, "max_calls": max_calls, "max_usd": max_usd}, environment={})
    for _ in judge_corpus(str(output), config, budget, tally, metrics=["strategic_depth"], **options):
        pass
    return tally, budget


def decisions(store: Store, output: Path | str) -> dict[tuple[str, str], tuple[str, str, str]]:
    """Verdict, label and key of every decided row, after collecting."""
    list(import_corpus(str(output), store, Collected()))
    ids = store.transcripts.ids(None)
    found = [one for each in ids for one in store.decisions.current(each)]
    return {(one.transcript_id, one.row_id): (one.verdict.value, one.label, one.key) for one in found}


@pytest.fixture(scope="module")
def corpus(games, tmp_path_factory) -> Path:
    """The first of the games scored, in three partitions."""
    output, some = tmp_path_factory.mktemp("to_judge") / "out", tmp_path_factory.mktemp("some")
    for path in sorted(games.iterdir())[:6]:
        shutil.copy(path, some)
    tally = CorpusTally(Tally(note=print))
    list(score_to_corpus([str(some)], str(output), tally, batch_size=2))
    return output


@pytest.fixture
def unjudged(corpus, tmp_path) -> Path:
    return Path(shutil.copytree(corpus, tmp_path / "corpus"))


def judged_by_database(output: Path, server: JudgeServer) -> tuple[dict[tuple[str, str], tuple[str, str, str]], int]:
    """What ``dramaturg judge`` decides in a database with the same games, and how many calls that takes."""
    store = Store(":memory:")
    list(import_corpus(str(output), store, Collected()))
    before = server.tally.asked.total()
    config = judge_config({"mode": "live", "base_url": server.url, "model": "m"}, environment={})
    judge = build_judge(config, cache=store.judgements)
    judge_stored(store, store.transcripts.ids(None), judge, metrics=["strategic_depth"])
    return decisions(store, output), server.tally.asked.total() - before


def test_workers_judge_a_corpus_as_one_process_judges_a_database(unjudged, cluster) -> None:
    with JudgeServer(content=label, latency_seconds=0.02).in_thread() as server:
        wanted, calls = judged_by_database(unjudged, server)
        server.tally.most_in_flight = 0
        tally, budget = judged(unjudged, server, engine=EngineName.DASK, scheduler=cluster)
        assert server.tally.most_in_flight <= CONCURRENCY
        assert (budget.calls_made, tally.transcripts, tally.decided) == (calls, 6, len(wanted))
        asked = server.tally.asked.total()
        assert judged(unjudged, server)[0].transcripts == 0
        assert server.tally.asked.total() == asked
    store = Store(":memory:")
    assert decisions(store, unjudged) == wanted
    # Collecting again, and of compacted files, adds nothing: no answer, no call, no decision.
    kept = store.llm_calls.usage().calls
    assert kept == calls
    compact_corpus(str(unjudged))
    assert len(list(unjudged.rglob("*.parquet"))) == 5
    assert decisions(store, unjudged) == decisions(Store(":memory:"), unjudged) == wanted
    assert store.llm_calls.usage().calls == kept
    with store.unit() as cursor:
        assert cursor.execute("SELECT count(*) FROM row_decisions").fetchone() == (len(wanted),)
    # What a person gave back stays so.
    ids = store.transcripts.ids(None)
    assert store.decisions.withdraw(ids[0], who="Ada") > 0
    assert {key[0] for key in decisions(store, unjudged)} == {*ids[1:]}


def test_a_budget_holds_over_all_workers_and_the_next_run_pays_for_the_rest_only(unjudged, cluster, tmp_path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("m: {input: 1.0, output: 1.0}\n")
    with JudgeServer(content=label, latency_seconds=0.02).in_thread() as server:
        wanted, calls = judged_by_database(unjudged, server)
        before = server.tally.asked.total()
        tally, budget = judged(unjudged, server, max_calls=10, engine=EngineName.DASK, scheduler=cluster)
        assert (server.tally.asked.total() - before, budget.calls_made) == (10, 10)
        assert tally.skipped > 0
        # A call sets aside some thousandths of a dollar, and costs less.
        _, budget = judged(unjudged, server, max_usd=0.05, pricing=prices, engine=EngineName.DASK, scheduler=cluster)
        assert 0 < budget.spent_usd <= 0.05
        tally, _ = judged(unjudged, server, jobs=1)
        assert (tally.skipped, tally.errors) == (0, 0)
        assert server.tally.asked.total() - before == calls
    assert decisions(Store(":memory:"), unjudged) == wanted


def test_an_estimate_counts_the_calls_that_are_left_and_the_answers_that_are_kept(unjudged) -> None:
    def estimated(server: JudgeServer) -> list[int]:
        config = judge_config({"mode": "live", "base_url": server.url, "model": "m"}, environment={})
        words = estimate_corpus(str(unjudged), config, metrics=["strategic_depth"], note=lambda _: None)
        return [int(number) for number in re.findall("([0-9]+) (?:question|of them answered|call)", words)]

    with JudgeServer(content=label).in_thread() as server:
        questions, calls = estimated(server)
        assert server.tally.asked.total() == 0
        judged(unjudged, server, max_calls=3)
        open_questions, known, calls_left = estimated(server)
        assert calls_left == calls - 3
        assert 0 < known < open_questions <= questions
        assert judged(unjudged, server)[1].calls_made == calls_left


def test_a_worker_that_is_killed_asks_again_for_what_was_under_way_only(unjudged, cluster) -> None:
    from distributed import Client

    with Client(cluster) as client:
        client.wait_for_workers(2)
        victims = [*client.run(os.getpid).values()]

    def kill_once(body: dict[str, Any], _: int) -> None:
        if server.tally.answered.total() - before >= 8 and victims:
            os.kill(victims.pop(), signal.SIGKILL)
            victims.clear()

    before = 0
    with JudgeServer(content=label, latency_seconds=0.1, misbehave=kill_once).in_thread() as server:
        before = 10**6
        wanted, calls = judged_by_database(unjudged, server)
        before, server.tally.most_in_flight = server.tally.asked.total(), 0
        judged(unjudged, server, engine=EngineName.DASK, scheduler=cluster)
        assert not victims
        # Beside what was under way, answers that came in the moment before and were not in a file yet.
        assert calls <= server.tally.asked.total() - before <= calls + 2 * CONCURRENCY
        # What the killed worker had asked, the server may still work on.
        assert server.tally.most_in_flight <= 2 * CONCURRENCY
    assert decisions(Store(":memory:"), unjudged) == wanted


def test_leases_of_a_process_that_is_gone_are_paid_and_given_back() -> None:
    """Two calls of at most 1 dollar each are under way when the process goes: 2 of 3 dollars are spent then."""
    budget = Budget(usd=3.0)
    leases = LocalLeases(budget, ServerState("m"), concurrency=2, timeout_seconds=5)

    async def take(address: LeaseAddress, count: int, ends: bool) -> None:
        remote = RemoteLeases(address, "m")
        async with remote.connected():
            for _ in range(count):
                lease = await remote.begin(LeaseTerms(1.0))
                assert not ends or await remote.end(lease, CallEnd.ANSWERED, 0.25)

    with LeaseServer({"m": leases}) as server:
        asyncio.run(take(server.address, 2, ends=False))
        asyncio.run(take(server.address, 1, ends=True))
        assert (budget.spent_usd, budget.calls_made) == (2.25, 3)
        with pytest.raises(BudgetSpentError):
            asyncio.run(take(server.address, 1, ends=True))
        assert not budget.is_over
        stranger = replace(server.address, token="a guess")
        with pytest.raises(InfrastructureError, match="is gone"):
            asyncio.run(take(stranger, 1, ends=True))
    with pytest.raises(InfrastructureError, match="cannot be reached"):
        asyncio.run(take(server.address, 1, ends=True))


def test_answers_of_one_partition_are_read_while_another_worker_joins_its_files(tmp_path) -> None:
    place = Location.of(str(tmp_path))
    answers = [KeptAnswer(f"{number}", "m", ({"label": "x"},), Prompt("s", "u", f"{number}")) for number in range(40)]
    writer, reader = JudgedPartition(place, "p"), JudgedPartition(place, "p")
    for one in answers[:20]:
        writer.keep([one])
    seen: list[int] = []
    is_over = threading.Event()

    def read() -> None:
        while not is_over.is_set():
            seen.append(len(reader.answers()[0]))

    thread = threading.Thread(target=read)
    thread.start()
    wait_until = time.monotonic() + WAIT_SECONDS
    while not seen:
        assert time.monotonic() < wait_until
    writer.finish([])
    for one in answers[20:]:
        writer.keep([one])
    writer.finish([])
    is_over.set()
    thread.join()
    assert sorted(reader.answers()[0], key=lambda one: int(one.key)) == answers
    assert min(seen) >= 20
    assert len(list((tmp_path / "answers").rglob("*.parquet"))) == 2


def test_a_scheduler_that_is_killed_is_named(dask, capfd) -> None:
    """The last test of this file: its cluster ends here. ``make test-faults`` runs the same command again after it."""
    tasks = ["1", *["__import__('time').sleep(60)"] * 3]
    common = {"split": lambda task: [task], "jobs": 1, "note": print}
    answers = run_on_cluster(eval_all, tasks, scheduler=dask.address, connect_seconds=0.5, **common)
    assert next(answers) == ("1", [1])
    dask.scheduler.kill()
    with pytest.raises(InfrastructureError, match="connection to the scheduler was lost") as lost:
        list(answers)
    assert dask.address in str(lost.value)
    assert "Traceback" not in capfd.readouterr().err


def test_a_call_that_is_too_dear_ends_no_budget_from_which_others_can_be_paid() -> None:
    budget = Budget(usd=1.0)
    leases = LocalLeases(budget, ServerState("m"), concurrency=2, timeout_seconds=5)

    async def pay(usd: float) -> None:
        await leases.end(await leases.begin(LeaseTerms(usd)), CallEnd.ANSWERED, usd)

    with pytest.raises(BudgetSpentError):
        asyncio.run(pay(2.0))
    assert not budget.is_over
    asyncio.run(pay(0.25))
    assert not budget.is_over
    asyncio.run(pay(0.75))
    assert budget.is_over
    assert not Budget(usd=0.0).is_over
    assert Budget(calls=0).is_over


@pytest.mark.parametrize("sent", [b"[]\n", b"5\n", b"[" * 60_000 + b"\n", b"\xff\n", b'{"token": 1}\n'])
def test_a_stranger_at_the_place_of_the_leases_gets_none_and_breaks_nothing(
    sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    leases = LocalLeases(Budget(), ServerState("m"), concurrency=1, timeout_seconds=5)
    with LeaseServer({"m": leases}) as server, socket.socket() as stranger:
        stranger.settimeout(10)
        stranger.connect((server.address.host, server.address.port))
        stranger.sendall(sent)
        assert stranger.recv(100) == b""
    assert caplog.records == []


def test_more_recordings_are_another_way_of_judging(tmp_path: Path) -> None:
    shipped = next(one for one in sorted(recording_root().glob("*.jsonl")))
    lines = shipped.read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "some.jsonl").write_text("".join(lines[:2]), "utf-8")
    (tmp_path / "turned.jsonl").write_text("".join(lines[1::-1]), "utf-8")
    (tmp_path / "more.jsonl").write_text("".join(lines[:3]), "utf-8")
    some, turned, more = (recordings_version(tmp_path / f"{name}.jsonl") for name in ("some", "turned", "more"))
    assert some == turned != more


def test_calls_that_lie_in_two_files_after_a_kill_are_counted_once(tmp_path: Path) -> None:
    store = Store(tmp_path / "calls.duckdb")
    call = CallRecord("rows", "m", 1, "answered", datetime(2026, 11, 23, 12, tzinfo=UTC), cost_usd=1.5)
    other = replace(call, started_at=datetime(2026, 11, 23, 13, tzinfo=UTC))
    store.llm_calls.add_new([call, other, call, other])
    store.llm_calls.add_new([other])
    assert (store.llm_calls.usage().calls, store.llm_calls.usage().cost_usd) == (2, 3.0)
    assert store.llm_calls.have(call)
    assert not store.llm_calls.have(replace(call, attempt=2))


def test_what_was_judged_of_a_partition_that_was_collected_meanwhile_is_noticed(unjudged) -> None:
    corpus = Corpus(Location.of(str(unjudged)))
    before, *_ = corpus.partitions()
    assert corpus.holds(before)
    compact_corpus(str(unjudged))
    assert not corpus.holds(before)
    assert all(map(corpus.holds, corpus.partitions()))
