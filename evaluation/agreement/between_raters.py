"""Agreement between raters, item by item and game by game."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evaluation.ratings import HIGHEST_SCORE, LOWEST_SCORE, SCORES, checked_score
from evaluation.rubric.rating_guide import QUESTIONS
from evaluation.statistics.intervals import (
    FEWEST_FOR_BOOTSTRAP,
    FEWEST_GAMES,
    TOO_FEW,
    Interval,
    bootstrap_interval,
    no_interval,
    percentile_interval,
    resample_weights,
)

if TYPE_CHECKING:
    import pandas as pd
from typing import Literal

from numpy.typing import NDArray

Level = Literal["nominal", "ordinal"]
Numbers = NDArray[np.float64]


def coincidences(counts: Numbers, weights: Numbers | None = None) -> Numbers:
    """The coincidence matrix, values x values: every pair of ratings of an item, weighted by 1 / (ratings - 1).

    Args:
        counts: Items x values.
        weights: Resamples x items, how often each item counts; then there is one matrix per resample.
    """
    given = counts.sum(axis=1)
    pairable = given >= 2
    kept, share = counts[pairable], 1.0 / (given[pairable] - 1.0)
    if weights is None:
        # Never items x values x values: continuous values are as many as ratings.
        return np.asarray((kept * share[:, None]).T @ kept - np.diag(share @ kept))
    each = np.einsum("ic,ik,i->ick", kept, kept, share)
    seats = np.arange(counts.shape[1])
    each[:, seats, seats] -= kept * share[:, None]
    return np.asarray(np.tensordot(weights[:, pairable], each, axes=1))


def alpha_of(matrix: Numbers, values: Numbers, level: Level) -> Numbers:
    """Krippendorff's alpha = 1 - D_o / D_e (Krippendorff 2004, chapter 11) from coincidence matrices.

    1 is perfect agreement, 0 what chance gives, below 0 worse than chance. Items that fewer than two raters rated say
    nothing and are left out.

    Args:
        matrix: From :func:`coincidences`: ... x values x values.
        values: Ascending.
        level: ``nominal`` (equal or not) or ``ordinal`` (by ranks).

    Returns:
        At most 1; NaN when no item has two ratings, or all ratings are equal (no disagreement was possible).
    """
    totals = matrix.sum(axis=-1)
    pairs = totals.sum(axis=-1)
    distance = _distances(totals, values, level)
    observed = (matrix * distance).sum(axis=(-2, -1))
    expected = (totals[..., :, None] * totals[..., None, :] * distance).sum(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1.0 - (pairs - 1.0) * observed / expected, np.nan)


def _distances(totals: Numbers, values: Numbers, level: Level) -> Numbers:
    if level == "nominal":
        return 1.0 - np.eye(len(values))
    # The rank of a value: everything below it, and half of those that share it.
    ranks = np.cumsum(totals, axis=-1) - totals / 2.0
    return np.asarray((ranks[..., :, None] - ranks[..., None, :]) ** 2)


def ac1_of(counts: Numbers, categories: int, weights: Numbers | None = None) -> Numbers:
    """Gwet's AC1 = (p_a - p_e) / (1 - p_e) (Gwet 2008) from items x values; with weights one per resample.

    Stands beside nominal alpha because it does not collapse when nearly everybody gives the same answer.

    Args:
        counts: Items x values.
        categories: How many answers there are to choose from.
        weights: Resamples x items, how often each item counts.

    Returns:
        At most 1; NaN when no item has two ratings, or there is one category only.
    """
    given = counts.sum(axis=1)
    rated, pairable = given >= 1, given >= 2
    weight = np.ones((1, len(counts))) if weights is None else weights
    with np.errstate(divide="ignore", invalid="ignore"):
        agreeing = (counts * (counts - 1)).sum(axis=1) / (given * (given - 1))
        shares = counts / given[:, None]
        observed = weight[:, pairable] @ agreeing[pairable] / weight[:, pairable].sum(axis=1)
        prevalence = weight[:, rated] @ shares[rated] / weight[:, rated].sum(axis=1, keepdims=True)
        by_chance = (prevalence * (1.0 - prevalence)).sum(axis=1) / (categories - 1) if categories > 1 else np.nan
        found = (observed - by_chance) / (1.0 - by_chance)
    return np.asarray(found if weights is not None else found[0])


def nominal_kappa_of(cells: Numbers) -> Numbers:
    """Cohen's kappa = (p_o - p_e) / (1 - p_e) (Cohen 1960) of two raters' categories without an order.

    Args:
        cells: How often the first gave the row's category and the second the column's: ... x categories x categories.

    Returns:
        At most 1; NaN where nothing was rated, or both gave one and the same category only.
    """
    total = cells.sum(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = np.trace(cells, axis1=-2, axis2=-1) / total
        expected = (cells.sum(axis=-1) * cells.sum(axis=-2)).sum(axis=-1) / total**2
        return np.where(expected < 1.0 - _NOISE, (observed - expected) / (1.0 - expected), np.nan)


_NOISE = 1e-9


@dataclass(frozen=True, slots=True)
class Item:
    """One thing on the form.

    Attributes:
        column: Its column in the store's table of ratings.
        level: How alpha measures distance: ordinal for the score, nominal for yes and no.
        values: The answers there are to choose from, as numbers.
    """

    name: str
    label: str
    column: str
    level: Level
    values: tuple[float, ...]

    @property
    def short_label(self) -> str:
        """ "Score 1 to 5" or "Question 2"."""
        return self.label if self.is_score else f"Question {self.name.removeprefix('question_')}"

    @property
    def is_score(self) -> bool:
        """Whether it is the 1-5 score rather than a question."""
        return self.level == "ordinal"


SCORE = Item(
    "score",
    f"Score {LOWEST_SCORE} to {HIGHEST_SCORE}",
    "score",
    "ordinal",
    tuple(map(float, SCORES)),
)
ITEMS: tuple[Item, ...] = (
    SCORE,
    *(
        Item(f"question_{number}", question, f"answer_{number}", "nominal", (0.0, 1.0))
        for number, question in enumerate(QUESTIONS, start=1)
    ),
)
"""In the form's order."""


