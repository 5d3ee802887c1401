"""Judges with DeepEval, in its own environment: ``python deepeval_run.py URL COUNT CONCURRENCY``: judgements/s."""

from __future__ import annotations

import contextlib
import os
import sys
import time

os.environ |= {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "DEEPEVAL_NO_INSPECT_PROMPT": "1",
    "DEEPEVAL_UPDATE_WARNING_OPT_OUT": "YES",
}

from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import GEval
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase, LLMTestCaseParams
from openai import AsyncOpenAI


class LocalModel(DeepEvalBaseLLM):
    """Asks the local server."""

    def __init__(self, url: str) -> None:
        self._client = AsyncOpenAI(base_url=url, api_key="none")
        super().__init__("local-model")

    def load_model(self, *_, **__):
        """Nothing needs to be loaded."""
        return self._client

    def generate(self, *_, **__) -> str:
        """Is not called: the run is asynchronous."""
        raise NotImplementedError

    async def a_generate(self, prompt: str, *_, **__) -> str:
        """The server's answer."""
        answer = await self._client.chat.completions.create(
            model="local-model", messages=[{"role": "user", "content": prompt}]
        )
        return answer.choices[0].message.content or ""

    def get_model_name(self, *_, **__) -> str:
        """As it stands in reports."""
        return "local-model"


def main(url: str, count: str, concurrency: str) -> None:
    """Grades ``count`` cases, one call each."""
    metric = GEval(
        name="patience",
        evaluation_steps=["Judge how true it is that Ann is patient."],
        evaluation_params=[LLMTestCaseParams.INPUT, LLMTestCaseParams.ACTUAL_OUTPUT],
        model=LocalModel(url),
    )
    cases = [LLMTestCase(input=f"Claim {number}", actual_output="I would rather wait.") for number in range(int(count))]
    start = time.perf_counter()
    with contextlib.redirect_stdout(sys.stderr):
        evaluate(
            cases,
            [metric],
            async_config=AsyncConfig(max_concurrent=int(concurrency)),
            display_config=DisplayConfig(show_indicator=False, print_results=False, inspect_after_run=False),
            cache_config=CacheConfig(write_cache=False),
        )
    print(int(count) / (time.perf_counter() - start))


if __name__ == "__main__":
    main(*sys.argv[1:])
