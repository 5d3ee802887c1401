"""Pack metric results into rows of plain values, which another process can send and the store takes as they are."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evaluation.rubric.controls import without_control
from evaluation.rubric.definitions import ENGAGEMENT
from evaluation.score import MetricResult
from evaluation.store.engine.bulk_rows import in_parts
from evaluation.store.results._result_rows import (
    LEDGER_COLUMNS,
    digest,
    ledger_row,
    ledger_values,
    metric_result,
    result_values,
)

if TYPE_CHECKING:
    from evaluation.engines.scoring import ScoreFailure

_ROWS_OF_PART = 1_000
"""A longer ledger is compressed, in parts of so many rows."""


@dataclass(frozen=True, slots=True)
class _LongLedger:
    """The rows of a long ledger, compressed to a tenth of the memory; iterating unpacks a thousand at a time."""

    parts: tuple[bytes, ...]

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for part in self.parts:
            yield from pickle.loads(zlib.decompress(part))


@dataclass(frozen=True, slots=True)
class PackedResult:
    """A result as column values, with the digest by which an equal one is recognised.

    Attributes:
        transcript_id: The transcript that it belongs to.
        values: The columns of ``metric_results`` without the ids.
        ledger: The rows of its ledger in order, each in the order of the ledger's columns. A long one is compressed;
            iterating unpacks it again.
        digest: Hexadecimal; the same for two results exactly when every column and every ledger row is the same.
    """

    transcript_id: str
    values: Mapping[str, Any]
    ledger: Iterable[tuple[Any, ...]]
    digest: str

    @classmethod
    def of(cls, transcript_id: str, result: MetricResult) -> PackedResult:
        """The result without its control, which is stored by itself."""
        bare = without_control(result)
        values = result_values(bare)
        rows = map(ledger_values, bare.ledger)
        if len(bare.ledger) <= _ROWS_OF_PART:
            ledger = list(rows)
            return cls(transcript_id, values, ledger, digest(values, [ledger]))
        parts: list[bytes] = []
        found = digest(values, _compressing(in_parts(rows, _ROWS_OF_PART), parts))
        return cls(transcript_id, values, _LongLedger(tuple(parts)), found)

    @staticmethod
    def is_stored(result: MetricResult) -> bool:
        """Whether the store keeps such a result: not engagement, which follows from the ratings."""
        return result.name != ENGAGEMENT.name

    @property
    def key(self) -> tuple[str, str, str]:
        """Transcript, metric and method: of the results with the same ones the latest is current."""
        return (self.transcript_id, self.values["metric"], self.values["method"])

    def own_row(self, result_id: int) -> dict[str, Any]:
        """The row of ``metric_results`` under that number."""
        return {**self.values, "result_id": result_id, "transcript_id": self.transcript_id, "digest": self.digest}

    def ledger_rows(self) -> Iterator[dict[str, Any]]:
        """The rows of the ledger by column, each with its metric and its position from 0."""
        for position, values in enumerate(self.ledger):
            columns = dict(zip(LEDGER_COLUMNS, values, strict=True))
            yield {"metric": self.values["metric"], "position": position, **columns}

    def unpack(self) -> MetricResult:
        """The result as it would be read from the store."""
        return metric_result(self.values, tuple([ledger_row(row) for row in self.ledger]))


def _compressing(lists: Iterable[list[tuple[Any, ...]]], parts: list[bytes]) -> Iterator[list[tuple[Any, ...]]]:
    """The same lists; each is also added to ``parts``, compressed."""
    for rows in lists:
        parts.append(zlib.compress(pickle.dumps(rows), level=1))
        yield rows


@dataclass(frozen=True, slots=True)
class PackedScores:
    """All that scoring a transcript gave, as the store takes it.

    Attributes:
        transcript_id: Which transcript.
        results: The results that are stored: all but engagement, which follows from the ratings.
        tried: The metrics that were computed or failed.
        failures: Those that failed.
    """

    transcript_id: str
    results: tuple[PackedResult, ...]
    tried: tuple[str, ...]
    failures: tuple[ScoreFailure, ...]

    @classmethod
    def of(
        cls, transcript_id: str, metrics: Mapping[str, MetricResult], failures: Sequence[ScoreFailure]
    ) -> PackedScores:
        """The results by metric and the failures, packed."""
        packed = [PackedResult.of(transcript_id, one) for one in metrics.values() if PackedResult.is_stored(one)]
        return cls.of_packed(transcript_id, packed, metrics, failures)

    @classmethod
    def of_packed(
        cls,
        transcript_id: str,
        results: Iterable[PackedResult],
        computed: Iterable[str],
        failures: Sequence[ScoreFailure],
    ) -> PackedScores:
        """Results that are packed already; ``computed`` are the metrics that did not fail."""
        tried = (*computed, *(failure.metric for failure in failures))
        return cls(transcript_id, tuple(results), tried, tuple(failures))
