"""The collector rests while a transcript is scored, and never stays off."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from benchmarks.labelled_games import load_games
from evaluation.engines.scoring import SCORERS, add_controls, evaluate_transcript
from evaluation.engines.task_engines import collection_paused
from evaluation.score import MetricResult
from evaluation.transcript import Transcript

_, GAME = load_games()[0]


@pytest.fixture(autouse=True)
def _collector_on() -> Iterator[None]:
    gc.enable()
    yield
    gc.enable()


def test_it_rests_while_scorers_run_and_works_again_afterwards() -> None:
    seen: list[bool] = []

    def watching(transcript: Transcript, *, threshold: float | None = None) -> MetricResult:
        seen.append(gc.isenabled())
        return SCORERS["coherence"](transcript, threshold=threshold)

    found = evaluate_transcript(GAME, scorers=dict(SCORERS) | {"coherence": watching})
    assert (seen, gc.isenabled()) == ([False], True)
    add_controls(GAME, found.metrics)
    assert gc.isenabled()


def test_blocks_of_several_threads_leave_it_on() -> None:
    barrier = Barrier(4)

    def pause(_number: int) -> None:
        barrier.wait()
        for _ in range(200):
            with collection_paused():
                pass

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(pause, range(4)))
    assert gc.isenabled()