@dataclass(frozen=True, slots=True)
class RatingTable:
    """The current ratings: each rater's latest of each transcript.

    Attributes:
        raters: In alphabetical order.
        transcripts: Ids, in the order in which they were first rated.
        answers: By item name, raters x transcripts, NaN where not rated or not answered; yes is 1, no is 0.
    """

    raters: tuple[str, ...]
    transcripts: tuple[str, ...]
    answers: dict[str, Numbers]

    @property
    def rated(self) -> Numbers:
        """Number of raters of each transcript."""
        return np.asarray((~np.isnan(self.answers[SCORE.name])).sum(axis=0))


def rating_table(ratings: pd.DataFrame) -> RatingTable:
    """The table in what ``Store.ratings.all`` returns; ratings that were revised since are left out."""
    latest = ratings[ratings["is_latest"]]
    raters = tuple(sorted(set(latest["rater"])))
    transcripts = tuple(dict.fromkeys(latest["transcript_id"]))
    rows = latest["rater"].map({name: row for row, name in enumerate(raters)}).to_numpy(dtype=int)
    columns = latest["transcript_id"].map({key: column for column, key in enumerate(transcripts)}).to_numpy(dtype=int)
    answers = {}
    for item in ITEMS:
        table = np.full((len(raters), len(transcripts)), np.nan)
        table[rows, columns] = latest[item.column].astype("Float64").to_numpy(dtype=float, na_value=np.nan)
        answers[item.name] = table
    return RatingTable(raters, transcripts, answers)


def revised_after_others(ratings: pd.DataFrame) -> int:
    """Number of current ratings that changed an earlier one once another rater had scored the same game.

    A rater sees what others gave from the own rating on, so such a change may follow them.

    Args:
        ratings: As ``Store.ratings.all`` returns them.
    """
    pairs = revised_ratings(ratings).merge(_first(ratings).reset_index(), on="transcript_id", suffixes=("", "_other"))
    seen = pairs[(pairs["rater"] != pairs["rater_other"]) & (pairs["first_other"] < pairs["created_at"])]
    return len(seen[["transcript_id", "rater"]].drop_duplicates())


