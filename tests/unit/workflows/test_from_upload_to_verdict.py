"""One sample of each format of traces and frameworks, from the upload to a verdict in the database."""

from __future__ import annotations

from pathlib import Path

import pytest

from dashboard.app_pages.games.found_games import Found
from evaluation.readers import Limits, read_uploads
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.store import Store
from evaluation.workflows.scoring import Tally, add_evaluated, current_evaluation, evaluate_paths
from tests.unit.readers.trace_samples import SAMPLES


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A database that all samples go into."""
    return Store(tmp_path_factory.mktemp("samples") / "games.duckdb")


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_uploaded_stored_and_scored(name: str, store: Store, tmp_path: Path) -> None:
    expected, data = SAMPLES[name]
    # What the page Games does with uploaded files.
    found = Found.of(read_uploads([("sample", data)], Limits()), [])
    assert [result.error for result in found.results] == [None] * len(found.results)
    assert {result.format for result in found.new} == {expected}
    result = found.new[0]
    added = add_evaluated(store, result.transcript, source_name=result.name)
    assert (added.is_new, added.failures) == (True, ())
    stored = store.transcripts.get(result.transcript.id)
    assert stored == result.transcript
    evaluation = current_evaluation(store, stored)
    assert set(evaluation.metrics) == set(DEFINITIONS)
    assert evaluation.verdict.reasons
    assert any(one.score is not None for one in evaluation.metrics.values())
    # What the command line does with the same file: every game of it is read, and this one is known.
    path = tmp_path / "sample"
    path.write_bytes(data)
    tally = Tally(note=lambda _: None)
    assert len(list(evaluate_paths([path], tally, store=store))) == len(found.results)
    assert (tally.refused, tally.known) == (0, 1)
