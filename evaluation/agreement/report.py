"""The whole report of agreement: raters, and rule, judge and person on rows; as sentences and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from evaluation.agreement.between_raters import (
    FEWEST_FOR_READING,
    TENTATIVE,
    GameDisagreement,
    ItemAgreement,
    RaterDifference,
    RuleGap,
    all_items,
    rater_differences,
    rating_table,
    revised_after_others,
    rule_gaps,
    split_games,
)
from evaluation.agreement.rows import Confirmed, DecidedRow, RowAgreement, disputed_rows, row_agreements
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.score import PERCENT
from evaluation.statistics.intervals import FEWEST_GAMES
from evaluation.text.display import counted, json_data, listed

if TYPE_CHECKING:
    import pandas as pd


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
        revised: How many of these changed an earlier one after another rater had scored the game, which could be seen.
        overruled: Ledger rows that people decided.
        rows: Rule, judge and person against each other on ledger rows.
        disputed: Ledger rows that they see differently, those first that would move a score most.
    """

    raters: int
    games: int
    shared_games: int
    ratings: int
    revised: int
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
        """Number of further games with two raters that every figure needs to be read; 0 where there are enough."""
        return max((games_short(one) for one in self.items), default=0)

    @property
    def outlier(self) -> RaterDifference | None:
        """The rater, of three and more, who lies apart from the others; ``None`` where nobody does."""
        found = next((one for one in self.differences if not one.against), None)
        is_apart = found and self.raters > 2 and abs(found.points) >= APART and found.games >= FEWEST_GAMES
        return found if is_apart else None


def agreement_report(
    ratings: pd.DataFrame,
    scores: pd.DataFrame,
    names: Mapping[str, str],
    decided: Sequence[DecidedRow] = (),
    confirmed: Confirmed = MappingProxyType({}),
) -> AgreementReport:
    """The report on the current ratings.

    Args:
        ratings: As ``Store.ratings.all`` returns them; only each rater's latest of a game counts.
        scores: As ``Store.results.scores`` returns them.
        names: Game ids by transcript id.
        decided: Ledger rows that a judge or a person decided.
        confirmed: How many further rows the judge decided as the rule did, and no person decided.
    """
    table = rating_table(ratings)
    return AgreementReport(
        raters=len(table.raters),
        games=len(table.transcripts),
        shared_games=int((table.rated >= 2).sum()),
        ratings=int(table.rated.sum()),
        revised=revised_after_others(ratings),
        items=all_items(table),
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
    counts = {name: getattr(report, name) for name in ("raters", "games", "shared_games", "ratings", "revised", "note")}
    return counts | {
        "disagreements": {
            "between_raters": json_data(report.split),
            "rules_against_raters": [json_data(one) | {"gap": one.gap} for one in report.gaps],
            "overruled": [_decided(one) for one in report.overruled],
            "rows": [_decided(one) for one in report.disputed],
        },
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


def games_short(one: ItemAgreement) -> int:
    """Number of further games that an item needs before its agreement is read; 0 where nobody answered it twice."""
    return FEWEST_FOR_READING - one.games if 0 < one.games < FEWEST_FOR_READING else 0


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


_SCORE_WORDS = {AGREE: "agree on the score", PARTLY: "agree partly on the score", NOT: "do not agree on the score"}


def headline(report: AgreementReport) -> str:
    """The answer on the score; empty while no game has two raters. Begins with "So far" while there are few games."""
    level = next((agreement_level(one) for one in report.items if one.item.is_score), None)
    if level is None:
        return ""
    raters = max(one.raters for one in report.items)
    who = "the two raters" if raters == 2 else f"the {raters} raters"
    words = f"{'So far ' if report.note else ''}{who} {_SCORE_WORDS[level]}."
    return f"{words[0].upper()}{words[1:]}"


def question_words(report: AgreementReport) -> str:
    """The questions in a sentence: "On the questions: yes on 1, 3 and 4, partly on 2." Empty without an answer."""
    levels = [(one.item.name.removeprefix("question_"), agreement_level(one)) for one in report.items[1:]]
    words = {AGREE: "yes on", PARTLY: "partly on", NOT: "no on"}
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