def revised_ratings(ratings: pd.DataFrame) -> pd.DataFrame:
    """The current ratings that changed an earlier one by the same rater, with when that was given as ``first``."""
    latest = ratings[ratings["is_latest"]].join(_first(ratings), on=["transcript_id", "rater"])
    return latest[latest["created_at"] > latest["first"]]


def _first(ratings: pd.DataFrame) -> pd.Series:
    return ratings.groupby(["transcript_id", "rater"])["created_at"].min().rename("first")


Statistic = Callable[[Numbers], Numbers]


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, NaN where it is not defined, with its bootstrap interval over games."""

    value: float
    interval: Interval

    @property
    def is_known(self) -> bool:
        """Whether there is a number at all."""
        return not math.isnan(self.value)


def figures(parts: Sequence[tuple[Statistic, Numbers]]) -> list[Figure]:
    """Several statistics of the same games at once, with intervals: drawing the samples is what takes the time.

    Args:
        parts: Of each the statistic, from sums (... x columns) to numbers, and games x columns: what each game adds to
            the sums.
    """
    games = len(parts[0][1])
    if not games:
        return [Figure(math.nan, no_interval("no games")) for _ in parts]
    together = np.concatenate([per_game for _, per_game in parts], axis=1)
    drawn = resample_weights(games) @ together if games >= FEWEST_GAMES else None
    found, start = [], 0
    for statistic, per_game in parts:
        columns = slice(start, start := start + per_game.shape[1])
        found.append(_figure(statistic, per_game, None if drawn is None else drawn[:, columns]))
    return found


def _figure(statistic: Statistic, per_game: Numbers, drawn: Numbers | None) -> Figure:
    value = float(statistic(per_game.sum(axis=0)))
    if math.isnan(value):
        return Figure(value, no_interval("not defined: all values equal, or no pair"))
    if drawn is None:
        return Figure(value, no_interval(TOO_FEW))
    return Figure(value, percentile_interval(statistic(drawn), len(per_game)))


def share_of(sums: Numbers) -> Numbers:
    """The first column over the second; NaN without any."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(sums[..., 1] > 0, sums[..., 0] / sums[..., 1], np.nan)


RELIABLE = 0.8
TENTATIVE = 0.667
FEWEST_FOR_READING = FEWEST_FOR_BOOTSTRAP
"""Of fewer games only an interval that lies wholly on one side is read (docs/deciding.md)."""
FEWEST_FOR_ONE_SIDE = 14
"""Of fewer games nothing is read: an alpha of 0.72 would be called too low by 3 games in 23 to 56 % of 200 to 400 sets,
by 10 games in 2 to 14 %, by 14 games in 2 to 6 %."""
AGREE, UNCLEAR, NOT, TOO_FEW_GAMES = "agree", "unclear", "not", "too few games to tell"


@dataclass(frozen=True, slots=True)
class ItemAgreement:
    """Agreement of raters on one item, over the games that at least two of them answered it for.

    Attributes:
        games: With at least two answers.
        raters: Who gave one of those answers.
        ratings: How many of those answers.
        alpha: Krippendorff's, ordinal for the score, nominal for a question.
        ac1: Gwet's, for questions; ``None`` for the score.
        exact: The share of pairs of raters that gave the same answer.
        floor: What exact agreement would be with always the commonest answer.
    """

    item: Item
    games: int
    raters: int
    ratings: int
    alpha: Figure
    ac1: Figure | None
    exact: Figure
    floor: float

    @property
    def level(self) -> str | None:
        """Whether raters agree on it; ``None`` where no game has two answers.

        An interval that lies wholly on one side of what tentative conclusions need tells. Raters agree, too, where
        all gave the same; without an interval for another reason an alpha that is too low tells.
        """
        if not self.games:
            return None
        low, high, alpha = self.alpha.interval.low, self.alpha.interval.high, self.alpha.value
        if low is not None and high is not None and self.games >= FEWEST_FOR_ONE_SIDE:
            if low >= TENTATIVE:
                return AGREE
            if high < TENTATIVE:
                return NOT
        if self.games < FEWEST_FOR_READING:
            return TOO_FEW_GAMES
        if low is None and self.exact.value == 1.0:
            return AGREE
        return NOT if low is None and alpha < TENTATIVE else UNCLEAR

    @property
    def reading(self) -> str:
        """The reading of alpha by Krippendorff's conventions, from its interval and not from the figure alone.

        He asks how likely alpha is to fall below what is required (Krippendorff 2004, chapter 11): so the lower end of
        the interval must reach a limit for it to be reached.
        """
        low = self.alpha.interval.low
        if not self.alpha.is_known:
            return "no disagreement was possible" if self.games else "no game has two ratings"
        words = {
            TOO_FEW_GAMES: "from too few games",
            NOT: "too low to rely on",
            UNCLEAR: "games too alike to tell" if low is None else "too uncertain to rely on",
        }
        reached = "reliable" if low is not None and low >= RELIABLE else "good enough for tentative conclusions"
        return words.get(self.level or "", "no disagreement seen" if low is None else reached)


