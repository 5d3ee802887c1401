"""Compare rule, judge and person on ledger rows: how far they agree, and the rows on which they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType

import numpy as np

from evaluation.agreement.between_raters import Figure, Numbers, figures, nominal_kappa_of, share_of
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.rows_in_doubt import percent
from evaluation.score import LedgerRow, Method, RowVerdict, redecided
from evaluation.statistics.intervals import proportion_interval

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
