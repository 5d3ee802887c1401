"""The whole report of agreement: raters, and rule, judge and person on rows; as sentences and as JSON."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluation.agreement.between_raters import (
    AGREE,
    FEWEST_FOR_READING,
    ITEMS,
    NOT,
    TOO_FEW_GAMES,
    UNCLEAR,
    Figure,
    GameDisagreement,
    ItemAgreement,
    Numbers,
    RaterDifference,
    RuleGap,
    figures,
    item_agreement,
    nominal_kappa_of,
    rater_differences,
    rating_table,
    revised_after_others,
    revised_ratings,
    rule_gaps,
    share_of,
    split_games,
)
from evaluation.ratings import EngagementDecision
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.rows_in_doubt import percent
from evaluation.score import PERCENT, LedgerRow, Method, RowVerdict, redecided
from evaluation.statistics.intervals import proportion_interval
from evaluation.text.display import counted, json_data, listed

if TYPE_CHECKING:
    import pandas as pd


PAIRS = tuple(combinations(Method, 2))
"""Rule and judge, rule and person, judge and person."""
SOURCE_WORDS = {Method.RULE: "rule", Method.JUDGE: "judge", Method.HUMAN: "person"}
_VERDICTS = tuple(RowVerdict)

Cell = tuple[str, RowVerdict, RowVerdict]
"""A transcript and the verdicts of two on a row of it."""
Confirmed = Mapping[tuple[str, str, RowVerdict], int]
"""How many rows, by transcript, metric and the verdict that rule and judge share, no person decided."""


@dataclass(frozen=True, slots=True)
class DecidedRow:
    """A ledger row that a judge or a person decided, with the verdicts of all who gave one.

    Attributes:
        row: As the rule computed it; bare, without a verdict of the rule, where the ledger no longer has it.
        verdicts: Of those that gave one, the rule first, then the judge, then the person.
        reasons: Of the same, in their words; untrusted text.
        author: The person who decided; empty where none did.
        numerator: Of the game's result as it stands.
        denominator: The same.
    """

    transcript_id: str
    game: str
    metric: str
    row: LedgerRow
    verdicts: Mapping[Method, RowVerdict]
    reasons: Mapping[Method, str]
    author: str
    numerator: float
    denominator: float

    @property
    def is_open(self) -> bool:
        """Whether no person has decided it."""
        return Method.HUMAN not in self.verdicts

    @property
    def is_disputed(self) -> bool:
        """Whether not all verdicts are the same."""
        return len(set(self.verdicts.values())) > 1

    @property
    def stake(self) -> float:
        """The points of 100 by which the verdicts move the game's score; 0 without a row in the ledger."""
        if Method.RULE not in self.verdicts:
            return 0.0
        *_, standing = parts = [self._part(method) for method in self.verdicts]
        rest = self.numerator - standing[0], self.denominator - standing[1]
        scores = [percent(rest[0] + numerator, rest[1] + denominator) for numerator, denominator in parts]
        return max(scores) - min(scores)

    def _part(self, method: Method) -> tuple[float, float]:
        """The row's part of numerator and denominator under the verdict of the rule, a judge or a person."""
        row = self.row if method is Method.RULE else redecided(self.row, self.verdicts[method])
        return row.numerator, row.denominator


@dataclass(frozen=True, slots=True)
class RowAgreement:
    """Two of rule, judge and person on one metric, over all rows on which both gave a verdict.

    Whoever chooses which rows are decided chooses what this is about: people look at rows that seem wrong, so their
    figures say how often rule and judge were right where somebody doubted.

    Attributes:
        first: ``rule`` or ``judge``.
        second: ``judge`` or ``human`` (a person).
        rows: On which both gave a verdict.
        games: That these rows belong to.
        same: On how many the verdict was the same.
        share: Which share that is, from 0 to 1; its interval is over games, or Wilson's over rows where there are too
            few games.
        kappa: Cohen's, of the verdicts counts, does not count and excluded.
        floor: The share that always the second's commonest verdict would reach; its kappa is 0.
    """

    metric: str
    first: Method
    second: Method
    rows: int
    games: int
    same: int
    share: Figure
    kappa: Figure
    floor: float

    @property
    def pair(self) -> str:
        """Between whom: "rule and judge"."""
        return f"{SOURCE_WORDS[self.first]} and {SOURCE_WORDS[self.second]}"