def item_agreement(table: RatingTable, item: Item) -> ItemAgreement:
    """Alpha, AC1 and exact agreement of one item, each with a bootstrap interval over games."""
    answers = table.answers[item.name]
    shared = (~np.isnan(answers)).sum(axis=0) >= 2
    kept = answers[:, shared]
    counts = _counts(kept, item)
    totals = counts.sum(axis=0)
    given = counts.sum(axis=1)
    equal_pairs = np.stack([(counts * (counts - 1)).sum(axis=1), given * (given - 1)], axis=-1)
    return ItemAgreement(
        item,
        games=int(shared.sum()),
        raters=int((~np.isnan(kept)).any(axis=1).sum()),
        ratings=int(totals.sum()),
        alpha=_alpha(counts, item),
        ac1=None if item.is_score else _ac1(counts, item),
        exact=figures([(share_of, equal_pairs)])[0],
        floor=float(totals.max() / totals.sum()) if totals.any() else math.nan,
    )


def _counts(answers: Numbers, item: Item) -> Numbers:
    """Number of raters who gave each value: games x values, from raters x games."""
    return np.stack([(answers == value).sum(axis=0) for value in item.values], axis=-1).astype(float)


def _alpha(counts: Numbers, item: Item) -> Figure:
    values = np.asarray(item.values)
    alpha = float(alpha_of(coincidences(counts), values, item.level))
    if math.isnan(alpha):
        return Figure(alpha, no_interval("not defined"))

    def resampled(weights: Numbers) -> Numbers:
        return alpha_of(coincidences(counts, weights), values, item.level)

    return Figure(alpha, bootstrap_interval(resampled, len(counts)))


def _ac1(counts: Numbers, item: Item) -> Figure:
    if not len(counts):
        return Figure(math.nan, no_interval("not defined"))
    choices = len(item.values)
    interval = bootstrap_interval(lambda weights: ac1_of(counts, choices, weights), len(counts))
    return Figure(float(ac1_of(counts, choices)), interval)


@dataclass(frozen=True, slots=True)
class GameDisagreement:
    """A game on which raters differ.

    Attributes:
        scores: Each rater's score, the lowest first.
        spread: Highest minus lowest score.
        split_questions: Numbers (from 1) of the questions that got both yes and no.
    """

    transcript_id: str
    game: str
    scores: tuple[tuple[str, float], ...]
    spread: float
    split_questions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RuleGap:
    """A game that raters and rules see differently.

    Attributes:
        rated: The raters' mean, 1 to 5.
        raters: How many.
        automatic: The mean of its percent metrics, laid on 1 to 5.
        gap: Automatic minus rated.
    """

    transcript_id: str
    game: str
    rated: float
    raters: int
    automatic: float

    @property
    def gap(self) -> float:
        return self.automatic - self.rated


