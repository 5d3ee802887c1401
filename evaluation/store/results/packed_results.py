"""Pack metric results into rows of plain values, which another process can send and the store takes as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evaluation.rubric.controls import without_control
from evaluation.rubric.definitions import ENGAGEMENT
from evaluation.score import MetricResult
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


@dataclass(frozen=True, slots=True)
class PackedResult:
    """A result as column values, with the digest by which an equal one is recognised.

    Attributes:
        transcript_id: The transcript that it belongs to.
        values: The columns of ``metric_results`` without the ids.
        ledger: The rows of its ledger in order, each in the order of the ledger's columns.
        digest: Hexadecimal; the same for two results exactly when every column and every ledger row is the same.
    """

    transcript_id: str
    values: Mapping[str, Any]
    ledger: list[tuple[Any, ...]]
    digest: str

    @classmethod
    def of(cls, transcript_id: str, result: MetricResult) -> PackedResult:
        """The result without its control, which is stored by itself."""
        bare = without_control(result)
        values = result_values(bare)
        ledger = [ledger_values(row) for row in bare.ledger]
        return cls(transcript_id, values, ledger, digest(values, ledger))

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
        stored = [one for one in metrics.values() if one.name != ENGAGEMENT.name]
        packed = tuple([PackedResult.of(transcript_id, one) for one in stored])
        return cls(transcript_id, packed, (*metrics, *(failure.metric for failure in failures)), tuple(failures))
