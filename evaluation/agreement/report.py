"""The whole report of agreement: raters, metrics against raters, and rows; as sentences and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluation.agreement.between_raters import (
    FEWEST_FOR_READING,
    ITEMS,
    TENTATIVE,
    Figure,
    GameDisagreement,
    Item,
    ItemAgreement,
    RatingTable,
    RuleGap,
    all_items,
    figures,
    moments_per_game,
    rating_table,
    rule_gaps,
    share_of,
    split_games,
)
from evaluation.agreement.rows import Confirmed, DecidedRow, RowAgreement, disputed_rows, row_agreements
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.score import PERCENT, Method, Status, status_of
from evaluation.statistics.agreement import Numbers, bias_of, correlation_of, kappa_of, ranks
from evaluation.text.display import counted, json_data, listed

if TYPE_CHECKING:
    import pandas as pd


Ceiling = tuple[float, float]


@dataclass(frozen=True, slots=True)
class MetricAnswers:
    """A metric's answers about the games.

    Attributes:
        label: In our own words.
        scores: In percent, by transcript id.
        passes: Whether each of them reaches its threshold.
    """

    name: str
    label: str
    scores: Mapping[str, float]
    passes: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class ReferenceAgreement:
    """One metric against one item, over the games that have both; every rating is a pair with the metric.

    For the 1-5 score a metric's 0 to 100 % are laid on 1 to 5, rounded for kappa and exact agreement. For a question
    "passed" stands for yes. No metric claims to measure engagement: this shows which of them tracks what people feel.

    Attributes:
        kappa: Quadratic-weighted.
        spearman: Of ranks over all pairs.
        bias: Mean of metric minus rating, on the item's scale.
        exact: Share of pairs with the same value.
        ceiling_kappa: Kappa between two raters of the same games: what a metric can hope for. NaN without two raters.
        ceiling_exact: The same for equal values.
        floor_exact: What always the commonest answer would reach; its kappa is 0.
    """

    reference: str
    label: str
    item: Item
    games: int
    ratings: int
    kappa: Figure
    spearman: Figure
    bias: Figure
    exact: Figure
    ceiling_kappa: float
    ceiling_exact: float
    floor_exact: float


def reference_agreements(table: RatingTable, references: Mapping[str, MetricAnswers]) -> tuple[ReferenceAgreement, ...]:
    """Every reference against every item, references in the order given."""
    ceilings: dict[tuple[str, bytes], Ceiling] = {}
    return tuple(_agreement(table, one, item, ceilings) for one in references.values() for item in ITEMS)


def _agreement(
    table: RatingTable, reference: MetricAnswers, item: Item, ceilings: dict[tuple[str, bytes], Ceiling]
) -> ReferenceAgreement:
    score = np.asarray([reference.scores.get(key, math.nan) for key in table.transcripts])
    if item.is_score:
        fine = item.values[0] + score / 100.0 * (item.values[-1] - item.values[0])
        coarse = np.floor(fine + 0.5)
    else:
        fine = score
        coarse = np.asarray([float(reference.passes.get(key, False)) for key in table.transcripts])
    answers = table.answers[item.name]
    rater, column = np.nonzero(~np.isnan(answers) & ~np.isnan(score))
    rated = answers[rater, column]
    kept, game = np.unique(column, return_inverse=True)
    said = coarse[column]
    sums = moments_per_game(said, rated, game, len(kept))
    ranked = moments_per_game(_ranks(fine[column]), _ranks(rated), game, len(kept))
    plain = moments_per_game(fine[column], rated, game, len(kept)) if item.is_score else sums
    equal = np.zeros((len(kept), 2))
    np.add.at(equal, game, np.stack([said == rated, np.ones_like(rated)], axis=-1))
    kappa, rank, bias, exact = figures(
        [(kappa_of, sums), (correlation_of, ranked), (bias_of, plain), (share_of, equal)]
    )
    # Most metrics have a score for the same games, so their ceiling is the same.
    key = item.name, kept.tobytes()
    if key not in ceilings:
        ceilings[key] = _ceiling(answers[:, kept])
    ceiling = ceilings[key]
    return ReferenceAgreement(
        reference.name,
        reference.label,
        item,
        games=len(kept),
        ratings=len(rated),
        kappa=kappa,
        spearman=rank,
        bias=bias,
        exact=exact,
        ceiling_kappa=ceiling[0],
        ceiling_exact=ceiling[1],
        floor_exact=float(np.unique(rated, return_counts=True)[1].max() / len(rated)) if len(rated) else math.nan,
    )


def _ranks(values: Numbers) -> Numbers:
    """Ranks with ties shared. A resample keeps them, which costs a little exactness and saves a hundred sorts."""
    return ranks(values) if len(values) else values


def _ceiling(answers: Numbers) -> Ceiling:
    """Kappa and exact agreement over all pairs of raters of the same games, both ways; NaN where there are none."""
    there = ~np.isnan(answers)
    first, second = [], []
    for one in range(len(answers)):
        for other in range(len(answers)):
            both = there[one] & there[other]
            if one != other and both.any():
                first.append(answers[one, both])
                second.append(answers[other, both])
    if not first:
        return math.nan, math.nan
    x, y = np.concatenate(first), np.concatenate(second)
    zero = np.zeros(len(x), dtype=int)
    kappa = float(kappa_of(moments_per_game(x, y, zero, 1)[0]))
    return kappa, float((x == y).mean())


ALL_METRICS = "automatic"
FEW_GAMES = (
    f"Where fewer than {FEWEST_FOR_READING} games stand behind a figure, its interval is too narrow or missing. "
    "Have more games rated before you rely on it."
)


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """Raters against each other, rules against raters, and where to look first.

    Attributes:
        raters: How many people rated.
        games: How many games have a rating.
        shared_games: How many have two or more.
        shared_by_rater: How many of those each rater rated.
        ratings: How many current ratings there are.
        overruled: Ledger rows that people decided.
        rows: Rule, judge and person against each other on ledger rows.
        disputed: Ledger rows that they see differently, those first that would move a score most.
    """

    raters: int
    games: int
    shared_games: int
    shared_by_rater: Mapping[str, int]
    ratings: int
    items: tuple[ItemAgreement, ...]
    references: tuple[ReferenceAgreement, ...]
    split: tuple[GameDisagreement, ...]
    gaps: tuple[RuleGap, ...]
    overruled: tuple[DecidedRow, ...]
    rows: tuple[RowAgreement, ...]
    disputed: tuple[DecidedRow, ...]

    @property
    def note(self) -> str:
        """One caution for all figures that rest on few games; empty when there are none."""
        games = [one.games for one in self.items] + [one.games for one in self.references]
        return FEW_GAMES if any(0 < count < FEWEST_FOR_READING for count in games) else ""


def agreement_report(
    ratings: pd.DataFrame,
    scores: pd.DataFrame,
    names: Mapping[str, str],
    thresholds: Mapping[str, float],
    decided: Sequence[DecidedRow] = (),
    confirmed: Confirmed = MappingProxyType({}),
) -> AgreementReport:
    """The report on the current ratings.

    Args:
        ratings: As ``Store.ratings.all`` returns them; only each rater's latest of a game counts.
        scores: As ``Store.results.scores`` returns them.
        names: Game ids by transcript id.
        thresholds: Today's, by metric.
        decided: Ledger rows that a judge or a person decided.
        confirmed: How many further rows the judge decided as the rule did, and no person decided.
    """
    table = rating_table(ratings)
    references = _references(scores, thresholds, table.transcripts)
    return AgreementReport(
        raters=len(table.raters),
        games=len(table.transcripts),
        shared_games=int((table.rated >= 2).sum()),
        shared_by_rater=table.shared,
        ratings=int(table.rated.sum()),
        items=all_items(table),
        references=reference_agreements(table, references) if len(table.transcripts) else (),
        split=split_games(table, names),
        gaps=rule_gaps(table, references[ALL_METRICS].scores, names),
        overruled=tuple(one for one in decided if not one.is_open),
        rows=row_agreements(decided, confirmed),
        disputed=disputed_rows(decided),
    )


def _references(
    scores: pd.DataFrame, thresholds: Mapping[str, float], rated: Sequence[str]
) -> dict[str, MetricAnswers]:
    """Every percent metric by name, and first the mean of all of them, which passes when most of them do.

    Their answers are those about the rated games. A metric is called judged as soon as a judge decided a row of one of
    them.
    """
    by_metric: dict[str, dict[str, float]] = {name: {} for name, one in DEFINITIONS.items() if one.scale == PERCENT}
    scores = scores[scores["transcript_id"].isin(rated)]
    judged = {str(name) for name in scores.loc[scores["method"] == str(Method.JUDGE), "metric"].unique()}
    columns = ("metric", "transcript_id", "score", "status", "reason")
    # What fails whatever its score (a robotic discussion) says so in its reason.
    failing = set()
    # Column by column: a record of each of tens of thousands of rows takes several times as long.
    for metric, key, score, status, reason in zip(*(_values(scores, name) for name in columns), strict=True):
        if metric in by_metric and not math.isnan(value := float(score)):
            by_metric[metric][key] = value
        if status == Status.FAILED and reason:
            failing.add((metric, key))
    passes = {
        name: {
            key: (name, key) not in failing and status_of(value, thresholds[name]) is Status.PASSED
            for key, value in found.items()
        }
        for name, found in by_metric.items()
    }
    labels = {name: DEFINITIONS[name].label + ", judged" * (name in judged) for name in by_metric}
    single = {name: MetricAnswers(name, labels[name], found, passes[name]) for name, found in by_metric.items()}
    return {ALL_METRICS: _mean_of(list(single.values())), **single}


def _values(scores: pd.DataFrame, column: str) -> list[Any]:
    """The values of a column; as many empty ones where the table has none of that name."""
    return scores[column].tolist() if column in scores else [None] * len(scores)


def _mean_of(references: Sequence[MetricAnswers]) -> MetricAnswers:
    keys = dict.fromkeys(key for one in references for key in one.scores)
    scores, passes = {}, {}
    for key in keys:
        having = [one for one in references if key in one.scores]
        scores[key] = math.fsum(one.scores[key] for one in having) / len(having)
        passes[key] = 2 * sum(one.passes[key] for one in having) > len(having)
    return MetricAnswers(ALL_METRICS, "All automatic metrics", scores, passes)


def agreement_data(report: AgreementReport) -> dict[str, Any]:
    """The report for JSON, disagreements first; everything by the names of its fields."""
    counts = {name: getattr(report, name) for name in ("raters", "games", "shared_games", "ratings", "note")}
    return counts | {
        "disagreements": {
            "between_raters": json_data(report.split),
            "rules_against_raters": [json_data(one) | {"gap": one.gap} for one in report.gaps],
            "overruled": [_decided(one) for one in report.overruled],
            "rows": [_decided(one) for one in report.disputed],
        },
        "items": [json_data(one) | {"reading": one.reading} for one in report.items],
        "references": json_data(report.references),
        "rows": json_data(report.rows),
    }


def _decided(one: DecidedRow) -> dict[str, Any]:
    return {
        "transcript_id": one.transcript_id,
        "game": one.game,
        "metric": one.metric,
        "row_id": one.row.id,
        "message_id": one.row.message_id,
        "player": one.row.player,
        "verdicts": json_data(one.verdicts),
        "reasons": json_data(one.reasons),
        "author": one.author or None,
        "points": one.stake,
    }


AGREE, PARTLY, NOT = "agree", "partly", "not"


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
