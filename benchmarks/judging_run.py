"""One run of judgements: ``python -m benchmarks.judging_run URL DATABASE alone|batch COUNT CONCURRENCY``, JSON out."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import asdict, dataclass

from benchmarks.memory import peak_mb
from evaluation.judging.judge_config import ChosenJudge, build_judge, judge_config
from evaluation.judging.protocol import JudgeRequest, Prompt, ScoreAnswer
from evaluation.store import Store

_BATCH = 10
_WARM_UP = 40
_SYSTEM = "You judge how true a claim about a conversation is, from 0 to 9. " * 8
_CONTEXT = "[M{number}] Ann: I would rather wait for the others before we decide anything about the harbour. "


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one run took.

    Attributes:
        judgements: How many were made or known.
        judging_seconds: Wall time of judging, after a warm-up.
        judging_cpu_seconds: Processor time of the same stretch.
        process_seconds: Processor time of the whole process, its start included.
        wall_seconds: Wall time since the process began.
        calls: Calls to the model, the warm-up left out.
        most_in_flight: The most calls that the server saw at the same time.
        has_litellm: Whether litellm was imported.
        peak_mb: Largest resident memory, in 10^6 bytes.
    """

    judgements: int
    judging_seconds: float
    judging_cpu_seconds: float
    process_seconds: float
    wall_seconds: float
    calls: int
    most_in_flight: int
    has_litellm: bool
    peak_mb: float


def requests(name: str, count: int, is_batched: bool) -> list[JudgeRequest]:
    """Questions about as many contexts as there are calls."""
    asked = []
    for number in range(count):
        context = number // _BATCH if is_batched else number
        said = "\n".join(_CONTEXT.format(number=line) for line in range(1, 6))
        prompt = Prompt(_SYSTEM, f"Conversation {name} {context}\n{said}", f"Claim {number}: Ann is patient.")
        group = f"{name}{context}" if is_batched else None
        subject = f"claim {number}"
        asked.append(JudgeRequest("adherence", subject, prompt, ScoreAnswer, "v1", {1: "m1"}, batch_group=group))
    return asked


async def measure(judge: ChosenJudge, asked: list[JudgeRequest], warm_up: list[JudgeRequest]) -> tuple[float, float]:
    """Wall and processor time of judging ``asked``.

    Raises:
        SystemExit: A judgement is missing.
    """
    async with judge.session():
        await judge.judge(warm_up)
        start, cpu_start = time.perf_counter(), time.process_time()
        judgements = await judge.judge(asked)
        seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    if not all(one.is_scored for one in judgements):
        raise SystemExit(next(one.detail for one in judgements if not one.is_scored))
    return seconds, cpu_seconds


def main(url: str, database: str, mode: str, count: str, concurrency: str) -> None:
    """Judges and prints the measurement."""
    config = judge_config({"base_url": url, "model": "local-model", "concurrency": int(concurrency)}, environment={})
    judge = build_judge(config, cache=Store(database).judgements)
    is_batched = mode == "batch"
    asked = requests("measured", int(count), is_batched)
    warm_up = requests("warm-up", _WARM_UP, is_batched)
    seconds, cpu_seconds = asyncio.run(measure(judge, asked, warm_up))
    calls = judge.budget.calls_made
    measurement = Measurement(
        judgements=len(asked),
        judging_seconds=seconds,
        judging_cpu_seconds=cpu_seconds,
        process_seconds=time.process_time(),
        wall_seconds=_seconds_since_start(),
        calls=calls,
        most_in_flight=_most_in_flight(url) if calls else 0,
        has_litellm="litellm" in sys.modules,
        peak_mb=peak_mb(),
    )
    print(json.dumps(asdict(measurement)))


def _most_in_flight(url: str) -> int:
    # Imported here: a warm re-run, whose start is measured, calls nothing.
    from urllib.request import urlopen

    with urlopen(f"{url}/tally") as answer:
        return int(json.load(answer)["most_in_flight"])


def _seconds_since_start() -> float:
    with open("/proc/self/stat", encoding="utf-8") as status:
        started_ticks = int(status.read().rpartition(")")[2].split()[19])
    with open("/proc/uptime", encoding="utf-8") as uptime:
        return float(uptime.read().split()[0]) - started_ticks / 100


if __name__ == "__main__":
    main(*sys.argv[1:])