def row_agreements(
    decided: Sequence[DecidedRow], confirmed: Confirmed = MappingProxyType({})
) -> tuple[RowAgreement, ...]:
    """Every metric and pair with a row on which both gave a verdict, in the rubric's order and that of ``PAIRS``.

    Args:
        decided: Rows that a judge or a person decided.
        confirmed: How many further rows the judge decided as the rule did, and no person decided.
    """
    counts: dict[tuple[str, Method, Method], Counter[Cell]] = {
        (metric, *pair): Counter() for metric in DEFINITIONS for pair in PAIRS
    }
    for one in decided:
        for first, second in PAIRS:
            if first in one.verdicts and second in one.verdicts:
                cell = one.transcript_id, one.verdicts[first], one.verdicts[second]
                counts[one.metric, first, second][cell] += 1
    for (transcript_id, metric, verdict), rows in confirmed.items():
        counts[metric, Method.RULE, Method.JUDGE][transcript_id, verdict, verdict] += rows
    return tuple(_agreement(*key, cells) for key, cells in counts.items() if cells)


def _agreement(metric: str, first: Method, second: Method, counts: Mapping[Cell, int]) -> RowAgreement:
    games = {key: place for place, key in enumerate(dict.fromkeys(key for key, _, _ in counts))}
    cells = np.zeros((len(games), len(_VERDICTS), len(_VERDICTS)))
    for (key, one, other), rows in counts.items():
        cells[games[key], _VERDICTS.index(one), _VERDICTS.index(other)] += rows
    same, total = int(np.trace(cells.sum(axis=0))), int(cells.sum())
    equal = np.stack([np.trace(cells, axis1=1, axis2=2), cells.sum(axis=(1, 2))], axis=-1)
    kappa, share = figures([(_kappa, cells.reshape(len(games), -1)), (share_of, equal)])
    if not share.interval.is_known:
        share = Figure(share.value, proportion_interval(same, total, is_within_game=len(games) == 1))
    floor = float(cells.sum(axis=(0, 1)).max() / total)
    return RowAgreement(metric, first, second, total, len(games), same, share, kappa, floor)


def _kappa(sums: Numbers) -> Numbers:
    return nominal_kappa_of(sums.reshape(*sums.shape[:-1], len(_VERDICTS), len(_VERDICTS)))


def disputed_rows(decided: Sequence[DecidedRow]) -> tuple[DecidedRow, ...]:
    """The rows that rule, judge and person see differently.

    Those that no person has decided come first, then those that one has; of both, those whose verdicts put the score
    farthest apart.
    """
    found = [one for one in decided if one.is_disputed]
    return tuple(sorted(found, key=lambda one: (not one.is_open, -one.stake)))


