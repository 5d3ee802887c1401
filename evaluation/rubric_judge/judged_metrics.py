"""Select the rows that a judge decides, metric by metric, and translate its labels into verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from evaluation.rubric.definitions import COHERENCE, MEMORY_ACCURACY, ROLE_CONSISTENCY, STRATEGIC_DEPTH
from evaluation.rubric_judge import _prompts
from evaluation.score import LedgerRow, Method, MetricResult, RowVerdict


@dataclass(frozen=True, slots=True)
class MetricTask:
    """The questions to a judge about the rows of one metric.

    Attributes:
        system: The prompt's unchanging part.
        labels: What each label makes of the row.
        uncited: Labels that need no cited message; any other without one is not taken.
        before: How many messages before the first row of a batch the judge sees.
        question: Asked of one message; ``{number}`` is its number.
        shows_record: Whether votes and eliminations are shown.
        shows_sides: Whether every player's true side is shown.
    """

    system: str
    labels: Mapping[str, RowVerdict]
    uncited: frozenset[str]
    before: int
    question: str
    shows_record: bool = False
    shows_sides: bool = False


TASKS: Mapping[str, MetricTask] = MappingProxyType(
    {
        MEMORY_ACCURACY.name: MetricTask(
            _prompts.MEMORY_SYSTEM,
            {
                "accurate": RowVerdict.COUNTS,
                "inaccurate": RowVerdict.DOES_NOT_COUNT,
                "unverified": RowVerdict.EXCLUDED,
            },
            uncited=frozenset({"unverified"}),
            before=60,
            question="Is the reference to the past in message [M{number}] accurate, inaccurate or unverified?",
            shows_record=True,
        ),
        STRATEGIC_DEPTH.name: MetricTask(
            _prompts.DEPTH_SYSTEM,
            {"strategic": RowVerdict.COUNTS, "shallow": RowVerdict.DOES_NOT_COUNT},
            uncited=frozenset({"strategic", "shallow"}),
            before=3,
            question="Is message [M{number}] strategic or shallow?",
        ),
        COHERENCE.name: MetricTask(
            _prompts.COHERENCE_SYSTEM,
            {"responds": RowVerdict.COUNTS, "ignores": RowVerdict.DOES_NOT_COUNT},
            uncited=frozenset({"ignores"}),
            before=6,
            question="Does message [M{number}] respond to what was said before it: responds or ignores?",
        ),
        ROLE_CONSISTENCY.name: MetricTask(
            _prompts.ROLE_SYSTEM,
            {
                "consistent": RowVerdict.COUNTS,
                "inconsistent": RowVerdict.DOES_NOT_COUNT,
                "no_signal": RowVerdict.EXCLUDED,
            },
            uncited=frozenset({"consistent", "inconsistent", "no_signal"}),
            before=6,
            question="Is message [M{number}] consistent or inconsistent with its speaker's side, or has it no_signal?",
            shows_sides=True,
        ),
    }
)
"""The metrics whose rows a judge may decide, where the rubric asks for judgement; in the rubric's order."""


def rows_to_judge(result: MetricResult) -> Sequence[LedgerRow]:
    """The rows that a judge is asked about, in the ledger's order; none for a metric without a task.

    Memory accuracy: the references that the record could not settle. Strategic depth: all, for the rubric's override
    works both ways. Coherence: all but the first message. Role consistency: all whose speaker's side is known. Rows
    that a person decided are left alone; those that a judge decided are asked again, from its cache.
    """
    if result.name not in TASKS:
        return []
    open_rows = [row for row in result.ledger if row.message_id and row.method is not Method.HUMAN]
    return [row for row in open_rows if _is_asked(result, row)]


def _is_asked(result: MetricResult, row: LedgerRow) -> bool:
    if result.name == MEMORY_ACCURACY.name:
        return row.method is Method.JUDGE or row.verdict is RowVerdict.EXCLUDED
    if result.name == COHERENCE.name:
        return row.id != result.ledger[0].id
    if result.name == ROLE_CONSISTENCY.name:
        return row.details.get("alignment") is not None
    return True
