"""``assert_rubric``: assert that a discussion passes the rubric."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from evaluation.engines.scoring import Evaluation, evaluate_transcript
from evaluation.errors import InputError
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.wording import score_words
from evaluation.score import LedgerRow, MetricResult, RowVerdict, Status
from evaluation.testing._files import Place, the_transcript
from evaluation.transcript import Transcript

_MOST_SHOWN = 5
_LONGEST_SHOWN = 200


def assert_rubric(
    transcript: Transcript | Place, *, metrics: Sequence[str] = (), at_least: Mapping[str, float] | None = None
) -> Evaluation:
    """The discussion's evaluation; fails unless it passes the rubric's metrics.

    Args:
        transcript: The discussion, or the file of one.
        metrics: Which ones must pass, by the rubric's thresholds; every one that has a score when left out.
        at_least: Thresholds of your own by metric, on its scale; these metrics must pass, too.

    Raises:
        AssertionError: A metric fails, or one that was named has no score.
        InputError: A metric is unknown, or the file cannot be read or holds several discussions.
    """
    __tracebackhide__ = True
    limits = dict(at_least or {})
    for name in (*metrics, *limits):
        if name not in DEFINITIONS:
            raise InputError(f"{name!r} is not a metric.", remedy=f"Choose from {', '.join(DEFINITIONS)}.")
    evaluation = evaluate_transcript(the_transcript(transcript), thresholds=limits)
    scored = [name for name, each in evaluation.metrics.items() if each.score is not None]
    checked = list(dict.fromkeys((*metrics, *limits))) or scored
    if not checked:
        raise AssertionError(f"{evaluation.transcript.game_id}: no metric has a score.")
    if complaints := [each for name in checked if (each := _complaint(evaluation, name))]:
        raise AssertionError("\n\n".join(complaints))
    return evaluation


def _complaint(evaluation: Evaluation, name: str) -> str:
    """The complaint about a metric; empty when it passes."""
    definition = DEFINITIONS[name]
    what = f"{evaluation.transcript.game_id}, {definition.label}"
    metric = evaluation.metrics.get(name)
    if metric is None:
        why = next((each.why for each in evaluation.failures if each.metric == name), "it was not computed")
        return f"{what}: could not be computed: {why}"
    if metric.status is Status.PASSED:
        return ""
    if metric.score is None:
        return f"{what}: {str(metric.status).replace('_', ' ')}: {metric.reason or 'it has no score'}"
    lines = [f"{what}: {score_words(definition, metric.score)}, threshold {metric.threshold:g}"]
    lines += _behind(evaluation.transcript, metric)
    return "\n".join([*lines, "What to do: look at these rows; `dramaturg evaluate --format json` prints all of them."])


def _behind(transcript: Transcript, metric: MetricResult) -> list[str]:
    against = [row for row in metric.ledger if row.verdict is RowVerdict.DOES_NOT_COUNT]
    lines = [_row_words(transcript, row) for row in against[:_MOST_SHOWN]]
    if len(against) > _MOST_SHOWN:
        lines.append(f"  and {len(against) - _MOST_SHOWN} more")
    return lines


def _row_words(transcript: Transcript, row: LedgerRow) -> str:
    """The place, reason and words of a row; a phrase stands in several messages."""
    if row.message_id is None:
        places = list(dict.fromkeys(each.message_id for each in row.evidence if each.message_id))[:_MOST_SHOWN]
        see = f" See {', '.join(places)}." if places else ""
        return f"  {row.player or row.id}: {row.reason}{see}"
    message = transcript.message(row.message_id)
    said = json.dumps(message.text[:_LONGEST_SHOWN], ensure_ascii=False) if message else ""
    return f"  {row.message_id}: {row.reason} {said}".rstrip()
