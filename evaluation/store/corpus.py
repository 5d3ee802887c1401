"""Scored games in Parquet files below a folder or URL, a batch each: ``SCORING/HASH.parquet``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from evaluation.engines.scoring import ScoreFailure
from evaluation.errors import InfrastructureError
from evaluation.escaping import well_formed
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.store.result_rows import ResultRows, ScoredGame
from evaluation.store.transcript_rows import TranscriptRows, pack, unpack

if TYPE_CHECKING:
    from evaluation.engines.scoring import Evaluation
    from evaluation.files.locations import Location

_SCHEMA = pa.schema(
    [
        *[(name, pa.string()) for name in ("transcript_id", "source_name", "iteration", "scores")],
        ("document", pa.binary()),
    ]
)
_SUFFIX = ".parquet"
_LAYOUT = "rows 2"
"""Changes with what a file holds of a result."""


def scoring_key() -> str:
    """The hash of everything beside a game that decides its rows: layout, versions and thresholds of the metrics."""
    lines = [_LAYOUT, *(f"{name} {one.version} {float(one.threshold)!r}" for name, one in DEFINITIONS.items())]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


class Corpus:
    """The games below a location that this version of the metrics scored; those of others are not seen."""

    def __init__(self, location: Location) -> None:
        self._folder = location.below(scoring_key())

    def write(self, evaluations: Sequence[tuple[Evaluation, str]], iteration: str | None) -> None:
        """Writes a batch of games with the names of their files. The same games go to the same file again.

        Raises:
            InfrastructureError: The location cannot be written.
        """
        games = sorted(evaluations, key=lambda pair: pair[0].transcript.id)
        rows = [
            {
                "transcript_id": one.transcript.id,
                "source_name": well_formed(source_name),
                "iteration": iteration,
                "scores": _scores_text(ScoredGame.of(one.transcript.id, one.metrics, one.failures)),
                "document": pack(one.transcript),
            }
            for one, source_name in games
        ]
        name = hashlib.sha256("\n".join(one.transcript.id for one, _ in games).encode()).hexdigest()[:32]
        sink = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_pylist(rows, _SCHEMA), sink, compression="zstd", write_page_checksum=True)
        self._folder.below(f"{name}{_SUFFIX}").write_bytes(sink.getvalue().to_pybytes())

    def files(self) -> list[str]:
        """The names of its files, sorted."""
        return sorted(one for one in self._folder.files() if one.endswith(_SUFFIX))

    def scored_ids(self) -> dict[str, str | None]:
        """The ids of the games that are there, each with its iteration.

        Raises:
            InfrastructureError: A file is damaged.
        """
        return {
            transcript_id: iteration
            for name in self.files()
            for transcript_id, iteration in self._rows(name, ["transcript_id", "iteration"])
        }

    def read(self, name: str) -> Iterator[tuple[ScoredGame, str, str | None]]:
        """The games of a file, each with the name of the file that it comes from and its iteration.

        Raises:
            InfrastructureError: It is damaged.
        """
        for source_name, iteration, scores, document in self._rows(
            name, ["source_name", "iteration", "scores", "document"]
        ):
            transcript = TranscriptRows.of(unpack(document))
            yield replace(_scores(transcript.id, scores), transcript=transcript), source_name, iteration

    def _rows(self, name: str, columns: list[str]) -> Iterator[tuple[Any, ...]]:
        place = self._folder.below(name)
        content = pa.BufferReader(place.read_bytes())
        try:
            file = pq.ParquetFile(content, page_checksum_verification=True)
            if not file.schema_arrow.equals(_SCHEMA):
                raise ValueError("its columns are others")
            table = file.read(columns=columns)
            table.validate(full=True)
            return zip(*(table.column(column).to_pylist() for column in columns), strict=True)
        except (pa.ArrowException, KeyError, ValueError, OSError, MemoryError) as error:
            raise InfrastructureError(
                f"The file of the corpus cannot be read: {str(error).splitlines()[0]}.",
                place=place.url,
                remedy="Remove it and run the command again that wrote it: its games are the only ones lost.",
            ) from None


def _scores_text(scores: ScoredGame) -> str:
    results = [(one.values, list(one.ledger), one.digest, one.score, one.in_doubt) for one in scores.results]
    failures = [(one.metric, one.what, one.why, one.traceback) for one in scores.failures]
    return well_formed(json.dumps({"results": results, "tried": scores.tried, "failures": failures}))


def _scores(transcript_id: str, text: str) -> ScoredGame:
    held = json.loads(text)
    results = [ResultRows(transcript_id, *one) for one in held["results"]]
    failures = [ScoreFailure(*one) for one in held["failures"]]
    return ScoredGame(transcript_id, tuple(results), tuple(held["tried"]), tuple(failures))
