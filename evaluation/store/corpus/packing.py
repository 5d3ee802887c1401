"""Pack scored games as the three tables of a partition: games, ledger and results."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from evaluation.escaping import well_formed
from evaluation.rubric.definitions import DEFAULT_THRESHOLDS, DEFINITIONS
from evaluation.store.games.transcript_rows import PackedTranscript
from evaluation.store.results.packed_results import PackedScores

if TYPE_CHECKING:
    from evaluation.engines.scoring import Evaluation

_TIME = pa.timestamp("us", tz="UTC")
_PLACE = [("position", pa.int32())]


def _texts(names: str) -> list[tuple[str, pa.DataType]]:
    return [(name, pa.string()) for name in names.split()]


CHILDREN: Mapping[str, pa.DataType] = {
    "players": pa.struct(
        [
            *_PLACE,
            *_texts("name role alignment personality persona model"),
            ("is_human", pa.bool_()),
            ("is_alive", pa.bool_()),
            ("metadata", pa.string()),
        ]
    ),
    "messages": pa.struct(
        [
            *_PLACE,
            ("message_id", pa.string()),
            ("round", pa.int32()),
            *_texts("phase channel channel_name speaker"),
            ("recipients", pa.list_(pa.string())),
            ("text", pa.string()),
            ("sent_at", _TIME),
            ("reply_to", pa.string()),
            ("is_control", pa.bool_()),
            ("metadata", pa.string()),
        ]
    ),
    "votes": pa.struct(
        [*_PLACE, ("round", pa.int32()), *_texts("phase voter target justification"), ("sent_at", _TIME)]
    ),
    "eliminations": pa.struct([*_PLACE, ("round", pa.int32()), *_texts("phase player role"), ("sent_at", _TIME)]),
}
"""The tables below a transcript, each a list in its row of ``games``, by the table's name in the store."""

CHILD_SUFFIX = "_rows"
FAILURES = "failures"

GAMES = pa.schema(
    [
        *_texts("transcript_id game_id source_format source_name iteration language"),
        ("started_at", _TIME),
        ("winner", pa.string()),
        ("players", pa.int32()),
        ("messages", pa.int32()),
        ("total_usd", pa.float64()),
        ("input_tokens", pa.int64()),
        ("cached_tokens", pa.int64()),
        ("output_tokens", pa.int64()),
        ("cache_hit_rate", pa.float64()),
        ("document", pa.binary()),
        *[(f"{name}{CHILD_SUFFIX}", pa.list_(kind)) for name, kind in CHILDREN.items()],
        (FAILURES, pa.list_(pa.struct(_texts("scorer subject reason traceback")))),
        ("scoring", pa.string()),
    ]
)

RESULTS = pa.schema(
    [
        *_texts("transcript_id iteration metric version method status"),
        ("score", pa.float64()),
        ("numerator", pa.float64()),
        ("denominator", pa.float64()),
        ("threshold", pa.float64()),
        ("reason", pa.string()),
        ("notes", pa.list_(pa.string())),
        *_texts("details control digest scoring"),
        ("scored_at", _TIME),
    ]
)

LEDGER = pa.schema(
    [
        *_texts("transcript_id metric scoring"),
        ("position", pa.int32()),
        *_texts("row_id kind verdict message_id player"),
        ("numerator", pa.float64()),
        ("denominator", pa.float64()),
        *_texts("method reason evidence refers_to details"),
    ]
)


def scoring_key(thresholds: Mapping[str, float] | None = None) -> str:
    """The hash of everything beside a game that decides its scores: the metrics' versions and the thresholds.

    Args:
        thresholds: By metric; the rubric's where one is left out.
    """
    limits = {**DEFAULT_THRESHOLDS, **(thresholds or {})}
    lines = [f"{name} {definition.version} {float(limits[name])!r}" for name, definition in DEFINITIONS.items()]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def partition_name(scoring: str, transcript_ids: Iterable[str]) -> str:
    """The name of the partition that holds these games scored so: the same for the same games, in whatever order."""
    return hashlib.sha256("\n".join([scoring, *sorted(transcript_ids)]).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class PartitionTables:
    """The rows of one partition, sorted by transcript id.

    Attributes:
        games: One row per game, the tables below it as lists (``players_rows`` ...); columns of ``GAMES``.
        ledger: One row per ledger row, by game, metric and position; columns of ``LEDGER``.
        results: One row per game and metric; columns of ``RESULTS``.
    """

    games: pa.Table
    ledger: pa.Table
    results: pa.Table


def pack(evaluations: Sequence[tuple[Evaluation, str]], *, iteration: str | None, scoring: str) -> PartitionTables:
    """The tables of a partition.

    Args:
        evaluations: Scored games, each with the name of the file that it comes from.
        iteration: The iteration that they belong to; ``None`` for none.
        scoring: The ``scoring_key`` that they were scored by.
    """
    games: list[dict[str, Any]] = []
    ledger: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    scored_at = datetime.now(UTC)
    for evaluation, source_name in sorted(evaluations, key=lambda pair: pair[0].transcript.id):
        packed = PackedTranscript.of(evaluation.transcript)
        scores = PackedScores.of(packed.id, evaluation.metrics, evaluation.failures)
        key = {"transcript_id": packed.id, "scoring": scoring}
        failures = [
            {
                "scorer": failure.metric,
                "subject": well_formed(failure.what),
                "reason": well_formed(failure.why),
                "traceback": well_formed(failure.traceback),
            }
            for failure in scores.failures
        ]
        about = {"source_name": well_formed(source_name), "iteration": iteration, FAILURES: failures}
        lists = {f"{table}{CHILD_SUFFIX}": rows for table, rows in packed.children.items()}
        games.append({**packed.own, **lists, **about, **key})
        for one in scores.results:
            results.append({**one.values, **key, "digest": one.digest, "iteration": iteration, "scored_at": scored_at})
            ledger += [row | key for row in one.ledger_rows()]
    return PartitionTables(
        pa.Table.from_pylist(games, GAMES),
        pa.Table.from_pylist(ledger, LEDGER),
        pa.Table.from_pylist(results, RESULTS),
    )
