"""Metric 7, engagement: the mean of what people said the conversation is worth, from 1 to 5, or a lead's decision."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from evaluation.ratings import EngagementDecision, Rating, latest_by_rater
from evaluation.rubric.definitions import ENGAGEMENT
from evaluation.score import LedgerRow, Method, MetricResult, RowVerdict, row_id_of, summarise
from evaluation.text.display import picked_data
from evaluation.transcript import Transcript


def measure(transcript: Transcript, ratings: Sequence[Rating] = (), *, threshold: float | None = None) -> MetricResult:
    """:func:`measure_ratings` on those of ``ratings`` that are of this transcript; the others are left alone."""
    own = [rating for rating in ratings if rating.transcript_id == transcript.id]
    return measure_ratings(own, threshold=threshold)


def measure_ratings(
    ratings: Sequence[Rating],
    *,
    counting: Collection[str] | None = None,
    threshold: float | None = None,
    decision: EngagementDecision | None = None,
) -> MetricResult:
    """The mean over raters of each rater's latest rating of one transcript (rubric 1.0, metric 7).

    Args:
        ratings: All of one transcript, in any order.
        counting: Tokens of those that count, one a rater; each rater's latest by time when left out.
        threshold: On the 1-5 scale; the rubric's 3.0 when left out.
        decision: A lead's decision that counts in place of the ratings.

    Returns:
        A likert result, ``pending`` without a rating. One ledger row per rating: a rater's latest adds its score to the
        numerator and one to the denominator, an earlier one is excluded. Notes name ratings whose answers do not fit
        the score.
    """
    latest = latest_by_rater(ratings if counting is None else [one for one in ratings if one.token in counting])
    standing = {id(rating) for rating in latest.values()}
    rows = [_counting_row(rating) for rating in latest.values()]
    rows.extend(_superseded_row(rating) for rating in ratings if id(rating) not in standing)
    return engagement_of(rows, threshold=threshold, decision=decision, notes=_notes(latest.values()))


def engagement_of(
    rows: Sequence[LedgerRow],
    *,
    threshold: float | None = None,
    decision: EngagementDecision | None = None,
    notes: tuple[str, ...] = (),
) -> MetricResult:
    """The engagement score that counts: the mean of the ratings in ``rows``, or a lead's decision in their place.

    The decision has the weight of the ratings that it replaces, so that the number of raters stays the same. Without a
    rating that counts there is nothing to decide, and the decision changes nothing.
    """
    raters = sum(row.denominator for row in rows)
    if decision is None or not raters:
        return summarise(ENGAGEMENT, rows, threshold=threshold, notes=notes)
    replaced = [
        replace(row, verdict=RowVerdict.EXCLUDED, numerator=0.0, denominator=0.0) if row.denominator else row
        for row in rows
    ]
    own = LedgerRow(
        row_id_of(ENGAGEMENT.name, f"decision {decision.id}"),
        "rating",
        RowVerdict.COUNTS,
        f"{decision.who} decided {decision.score} of 5 in place of the ratings: {decision.reason}",
        numerator=decision.score * raters,
        denominator=raters,
        method=Method.HUMAN,
        details={"rater": decision.who, "score": decision.score, "created_at": decision.created_at.isoformat()},
    )
    return summarise(ENGAGEMENT, [own, *replaced], threshold=threshold, notes=notes)


def _counting_row(rating: Rating) -> LedgerRow:
    return LedgerRow(
        row_id_of(ENGAGEMENT.name, rating.rater),
        "rating",
        RowVerdict.COUNTS,
        f"{rating.rater} gave {rating.score} of 5 and answered {rating.yes_count} of the five questions with yes.",
        numerator=float(rating.score),
        denominator=1.0,
        method=Method.HUMAN,
        details=_details(rating),
    )


def _superseded_row(rating: Rating) -> LedgerRow:
    # The token keeps the id apart from the rater's standing row, which carries the plain name.
    return LedgerRow(
        row_id_of(ENGAGEMENT.name, f"{rating.rater}#{rating.token}"),
        "rating",
        RowVerdict.EXCLUDED,
        f"{rating.rater} gave {rating.score} of 5; another rating by the same person counts.",
        method=Method.HUMAN,
        details=_details(rating),
    )


def _details(rating: Rating) -> dict[str, object]:
    held = picked_data(rating, "rater", "score", "answers", "comment", "misfit")
    return {**held, "created_at": rating.created_at.isoformat()}


def _notes(ratings: Iterable[Rating]) -> tuple[str, ...]:
    return tuple(f"{rating.rater}: {rating.misfit}" for rating in ratings if rating.misfit)
