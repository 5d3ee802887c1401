"""Scoring in one process and in a pool."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from evaluation.engines.scoring import SCORERS, evaluate_many, evaluate_transcript
from evaluation.errors import InfrastructureError
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.verdict import VerdictStatus
from evaluation.score import MetricResult
from evaluation.transcript import Cost, Transcript
from tests.games import game_of


def game(number: int = 0, **fields: Any) -> Transcript:
    argued = f"I think number {number} is suspicious, because it hides."
    return game_of([("Ann", argued), ("Ben", "Good point.", {"reply_to": "m0"})], game_id=f"g{number}", **fields)


def fail(transcript: Transcript, *, threshold: float | None = None) -> MetricResult:
    raise ZeroDivisionError(f"no luck with {transcript.game_id}")


def die(transcript: Transcript, *, threshold: float | None = None) -> MetricResult:
    os._exit(9)


def test_the_cost_enters_the_verdict() -> None:
    evaluation = evaluate_transcript(game(cost=Cost(total_usd=3.5)))
    assert evaluation.verdict.status is VerdictStatus.FAILED
    assert evaluation.verdict.reasons[0] == "The cost of 3.50 USD is above the limit of 3.00 USD."


def test_a_failing_scorer_becomes_a_row_and_the_others_go_on() -> None:
    evaluation = evaluate_transcript(game(), scorers={**SCORERS, "coherence": fail})
    [failure] = evaluation.failures
    assert (failure.metric, failure.what) == ("coherence", "Conversation coherence could not be computed.")
    assert failure.why == "ZeroDivisionError: no luck with g0"
    assert "in fail" in failure.traceback
    assert list(evaluation.metrics) == [name for name in DEFINITIONS if name != "coherence"]
    assert "Conversation coherence could not be computed." in evaluation.verdict.reasons


def test_the_output_keeps_a_place_for_what_could_not_be_computed() -> None:
    broken = evaluate_transcript(game(), (), {"coherence": 55.0}, scorers={**SCORERS, "coherence": fail})
    output = broken.as_dict()
    assert list(output["metrics"]) == list(DEFINITIONS)
    place = output["metrics"]["coherence"]
    assert (place["status"], place["score"], place["threshold"], place["ledger"]) == ("pending", None, 55.0, [])
    assert (place["numerator"], place["denominator"]) == (0.0, 0.0)
    assert place["reason"] == "could not be computed: ZeroDivisionError: no luck with g0"
    assert place.keys() == output["metrics"]["engagement"].keys()
    # What users are told holds no traceback.
    assert [one.keys() for one in output["failures"]] == [{"metric", "what", "why"}]


def test_what_is_no_fault_of_a_scorer_propagates() -> None:
    def interrupt(transcript: Transcript, *, threshold: float | None = None) -> MetricResult:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate_transcript(game(), scorers={**SCORERS, "coherence": interrupt})


def test_the_head_of_the_output_counts_messages_and_an_unknown_cost_is_null() -> None:
    def head(**fields: Any) -> Any:
        return evaluate_transcript(game(**fields)).as_dict()["transcript"]

    shown = head()
    assert (shown["messages"], shown["public_messages"], shown["players"]) == (2, 2, ["Ann", "Ben"])
    assert shown["cost"] is head(cost=Cost(total_usd=0.0, input_tokens=0))["cost"] is None
    unknown = dict.fromkeys(("input_tokens", "cached_tokens", "output_tokens", "cache_hit_rate"))
    assert head(cost=Cost(total_usd=0.5))["cost"] == {"total_usd": 0.5} | unknown


@pytest.mark.parametrize("jobs", [1, 2])
def test_many_give_the_same_as_one_by_one_in_their_order_failures_too(jobs: int) -> None:
    games, options = [game(number) for number in range(7)], {"scorers": {**SCORERS, "coherence": fail}}
    single = [evaluate_transcript(one, thresholds={"coherence": 10.0}, **options) for one in games]
    many = list(evaluate_many(games, jobs=jobs, batch_size=2, thresholds={"coherence": 10.0}, **options))
    assert [each.as_dict() for each in many] == [each.as_dict() for each in single]
    assert [[failure.metric for failure in each.failures] for each in many] == [["coherence"]] * 7


@pytest.mark.parametrize(("jobs", "read_ahead"), [(1, 1), (2, 8)])
def test_only_as_many_transcripts_are_read_as_are_needed(jobs: int, read_ahead: int) -> None:
    read = 0

    def endless() -> Iterator[Transcript]:
        nonlocal read
        while True:
            read += 1
            yield game(read)

    results = evaluate_many(endless(), jobs=jobs, batch_size=2)
    next(results)
    # With 2 processes: 2 batches in flight for each, of 2 transcripts.
    assert read <= read_ahead
    results.close()


def test_a_process_that_dies_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(InfrastructureError, match="fewer jobs"):
        list(evaluate_many([game()], jobs=2, scorers={**SCORERS, "coherence": die}))


# Answers the process ids of the workers, then waits until it is ended.
PARENT = """
import os, time
from itertools import count
from evaluation.engines.task_engines import map_tasks

def number_of(_task):
    return os.getpid()

if __name__ == "__main__":
    answers = map_tasks(number_of, count(), jobs=2)
    print(*{next(answers)[1] for _ in range(20)}, flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_no_process_outlives_its_parent(tmp_path, how: signal.Signals) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT, encoding="utf-8")
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as parent:
        workers = [psutil.Process(int(number)) for number in parent.stdout.readline().split()]
        assert workers
        parent.send_signal(how)
    _, alive = psutil.wait_procs(workers, timeout=20)
    assert alive == []
