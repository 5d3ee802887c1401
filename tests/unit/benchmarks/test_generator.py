"""The invented games of the benchmarks: readable, all different, and the same for the same seed."""

from __future__ import annotations

from pathlib import Path

from benchmarks import generate
from evaluation.readers import read_path

COUNT = 40


def test_the_same_seed_gives_the_same_games_however_many_are_generated() -> None:
    assert list(generate.generate(3, seed=7)) == list(generate.generate(5, seed=7))[:3]


def test_written_games_are_read_as_native(tmp_path: Path) -> None:
    paths = generate.write(tmp_path, 10)
    results = read_path(tmp_path)
    assert [result.name for result in results] == [f"{tmp_path.name}/{path.name}" for path in sorted(paths)]
    assert {result.format for result in results} == {"native"}
    transcripts = [result.transcript for result in results if result.transcript is not None]
    assert len({transcript.id for transcript in transcripts}) == 10
    assert all(transcript.votes and transcript.cost is not None for transcript in transcripts)
