"""Agreement in sentences: a headline, and what is about no single question."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from evaluation.agreement.between_raters import (
    FEWEST_FOR_READING,
    TENTATIVE,
    Item,
    ItemAgreement,
)
from evaluation.agreement.report import AGREE, ALL_METRICS, NOT, PARTLY, AgreementReport
from evaluation.text.display import counted, listed

NEARER_TO_CHANCE = TENTATIVE / 2
"""Below this alpha, agreement is nearer to chance (0) than to what conclusions need."""


def agreement_level(one: ItemAgreement) -> str | None:
    """Whether raters agree on an item; ``None`` where no game has two answers.

    They agree when alpha reaches what tentative conclusions need, and from 20 games on when the lower end of its
    interval does.
    """
    if not one.games:
        return None
    alpha, low = one.alpha.value, one.alpha.interval.low
    if math.isnan(alpha):
        # Everybody gave the same answer to everything.
        return AGREE
    is_shown = one.games < FEWEST_FOR_READING or low is None or low >= TENTATIVE
    if alpha >= TENTATIVE and is_shown:
        return AGREE
    return PARTLY if alpha >= NEARER_TO_CHANCE else NOT


def headline(report: AgreementReport) -> str:
    """The whole report in a sentence of our own words; empty while no game has two raters.

    "The two raters agree on the score, partly on question 4, not on question 2." With too few games to be sure it
    begins with "So far".
    """
    levels = [(one.item, agreement_level(one)) for one in report.items]
    named = {level: _named([item for item, held in levels if held == level]) for level in (AGREE, PARTLY, NOT)}
    if not any(named.values()):
        return ""
    raters = max(one.raters for one in report.items)
    who = "the two raters" if raters == 2 else f"the {raters} raters"
    if report.raters > raters:
        who += " who share games"
    if named[AGREE] or named[PARTLY]:
        parts = [f"agree on {named[AGREE]}"] if named[AGREE] else []
        if named[PARTLY]:
            parts.append(f"{'' if parts else 'agree '}partly on {named[PARTLY]}")
        parts += [f"not on {named[NOT]}"] if named[NOT] else []
    else:
        parts = [f"do not agree on {named[NOT]}"]
    words = f"{'So far ' if report.note else ''}{who} {', '.join(parts)}."
    return f"{words[0].upper()}{words[1:]}"


def other_sentences(report: AgreementReport) -> list[str]:
    """Sentences that are about no single item: metrics beside ratings, and who decides rows alike."""
    return [*_metric_sentence(report), *_row_sentences(report)]


def often_words(one: ItemAgreement) -> str:
    """The share of the same answers: "9 of 11 games"; of three raters and more, "60 % of the pairs of raters"."""
    if one.ratings == 2 * one.games:
        return f"{round(one.exact.value * one.games)} of {counted(one.games, 'game')}"
    return f"{100 * one.exact.value:.0f} % of the pairs of raters"


def _named(items: Sequence[Item]) -> str:
    numbers = [one.name.removeprefix("question_") for one in items if not one.is_score]
    questions = [f"question{'s' if len(numbers) > 1 else ''} {listed(numbers)}"] if numbers else []
    return listed([*("the score" for one in items if one.is_score), *questions])


def _metric_sentence(report: AgreementReport) -> Iterator[str]:
    shown = [one for one in report.references if one.item.is_score and one.reference != ALL_METRICS and one.games]
    following = [one.label for one in shown if (one.kappa.interval.low or 0.0) > 0]
    if following:
        verb = "follows" if len(following) == 1 else "follow"
        yield f"{listed(following)} {verb} the scores of the raters; there is no sign of that for the other metrics."
    elif shown:
        yield "There is no sign that a metric follows the scores of the raters."


def _row_sentences(report: AgreementReport) -> Iterator[str]:
    for pair in dict.fromkeys(one.pair for one in report.rows):
        rows = [one for one in report.rows if one.pair == pair]
        same, total = sum(one.same for one in rows), sum(one.rows for one in rows)
        yield f"{pair.capitalize()}: the same verdict on {same:,} of {counted(total, 'row')}."
