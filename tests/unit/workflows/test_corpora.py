"""Games scored by one process and a Dask cluster: the same rows, whoever is killed meanwhile."""

import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from benchmarks.generate import write
from evaluation.engines.scoring import ScoreFailure, evaluate_many
from evaluation.engines.task_engines import run_on_cluster
from evaluation.errors import InfrastructureError, InputError, NotFoundError
from evaluation.files.locations import Location
from evaluation.readers import iter_paths
from evaluation.store import Store
from evaluation.store.corpus import Corpus, scoring_key
from evaluation.workflows.corpora import CorpusTally, import_corpus, score_to_corpus
from evaluation.workflows.scoring import Tally, score_games, store_games
from tests.dashboard_server import free_port
from tests.dask_cluster import DaskCluster, dask_cluster, wait_until_open

GAMES = 7
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


def scored(games: Path | str, output: Path | str, **options: object) -> CorpusTally:
    tally = CorpusTally(Tally(note=lambda _: None))
    for _ in score_to_corpus([str(games)], str(output), tally, batch_size=3, **options):  # type: ignore[arg-type]
        pass
    return tally


def rows(output: Path | str) -> dict[str, object]:
    """Every game with its scores, by id."""
    corpus = Corpus(Location.of(str(output)))
    games = [game for name in corpus.files() for game in corpus.read(name)]
    return {
        game.transcript_id: (iteration, game)
        for game, _, iteration in sorted(games, key=lambda one: one[0].transcript_id)
    }


def collect(output: Path, store: Store) -> Counter[str]:
    """Imports a corpus; what became of its games."""
    return sum(import_corpus(str(output), store), Counter())


@pytest.fixture(scope="module")
def alone(games, tmp_path_factory) -> Path:
    """The games scored by this process."""
    output = tmp_path_factory.mktemp("alone")
    tally = scored(games, output, iteration="v1 / a")
    assert (tally.scored, tally.had) == (GAMES, 0)
    return output


def test_one_process_and_dask_give_the_same_rows(games, alone, cluster, tmp_path) -> None:
    wanted = rows(alone)
    assert len(wanted) == GAMES
    scored(games, tmp_path / "dask", iteration="v1 / a", scheduler=cluster)
    assert rows(tmp_path / "dask") == wanted
    names = {folder: sorted(path.name for path in folder.rglob("*.parquet")) for folder in (alone, tmp_path / "dask")}
    assert names[alone] == names[tmp_path / "dask"]


def test_what_is_there_is_left_out_and_one_lost_partition_is_made_again(games, alone, tmp_path) -> None:
    output = shutil.copytree(alone, tmp_path / "out")
    lost = sorted(output.rglob("*.parquet"))[0]
    lost.unlink()
    (lost.parent / f"{lost.name}.0.tmp").write_bytes(b"half")
    tally = scored(games, output, iteration="v1 / a")
    assert tally.scored + tally.had == GAMES
    assert 0 < tally.scored <= 3
    assert rows(output) == rows(alone)


def test_a_name_that_no_database_takes_is_refused_before_anything_is_scored(games, tmp_path) -> None:
    with pytest.raises(InputError, match="cannot name an iteration"):
        scored(games, tmp_path / "out", iteration=" ")
    assert not (tmp_path / "out").exists()


def test_a_killed_worker_loses_nothing(cluster, tmp_path) -> None:
    """One worker process is killed by its task: the other tasks of its batch are done, and it alone is given up."""
    touched = tmp_path / "done"
    tasks = [f"{number}" for number in range(6)] + [f"7;{KILLS_ITSELF};open({str(touched)!r}, 'w').close()"]
    answers = list(run_on_cluster(eval_all, tasks, split=lambda task: task.split(";"), scheduler=cluster))
    assert dict(answers) == {
        **{f"{number}": [number] for number in range(6)},
        "7": [7],
        KILLS_ITSELF: None,
        f"open({str(touched)!r}, 'w').close()": [None],
    }
    assert touched.exists()


def eval_all(task: str) -> list[object]:
    return [eval(part) for part in task.split(";")]