FEW_GAMES = (
    f"Where fewer than {FEWEST_FOR_READING} games stand behind a figure, its interval is too narrow or missing. "
    "Have more games rated before you rely on it."
)


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """Raters against each other, rule, judge and person on rows, and where to look first.

    Attributes:
        raters: How many people rated.
        games: How many games have a rating.
        shared_games: How many have two or more.
        ratings: How many current ratings there are.
        revised: How many of these changed an earlier one.
        revised_after_others: How many did once another rater had scored the game, which could be seen.
        informed: How many games and raters have a rating given after its rater had seen scores or ratings of the game.
        decisions: Scores of leads that count in place of the ratings.
        overruled: Ledger rows that people decided.
        rows: Rule, judge and person against each other on ledger rows.
        disputed: Ledger rows that they see differently, those first that would move a score most.
    """

    raters: int
    games: int
    shared_games: int
    ratings: int
    revised: int
    revised_after_others: int
    informed: int
    decisions: tuple[EngagementDecision, ...]
    items: tuple[ItemAgreement, ...]
    differences: tuple[RaterDifference, ...]
    split: tuple[GameDisagreement, ...]
    gaps: tuple[RuleGap, ...]
    overruled: tuple[DecidedRow, ...]
    rows: tuple[RowAgreement, ...]
    disputed: tuple[DecidedRow, ...]

    @property
    def note(self) -> str:
        """One caution for all figures that rest on few games; empty when there are none."""
        return FEW_GAMES if self.missing_games else ""

    @property
    def missing_games(self) -> int:
        """Number of further games with two raters until every figure is read; 0 where all of them tell."""
        return max((FEWEST_FOR_READING - one.games for one in self.items if one.level == TOO_FEW_GAMES), default=0)

    @property
    def _alone(self) -> list[RaterDifference]:
        """Each rater against all the others, of three and more; two only lie apart from each other."""
        return [one for one in self.differences if not one.against and self.raters > 2]

    @property
    def outlier(self) -> RaterDifference | None:
        """The rater, of three and more, who lies apart from the others; ``None`` where nobody does, or it is too early.

        Apart is whose absence raises agreement by :data:`GAIN`, else who gives more or less by :data:`APART`, over
        ``FEWEST_FOR_READING`` games: on fewer, one of three raters who differ alike often seems so.
        """
        alone = [one for one in self._alone if not one.is_early]
        if not alone:
            return None
        # Measured against the one who is apart, everybody seems so: what tells is the agreement of the others.
        score = next(one.alpha.value for one in self.items if one.item.is_score)
        known = [one for one in alone if one.without - score >= GAIN * (0.5 if one.distance >= FAR else 1.0)]
        if known:
            return max(known, key=lambda one: one.without)
        return alone[0] if abs(alone[0].points) >= APART else None

    @property
    def outlier_words(self) -> str:
        """The outlier, and what agreement on the score would be without this rater; empty where there is none.

        Where no rater shares enough games: that it is too early to name one, and how many games would tell.
        """
        if self._alone and all(one.is_early for one in self._alone):
            most = max(one.games for one in self._alone)
            return (
                f"Too early to say whether one rater lies apart: that takes {FEWEST_FOR_READING} games that a rater "
                f"shares with others, so far at most {most}."
            )
        if (one := self.outlier) is None:
            return ""
        score, without = next(one.alpha.value for one in self.items if one.item.is_score), one.without
        known = not (math.isnan(score) or math.isnan(without))
        words = one.words
        if abs(one.points) < one.distance / 2:
            apart = f"{one.distance:.1f} points from the others on average"
            words = f"{one.rater} scatters on {counted(one.games, 'game')} ({apart})."
        return words + (f" Alpha of the score is {without:.2f} without, {score:.2f} with." if known else "")


def agreement_report(
    ratings: pd.DataFrame,
    scores: pd.DataFrame,
    names: Mapping[str, str],
    decided: Sequence[DecidedRow] = (),
    confirmed: Confirmed = MappingProxyType({}),
    decisions: Sequence[EngagementDecision] = (),
) -> AgreementReport:
    """The report on the current ratings.

    Args:
        ratings: As ``Store.ratings.all`` returns them; only each rater's latest of a game counts.
        scores: As ``Store.results.scores`` returns them.
        names: Game ids by transcript id.
        decided: Ledger rows that a judge or a person decided.
        confirmed: How many further rows the judge decided as the rule did, and no person decided.
        decisions: Those of leads that count in place of the ratings.
    """
    table = rating_table(ratings)
    return AgreementReport(
        raters=len(table.raters),
        games=len(table.transcripts),
        shared_games=int((table.rated >= 2).sum()),
        ratings=int(table.rated.sum()),
        revised=len(revised_ratings(ratings)),
        revised_after_others=revised_after_others(ratings),
        informed=len(ratings[ratings["is_informed"]].drop_duplicates(["transcript_id", "rater"])),
        decisions=tuple(decisions),
        items=tuple(item_agreement(table, item) for item in ITEMS),
        differences=rater_differences(table),
        split=split_games(table, names),
        gaps=rule_gaps(table, _automatic(scores), names),
        overruled=tuple(one for one in decided if not one.is_open),
        rows=row_agreements(decided, confirmed),
        disputed=disputed_rows(decided),
    )


