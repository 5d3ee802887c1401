"""The agreement report, as the Team page and ``dramaturg agreement`` show it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from evaluation.agreement._items import rating_table
from evaluation.agreement._metrics_against_raters import MetricAnswers, ReferenceAgreement, reference_agreements
from evaluation.agreement.between_raters import (
    FEWEST_FOR_READING,
    GameDisagreement,
    ItemAgreement,
    PairAgreement,
    RaterLeaning,
    RuleGap,
    all_items,
    pair_agreements,
    rater_leanings,
    rule_gaps,
    split_games,
)
from evaluation.agreement.rows import Confirmed, DecidedRow, RowAgreement, disputed_rows, row_agreements
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.score import PERCENT, Method, Status, status_of

if TYPE_CHECKING:
    import pandas as pd

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
        ratings: How many current ratings there are.
        overruled: Ledger rows that people decided.
        rows: Rule, judge and person against each other on ledger rows.
        disputed: Ledger rows that they see differently, those first that would move a score most.
    """

    raters: int
    games: int
    shared_games: int
    ratings: int
    items: tuple[ItemAgreement, ...]
    pairs: tuple[PairAgreement, ...]
    leanings: tuple[RaterLeaning, ...]
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
    *,
    seed: int = 0,
) -> AgreementReport:
    """The report on the current ratings.

    Args:
        ratings: As ``Store.ratings.all`` returns them; only each rater's latest of a game counts.
        scores: As ``Store.results.scores`` returns them.
        names: Game ids by transcript id.
        thresholds: Today's, by metric.
        decided: Ledger rows that a judge or a person decided.
        confirmed: How many further rows the judge decided as the rule did, and no person decided.
        seed: Of the bootstrap; the same seed gives the same intervals.
    """
    table = rating_table(ratings)
    references = _references(scores, thresholds, table.transcripts)
    return AgreementReport(
        raters=len(table.raters),
        games=len(table.transcripts),
        shared_games=int((table.rated >= 2).sum()),
        ratings=int(table.rated.sum()),
        items=all_items(table, seed=seed),
        pairs=pair_agreements(table),
        leanings=rater_leanings(table),
        references=reference_agreements(table, references, seed=seed) if len(table.transcripts) else (),
        split=split_games(table, names),
        gaps=rule_gaps(table, references[ALL_METRICS].scores, names),
        overruled=tuple(one for one in decided if not one.is_open),
        rows=row_agreements(decided, confirmed, seed=seed),
        disputed=disputed_rows(decided),
    )


def _references(
    scores: pd.DataFrame, thresholds: Mapping[str, float], rated: Sequence[str]
) -> dict[str, MetricAnswers]:
    """Every percent metric by name, and first the mean of all of them, which passes when most of them do.

    Their answers are those about the rated games. A metric is called judged as soon as a judge decided a row of one
    game, rated or not.
    """
    by_metric: dict[str, dict[str, float]] = {name: {} for name, one in DEFINITIONS.items() if one.scale == PERCENT}
    judged = {str(name) for name in scores.loc[scores["method"] == str(Method.JUDGE), "metric"].unique()}
    scores = scores[scores["transcript_id"].isin(rated)]
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
