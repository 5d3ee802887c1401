"""A store of 1,000 games with 100,000 messages, and two long ones: what pages are measured on.

``python -m benchmarks.big_store FILE`` makes the store to look at; it takes some minutes.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random

from benchmarks import generate
from evaluation.engines.scoring import Evaluation, evaluate_many
from evaluation.ratings import Rating
from evaluation.readers import read_uploads
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.store import Store
from evaluation.transcript import Transcript

GAMES = 1_000
ITERATIONS = 20
ROUNDS = 5
LONG = {500: 5, 5_000: 50}
"""About how many messages the long games have, and how many times as fast they are talked as the others."""

_COPIED = {
    "transcripts": ", nextval('transcript_numbers') AS position",
    "players": "",
    "messages": "",
    "metric_results": ", nextval('result_numbers') AS result_id",
    "controls": ", nextval('control_numbers') AS control_id",
}
"""Tables with what else is another one in a copy than in the original."""

_BATCH = 50
_RATED = 300


def build(path: Path, copies: int = 1) -> dict[int, str]:
    """Fills a new database with scored games in iterations, and some ratings.

    Args:
        path: Where to.
        copies: How many times each game stands in it.

    Returns:
        The ids of the long games, by about how many messages they have.
    """
    store = Store(path)
    names = [f"Prompt {number}" for number in range(1, ITERATIONS + 1)]
    for number, name in enumerate(names):
        target = list(DEFINITIONS)[number % len(DEFINITIONS)]
        store.iterations.create(name, parent=names[number - 1] if number else None, target_metric=target)
    store.iterations.promote(names[0])
    jobs = os.cpu_count() or 1
    ids = []
    evaluations = evaluate_many(_games(GAMES), jobs=jobs)
    while batch := list(islice(evaluations, _BATCH)):
        ids += _keep(store, batch, names[len(ids) * ITERATIONS // GAMES])
        print(f"{len(ids):,} of {GAMES:,} games stored", file=sys.stderr, flush=True)
    _rate(store, ids)
    store.close()
    multiply(path, copies)
    long = {}
    for messages, pace in LONG.items():
        (long[messages],) = _keep(store, list(evaluate_many(_games(1, pace))), names[-1])
    store.close()
    return long


def long_games(path: Path) -> dict[int, str]:
    """The ids of the long games in a database that ``build`` made, by about how many messages they have."""
    store = Store(path)
    summaries = store.transcripts.summaries().tail(len(LONG))
    store.close()
    return dict(zip(LONG, summaries["transcript_id"], strict=True))


def multiply(path: Path, times: int) -> None:
    """Stores every game that often, under other ids, with its results, ledger and controls: scoring takes longer."""
    store = Store(path)
    with store.unit() as cursor:
        originals = [key for (key,) in cursor.execute("SELECT transcript_id FROM transcripts").fetchall()]
    for number in range(1, times):
        with store.unit(write=True) as cursor:
            for table, others in _COPIED.items():
                cursor.execute(
                    f"""INSERT INTO {table} BY NAME
                    SELECT * REPLACE (sha256(concat(transcript_id, ' {number}')) AS transcript_id{others})
                    FROM {table} WHERE transcript_id IN (SELECT unnest(?::text[]))""",
                    [originals],
                )
            cursor.execute(_COPY_LEDGER, [f" {number}", originals])
        if number % 10 == 0:
            print(f"{number * len(originals):,} copies stored", file=sys.stderr, flush=True)
    store.close()


_COPY_LEDGER = """
INSERT INTO ledger BY NAME
SELECT l.* REPLACE (copy.result_id AS result_id)
FROM metric_results copy
JOIN metric_results original
    ON copy.transcript_id = sha256(concat(original.transcript_id, ?)) AND copy.metric = original.metric
JOIN ledger l ON l.result_id = original.result_id
WHERE original.transcript_id IN (SELECT unnest(?::text[]))
ORDER BY copy.result_id, l.position
"""


def _games(count: int, pace: int = 1) -> Iterator[Transcript]:
    # Another pace gets another seed, so that no game holds another's messages.
    for document in generate.generate(count, seed=pace, rounds=ROUNDS, pace=pace):
        (result,) = read_uploads([("generated.json", json.dumps(document).encode())])
        assert result.transcript is not None
        yield result.transcript


def _keep(store: Store, batch: Sequence[Evaluation], iteration: str) -> list[str]:
    with store.unit(write=True):
        store.transcripts.add_many([(one.transcript, "generated.json") for one in batch], iteration=iteration)
        store.results.save(batch)
    return [one.transcript.id for one in batch]


def _rate(store: Store, ids: list[str]) -> None:
    rng = Random(1)
    with store.unit(write=True):
        for transcript_id in rng.sample(ids, _RATED):
            for rater in ("Ada", "Grace"):
                store.ratings.add(Rating(transcript_id, rater, rng.randint(1, 5)))


if __name__ == "__main__":
    for about, transcript_id in build(Path(sys.argv[1])).items():
        print(f"{transcript_id}  about {about:,} messages")
