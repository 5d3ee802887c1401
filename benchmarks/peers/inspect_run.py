"""Judges with Inspect, in its own environment: ``python inspect_run.py URL COUNT CONCURRENCY`` prints judgements/s."""

from __future__ import annotations

import os
import sys
import tempfile
import time

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import model_graded_qa
from inspect_ai.solver import Generate, TaskState, solver


@solver
def nothing():
    """Leaves the state as it is: only the judge is to be called."""

    async def solve(state: TaskState, _: Generate) -> TaskState:
        return state

    return solve


def main(url: str, count: str, concurrency: str) -> None:
    """Grades ``count`` samples, one call each."""
    os.environ |= {"LOCAL_API_KEY": "none", "LOCAL_BASE_URL": url}
    judge = get_model("openai-api/local/local-model")
    samples = [Sample(input=f"Claim {number}: Ann is patient.", target="true") for number in range(int(count))]
    task = Task(dataset=samples, solver=nothing(), scorer=model_graded_qa(model=judge))
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        eval(task, model=judge, max_connections=int(concurrency), display="none", log_dir=folder)
        print(int(count) / (time.perf_counter() - start))


if __name__ == "__main__":
    main(*sys.argv[1:])