def _automatic(scores: pd.DataFrame) -> dict[str, float]:
    """The mean of a game's percent metrics that have a score, by transcript id."""
    percent = [name for name, one in DEFINITIONS.items() if one.scale == PERCENT]
    known = scores[scores["metric"].isin(percent) & scores["score"].notna()]
    return {str(key): float(mean) for key, mean in known.groupby("transcript_id")["score"].mean().items()}


def agreement_data(report: AgreementReport) -> dict[str, Any]:
    """The report for JSON, disagreements first; everything by the names of its fields."""
    names = ("raters", "games", "shared_games", "ratings", "revised", "revised_after_others", "informed", "note")
    counts = {name: getattr(report, name) for name in names}
    return counts | {
        "disagreements": {
            "between_raters": json_data(report.split),
            "rules_against_raters": [json_data(one) | {"gap": one.gap} for one in report.gaps],
            "overruled": [_decided(one) for one in report.overruled],
            "rows": [_decided(one) for one in report.disputed],
        },
        "decisions": json_data(report.decisions),
        "differences": json_data(report.differences),
        "items": [json_data(one) | {"reading": one.reading} for one in report.items],
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


APART = 0.5
"""Points between a rater and the others from which the rater is named: the smallest step of the form."""


GAIN = 0.2
"""The rise of alpha without a rater from which the rater is named; half of it names one who is :data:`FAR`."""

FAR = 1.0
"""Points between a rater and the others in the mean. One of eight who gives random scores raises alpha by less than one
of three; of raters who differ alike, this names hardly more."""


def headline(report: AgreementReport) -> str:
    """The answer on the score; empty while no game has two raters."""
    level = next((one.level for one in report.items if one.item.is_score), None)
    if level is None:
        return ""
    raters = max(one.raters for one in report.items)
    who = f"the {'two' if raters == 2 else raters} raters{' who share games' * (raters < report.raters)}"
    if level in (AGREE, NOT):
        return f"{who[0].upper()}{who[1:]} {'do not ' * (level == NOT)}agree on the score."
    return f"{'It is unclear' if level == UNCLEAR else level.capitalize()} whether {who} agree on the score."


def question_words(report: AgreementReport) -> str:
    """The questions in a sentence: "On the questions: yes on 1, 3 and 4, unclear on 2." Empty without an answer."""
    levels = [(one.item.name.removeprefix("question_"), one.level) for one in report.items[1:]]
    words = {AGREE: "yes on", UNCLEAR: "unclear on", NOT: "no on", TOO_FEW_GAMES: f"{TOO_FEW_GAMES} on"}
    named = {said: [number for number, held in levels if held == level] for level, said in words.items()}
    parts = [f"{said} {listed(numbers)}" for said, numbers in named.items() if numbers]
    return f"On the questions: {', '.join(parts)}." if parts else ""


def often_words(one: ItemAgreement) -> str:
    """The share of the same answers: "9 of 11 games"; of three raters and more, "60 % of the pairs of raters"."""
    if one.ratings == 2 * one.games:
        return f"{round(one.exact.value * one.games)} of {counted(one.games, 'game')}"
    return f"{100 * one.exact.value:.0f} % of the pairs of raters"


def row_sentences(report: AgreementReport) -> Iterator[str]:
    """A sentence for each two of rule, judge and person: on how many rows they give the same verdict."""
    for pair in dict.fromkeys(one.pair for one in report.rows):
        rows = [one for one in report.rows if one.pair == pair]
        same, total = sum(one.same for one in rows), sum(one.rows for one in rows)
        yield f"{pair.capitalize()}: the same verdict on {same:,} of {counted(total, 'row')}."
