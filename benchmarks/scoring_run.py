"""Score games in one process and print how long it took, as JSON: ``python scoring_run.py JOBS PASSES PATH...``.

It imports nothing but ``evaluation``, from wherever ``PYTHONPATH`` leads: it measures other versions, too.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import evaluation
from evaluation import read_path
from evaluation.engines.scoring import evaluate_many

# Starting processes takes a second, which a few games would not outweigh.
_COPIES = {1: 1, 2: 8}


def _main(jobs: int, passes: int, *paths: str) -> None:
    games = [result.transcript for path in paths for result in read_path(Path(path)) if result.transcript is not None]
    # What loads at the first use belongs to no pass.
    list(evaluate_many([game.model_copy() for game in games]))
    seconds, cpu_seconds = [], []
    for _ in range(passes):
        # A prepared discussion is remembered by transcript, so each pass gets copies.
        copies = [game.model_copy() for game in games * _COPIES[jobs]]
        start, cpu_start = time.perf_counter(), time.process_time()
        failures = sum(len(one.failures) for one in evaluate_many(copies, jobs=jobs))
        seconds.append(time.perf_counter() - start)
        cpu_seconds.append(time.process_time() - cpu_start)
        if failures:
            raise SystemExit("A metric could not be computed.")
    messages = _COPIES[jobs] * sum(len(game.discussion) for game in games)
    found = {"messages": messages, "seconds": min(seconds), "cpu_seconds": min(cpu_seconds)}
    print(json.dumps(found | {"games": len(games), "package": evaluation.__file__}))


if __name__ == "__main__":
    _main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
