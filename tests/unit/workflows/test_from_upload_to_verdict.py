"""One sample of each format of traces and frameworks, from the file to a verdict in the database."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.rubric.definitions import DEFINITIONS
from evaluation.store import Store
from evaluation.workflows.scoring import Tally, current_evaluation, evaluate_paths
from tests.unit.readers.trace_samples import SAMPLES


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_read_stored_and_scored(name: str, store: Store, tmp_path: Path) -> None:
    path = tmp_path / "sample"
    path.write_bytes(SAMPLES[name][1])
    tally = Tally(note=lambda _: None)
    found = list(evaluate_paths([path], tally, store=store))
    assert (tally.refused, tally.new) == (0, len(found))
    for one in found:
        evaluation = current_evaluation(store, store.transcripts.get(one.transcript.id))
        assert set(evaluation.metrics) == set(DEFINITIONS)
        assert evaluation.verdict.reasons
