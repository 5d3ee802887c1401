"""A whole experiment against the scripted server: ``python -m benchmarks.experiment``.

120 agent-sessions in 24 conversations (12 pairs of 5 agents), 10 steps, 200 ms for every answer, 20 calls at a time.
What latency and concurrency alone would take is calls x latency / concurrency; it is printed beside what was taken.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.memory import peak_mb
from benchmarks.table import Row, print_table
from evaluation.experiments.plan import ExperimentPlan
from evaluation.experiments.scenario import scenario_named
from evaluation.judging.judge_config import judge_config
from evaluation.judging.model_client.language_model import LLMClient
from evaluation.simulation.connection import BoundedProvider
from evaluation.simulation.environment import RoomPlan, TurnOrder, acting_order
from evaluation.simulation.model_texts import Writer
from evaluation.simulation.population.factory import AgentFactory
from evaluation.simulation.population.profiles import profile_named
from evaluation.simulation.scripted.provider import ScriptedProvider
from evaluation.simulation.scripted.world import SCRIPTED_MODEL, Effects, ScriptedWorld
from evaluation.store import Store
from evaluation.workflows.experiments.runs import run_experiment

LATENCY_SECONDS = 0.2
CONCURRENCY = 20
STEPS = 10
SCALE = 0.5
LONGEST_RATIO = 1.4
MOST_MB = 500.0
POPULATION = 60


@contextmanager
def served() -> Iterator[str]:
    """The address of the scripted server, in a process of its own."""
    code = (
        "import asyncio, sys\n"
        "from evaluation.simulation.scripted.server import ScriptedServer\n"
        "from evaluation.simulation.scripted.world import Effects, ScriptedWorld\n"
        "server = ScriptedServer(ScriptedWorld(Effects()).answer, latency_seconds=float(sys.argv[1]), port=0)\n"
        "asyncio.run(server.serve(lambda said: print(said, flush=True)))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(LATENCY_SECONDS)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def run(scale: float) -> list[Row]:
    """Runs it and measures."""
    plan = ExperimentPlan(
        scenario_named("debate-controversial"),
        SCRIPTED_MODEL,
        scale,
        steps=STEPS,
        is_batched=True,
        effects=Effects(),
    )
    with tempfile.TemporaryDirectory() as folder, served() as url:
        options = {"mode": "live", "model": SCRIPTED_MODEL, "base_url": url, "concurrency": CONCURRENCY}
        config = judge_config(options, environment={})
        store = Store(Path(folder) / "experiment.duckdb")
        # Importing litellm takes seconds once, however long the experiment.
        asyncio.run(_warmed_up(url))
        started, cpu = time.perf_counter(), time.process_time()
        outcome = run_experiment(store, plan, config)
        seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
        calls = int(store.llm_calls.usage().calls)
        store.close()
    assert len(outcome.rows) == 5
    design = plan.design
    bound = calls * LATENCY_SECONDS / CONCURRENCY
    sessions = f"{2 * design.agent_sessions} agent-sessions in {2 * len(design.rooms)} conversations, {STEPS} steps"
    return [
        Row(sessions, f"{calls:,} calls"),
        Row("latency and concurrency alone", f"{bound:.1f} s"),
        Row("taken, evaluation and storing included", f"{seconds:.1f} s"),
        Row.limited("taken / alone", seconds / bound, LONGEST_RATIO, ""),
        Row("processor time of this process", f"{cpu_seconds:.1f} s, {1000 * cpu_seconds / calls:.1f} ms a call"),
        Row.limited("largest resident memory", peak_mb(), MOST_MB, " MB", 0),
    ]


async def _warmed_up(url: str) -> None:
    from evaluation.judging.model_client.provider import provider_of

    client = LLMClient(provider_of(SCRIPTED_MODEL, url))
    await client.complete([{"role": "user", "content": "Are you there?"}])


def population(concurrency: int) -> str:
    """A population's personas as one text."""

    async def make() -> str:
        provider = BoundedProvider(ScriptedProvider(ScriptedWorld()), concurrency)
        factory = AgentFactory(Writer(LLMClient(provider)), profile_named("political-compass"))
        return json.dumps(await factory.make(POPULATION))

    return asyncio.run(make())


def sameness() -> list[Row]:
    """Whether the number of calls at a time changes a population or an order of acting."""
    is_same = population(1) == population(32)
    plan = RoomPlan("room", STEPS, TurnOrder.SEQUENTIAL_RANDOM, seed=7)
    turns = [[acting_order(plan, step, 5) for step in range(1, STEPS + 1)] for _ in range(2)]
    return [
        Row(
            f"population of {POPULATION} with 1 and with 32 calls at a time", "same" if is_same else "different", "same"
        ),
        Row("order of acting, drawn twice", "same" if turns[0] == turns[1] else "different", "same"),
    ]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.experiment", description=__doc__)
    parser.add_argument("--scale", type=float, default=SCALE, help="of the full debate; 1 is 240 agent-sessions")
    print_table([*run(parser.parse_args().scale), *sameness()])


if __name__ == "__main__":
    main()