@pytest.mark.long
def test_a_killed_client_is_followed_by_one_that_does_the_rest(games, alone, cluster, tmp_path) -> None:
    output = tmp_path / "out"
    command = [sys.executable, "-m", "evaluation.cli.main", "evaluate", str(games), "--output", str(output)]
    command += ["--scheduler", cluster, "--iteration", "v1 / a"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as client:
        until = time.monotonic() + WAIT_SECONDS
        while not list(output.rglob("*.parquet")) and client.poll() is None:
            assert time.monotonic() < until
        client.send_signal(signal.SIGKILL)
    scored(games, output, iteration="v1 / a", scheduler=cluster)
    assert len(Corpus(Location.of(str(output))).scored_ids()) == GAMES
    store = Store(":memory:")
    collected = collect(output, store)
    assert len(store.results.scores()) == GAMES * 7
    # The batches of the client that was killed may be there too, whole: no game is counted twice.
    assert collected["new"] == GAMES


def test_collecting_gives_the_database_what_importing_gives(games, alone, tmp_path) -> None:
    store, plain = Store(":memory:"), Store(":memory:")
    results = list(iter_paths([games]))
    transcripts = [result.transcript for result in results if result.transcript is not None]
    packed = [(game, "x") for game in score_games(transcripts, thresholds={})]
    store_games(plain, packed, iteration="v1 / a", updates_known=True)
    for new, known in ((GAMES, 0), (0, GAMES)):
        collected = collect(alone, store)
        assert (collected["new"], collected["known"]) == (new, known)
    assert store.results.metric_scores() == plain.results.metric_scores()
    for transcript in transcripts:
        assert store.transcripts.get(transcript.id) == transcript
        assert store.results.load(transcript.id) == plain.results.load(transcript.id)
    assert store.transcripts.introductions() == plain.transcripts.introductions()
    columns = "transcript_id, message_id, round, speaker, recipients, text, epoch_us(sent_at), metadata"
    query = f"SELECT {columns} FROM messages ORDER BY transcript_id, position"
    with store.unit() as cursor, plain.unit() as other:
        assert cursor.execute(query).fetchall() == other.execute(query).fetchall()


def test_failures_and_deletions_come_along(games, tmp_path) -> None:
    found = [result.transcript for result in iter_paths([games]) if result.transcript is not None]
    [whole, other] = evaluate_many(found[:2])
    metrics = {name: result for name, result in whole.metrics.items() if name != "coherence"}
    failed = replace(whole, metrics=metrics, failures=(ScoreFailure("coherence", "It failed.", "A test.", ""),))
    Corpus(Location.of(str(tmp_path))).write([(failed, "a.json"), (other, "b.json")], None)
    store = Store(":memory:")
    collect(tmp_path, store)
    assert [one.metric for one in store.results.failures(whole.transcript.id)] == ["coherence"]
    assert "coherence" not in store.results.load(whole.transcript.id)
    store.deletions.delete([other.transcript.id], who="Ann")
    collected = collect(tmp_path, store)
    assert tuple(collected[name] for name in ("new", "known", "deleted")) == (0, 1, 1)


def test_a_flipped_bit_is_noticed(alone, tmp_path) -> None:
    random, corpus = Random(3), Corpus(Location.of(str(tmp_path)))
    shutil.copytree(alone, tmp_path, dirs_exist_ok=True)
    name = corpus.files()[0]
    place, wanted = tmp_path / scoring_key() / name, list(corpus.read(name))
    content = place.read_bytes()
    refused = 0
    for _ in range(60):
        damaged = bytearray(content)
        damaged[random.randrange(len(damaged))] ^= 1 << random.randrange(8)
        place.write_bytes(bytes(damaged))
        try:
            assert list(corpus.read(name)) == wanted
        except InfrastructureError as error:
            refused += error.place == str(place)
    assert refused > 30


def test_a_corpus_that_is_empty_of_other_versions_of_the_metrics_or_damaged_says_so(games, alone, tmp_path) -> None:
    with pytest.raises(NotFoundError, match="no game that this version has scored"):
        collect(tmp_path, Store(":memory:"))
    shutil.copytree(alone / scoring_key(), tmp_path / "of another version")
    with pytest.raises(NotFoundError, match="no game that this version has scored"):
        collect(tmp_path, Store(":memory:"))
    assert scored(games, tmp_path).scored == GAMES
    damaged = sorted((tmp_path / scoring_key()).rglob("*.parquet"))[0]
    damaged.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(InfrastructureError, match=damaged.stem):
        collect(tmp_path, Store(":memory:"))


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
    tally = scored(f"{object_store}/games", f"{object_store}/out", iteration="v1 / a")
    assert (tally.scored, tally.files.refused) == (GAMES, 0)
    tally = scored(f"{object_store}/games", f"{object_store}/out", iteration="v1 / a")
    assert (tally.scored, tally.had) == (0, GAMES)
    assert rows(f"{object_store}/out") == rows(alone)
    with pytest.raises(NotFoundError) as refused:
        Location.of("s3://no-such-bucket/out").write_bytes(b"x")
    assert "canary" not in str(refused.value)


def test_urls_with_secrets_or_unknown_schemes_are_refused_unseen() -> None:
    for url in ("s3://KEY:c4n4ry@bucket/p", "s3://bucket/p?secret_key=c4n4ry"):
        with pytest.raises(InputError) as refused:
            Location.of(url)
        assert "c4n4ry" not in str(refused.value)
    with pytest.raises(InputError, match="ftp"):
        Location.of("ftp://host/p")


def test_a_scheduler_that_is_killed_is_named(dask, capfd) -> None:
    """The last test of this file: its cluster ends here. ``make test-long`` runs the same command again after it."""
    tasks = ["1", *["__import__('time').sleep(60)"] * 3]
    common = {"split": lambda task: [task]}
    answers = run_on_cluster(eval_all, tasks, scheduler=dask.address, connect_seconds=0.5, **common)
    assert next(answers) == ("1", [1])
    dask.scheduler.kill()
    with pytest.raises(InfrastructureError, match="connection to the scheduler was lost") as lost:
        list(answers)
    assert dask.address in str(lost.value)
    assert "Traceback" not in capfd.readouterr().err