@dataclass(frozen=True, slots=True)
class RaterDifference:
    """The difference of a rater's scores from another's, or from the mean of the others', on the games that they share.

    Attributes:
        against: The other rater; empty for all the others.
        games: That both rated.
        points: Mean of own minus other score, on the scale of 1 to 5.
        distance: Mean of the same without its sign: who is now above and now below the others is apart, too.
        without: Alpha of the score among the others alone; NaN against one rater, where it is not defined, and where
            the others share one game only.
    """

    rater: str
    against: str
    games: int
    points: float
    distance: float
    without: float

    @property
    def is_early(self) -> bool:
        """Whether the games are too few to say that the rater lies apart."""
        return self.games < FEWEST_FOR_READING

    @property
    def words(self) -> str:
        """ "Ann gives 1.2 points less than the others on 9 games, 1.5 points apart." The names are untrusted text."""
        side = "more" if self.points > 0 else "less"
        points = f"{abs(self.points):.1f} points {side} than" if round(abs(self.points), 1) else "as much as"
        games = f"{self.games} {'game' if self.games == 1 else 'games'}"
        # The same number twice would say nothing.
        apart = f", {self.distance:.1f} points apart" if f"{self.distance:.1f}" != f"{abs(self.points):.1f}" else ""
        return f"{self.rater} gives {points} {self.against or 'the others'} on {games}{apart}."


def rater_differences(table: RatingTable) -> tuple[RaterDifference, ...]:
    """Every rater against the others, then every pair; of each, those first that lie far apart on many games."""
    scores = table.answers[SCORE.name]
    pairs = itertools.combinations(range(len(table.raters)), 2)
    alone = [_difference(scores, table.raters, row, None) for row in range(len(table.raters))]
    both = [_difference(scores, table.raters, row, other) for row, other in pairs]
    return tuple(
        one
        for group in (alone, both)
        for one in sorted(group, key=lambda one: -one.distance * math.sqrt(one.games))
        if one.games
    )


def _difference(scores: Numbers, raters: Sequence[str], row: int, other: int | None) -> RaterDifference:
    own, others = scores[row], np.delete(scores, row, axis=0) if other is None else scores[[other]]
    shared = ~np.isnan(own) & ~np.isnan(others).all(axis=0)
    points = own[shared] - np.nanmean(others[:, shared], axis=0)
    counts = _counts(others, SCORE)
    is_known = (counts.sum(axis=1) >= 2).sum() > 1
    without = float(alpha_of(coincidences(counts), np.asarray(SCORE.values), SCORE.level)) if is_known else math.nan
    mean, distance = (float(points.mean()), float(abs(points).mean())) if len(points) else (0.0, 0.0)
    return RaterDifference(raters[row], "" if other is None else raters[other], len(points), mean, distance, without)


def split_games(table: RatingTable, names: Mapping[str, str]) -> tuple[GameDisagreement, ...]:
    """Every game on which two raters differ in the score or a question, the widest spread first."""
    scores = table.answers[SCORE.name]
    found = []
    for column, transcript_id in enumerate(table.transcripts):
        given = sorted(
            (checked_score(float(score)), rater)
            for score, rater in zip(scores[:, column], table.raters, strict=True)
            if not math.isnan(score)
        )
        if len(given) < 2:
            continue
        split = tuple(
            number for number, item in enumerate(ITEMS[1:], start=1) if _is_split(table.answers[item.name][:, column])
        )
        spread = given[-1][0] - given[0][0]
        if spread or split:
            by_rater = tuple((rater, score) for score, rater in given)
            found.append(GameDisagreement(transcript_id, names.get(transcript_id, ""), by_rater, spread, split))
    return tuple(sorted(found, key=lambda one: (-one.spread, -len(one.split_questions))))


def rule_gaps(table: RatingTable, automatic: Mapping[str, float], names: Mapping[str, str]) -> tuple[RuleGap, ...]:
    """Every rated game with an automatic score (the mean of its percent metrics, by id), the widest gap first."""
    scores = table.answers[SCORE.name]
    found = []
    for column, transcript_id in enumerate(table.transcripts):
        percent = automatic.get(transcript_id, math.nan)
        given = scores[~np.isnan(scores[:, column]), column]
        if len(given) and not math.isnan(percent):
            laid = SCORE.values[0] + percent / 100.0 * (SCORE.values[-1] - SCORE.values[0])
            name = names.get(transcript_id, "")
            found.append(RuleGap(transcript_id, name, float(given.mean()), len(given), laid))
    return tuple(sorted(found, key=lambda one: -abs(one.gap)))


def _is_split(answers: Numbers) -> bool:
    given = answers[~np.isnan(answers)]
    return len(np.unique(given)) > 1
