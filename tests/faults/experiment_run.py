"""An experiment in a process of its own, to be killed: ``python -m tests.faults.experiment_run DATABASE``.

Prints a line for every call to the model, as soon as it is made, and the report's rows at the end.
"""

import asyncio
import json
import sys
from typing import Any

from evaluation.experiments.experiment import ExperimentPlan, Scenario
from evaluation.files.bundled import parse_yaml
from evaluation.judging.model_client.calls import LLMResponse
from evaluation.simulation.scripted_world import SCRIPTED_MODEL, ScriptedProvider, ScriptedWorld
from evaluation.store import Store
from evaluation.text.display import json_data
from evaluation.workflows.studies import run_as_job

CONCURRENCY = 8
SCENARIO = """
title: Small talk
kind: debate
population: political-compass
agents: 6
environments: 2
steps: 2
treatment: {gate_adherence_enabled: true}
treatment_words: action correction
topics: [tea]
"""


class Telling(ScriptedProvider):
    """Takes a moment for every call and tells of it first."""

    async def complete(self, messages: Any, **options: Any) -> LLMResponse:
        print("call", flush=True)
        await asyncio.sleep(0.02)
        return await super().complete(messages, **options)


def main(database: str) -> None:
    """Runs it as a job."""
    plan = ExperimentPlan(Scenario(id="small", **parse_yaml(SCENARIO)), SCRIPTED_MODEL, effects=True)
    provider = Telling(ScriptedWorld())
    study = run_as_job(Store(database), plan, {"concurrency": CONCURRENCY}, provider=provider)
    print(json.dumps(json_data(study.result.comparisons)))


if __name__ == "__main__":
    main(*sys.argv[1:])
