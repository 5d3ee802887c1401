"""Ratings by people: sheets in and out, who rates what, and how far people, metrics and judges agree."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from operator import attrgetter

from evaluation.agreement.report import AgreementReport, DecidedRow, agreement_report
from evaluation.overrides import Override
from evaluation.rating_desk.assignments import AssignmentPlan, plan_assignments
from evaluation.rating_desk.sheet_format import Sheet, SheetProblem, read_sheet, sheet_rows, write_sheet
from evaluation.ratings import NO_ANSWERS, SKIMMED_PER_SECOND, DeskTime, EngagementDecision, Rating
from evaluation.rubric.definitions import ENGAGEMENT
from evaluation.score import LedgerRow, Method, RowVerdict
from evaluation.store import Store
from evaluation.store.rating_desk import QueueProgress
from evaluation.store.result_rows import RowVerdicts
from evaluation.text.display import counted
from evaluation.transcript import SIMULATED_FORMAT

Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class SheetImport:
    """Outcome of importing a sheet.

    Attributes:
        added: How many ratings were new and are stored; 0 with any problem.
        known: How many were stored before, unchanged.
        blank: How many rows have no score.
        flagged: How many of the new ones have answers that do not fit their score.
        by_rater: How many of the new ones each person gave.
    """

    added: int = 0
    known: int = 0
    blank: int = 0
    flagged: int = 0
    problems: tuple[SheetProblem, ...] = ()
    by_rater: Mapping[str, int] = field(default_factory=dict)


def import_ratings(
    store: Store, data: bytes, *, rater: str | None = None, is_own: bool = False, is_dry: bool = False
) -> SheetImport:
    """Stores the ratings of a CSV file in one transaction: all of them, or none where a line cannot be used.

    The same file again adds nothing. A row without a time says what the rater thinks now, and is a revision where what
    counts says otherwise; one with a time is history unless it is the latest.

    Args:
        store: Where to.
        data: The file.
        rater: Whose ratings they are where the sheet does not say.
        is_own: Refuse rows of anybody but ``rater``.
        is_dry: Only say what would become of it.
    """
    # The file is read before the database is taken: everybody else would wait for it.
    with store.unit():
        # Pages show the one, exports write the other.
        known_as = (store.transcripts.game_ids(), store.transcripts.game_names())
    sheet = read_sheet(data, *known_as, now=datetime.now(UTC), rater=rater, is_own=is_own)
    if problems := [*sheet.problems, *_rivals(sheet)]:
        return SheetImport(blank=sheet.blank, problems=tuple(sorted(problems, key=lambda one: one.line)))
    # Raters may write ratings, and nothing else is written here.
    with store.unguarded().unit(write=not is_dry):
        fresh = _fresh(store, sheet)
        if not is_dry:
            said_now = [rating.token for rating in fresh if rating.created_at == sheet.read_at]
            store.ratings.add_many(fresh, as_of_now=said_now)
    flagged = sum(bool(rating.misfit) for rating in fresh)
    by_rater = Counter(rating.rater for rating in fresh)
    return SheetImport(len(fresh), len(sheet.ratings) - len(fresh), sheet.blank, flagged, by_rater=by_rater)


def export_ratings(store: Store, *, rater: str | None = None, hidden: Collection[str] = ()) -> str:
    """:func:`rating_rows` as CSV."""
    return write_sheet(rating_rows(store, rater=rater, hidden=hidden))


def rating_rows(
    store: Store, *, rater: str | None = None, hidden: Collection[str] = ()
) -> list[dict[str, str | float | bool | None]]:
    """Every rating of stored games, revised ones included, with whether each counts; see ``sheet_rows``.

    Args:
        store: Where to read.
        rater: Only this person's, without what leads decided; ``None`` for everybody's.
        hidden: Games whose ratings are left out.
    """
    with store.unit():
        names, shown_as = store.transcripts.game_ids(), store.transcripts.game_names()
        ratings = store.ratings.every(rater)
        standing = {one.token for one in store.ratings.current()}
        decisions = store.engagement_decisions.current()
        times = store.ratings.desk_times()
    shown = names.keys() - set(hidden)
    ratings = [rating for rating in ratings if rating.transcript_id in shown]
    counts = {one.token: _counts_words(one, standing, decisions) for one in ratings}
    # A revision came to the desk filled in.
    first = {_place(one): one.token for one in reversed(ratings)}
    seconds = {first[place]: round(time.seconds) for place, time in times.items() if place in first}
    return sheet_rows(ratings, names, counts, decisions if rater is None else {}, shown_as, seconds)


def _counts_words(rating: Rating, standing: Collection[str], decisions: Collection[str]) -> str:
    if rating.token not in standing:
        return "no: another rating by the same person counts"
    return "no: a lead decided the score" if rating.transcript_id in decisions else "yes"


def _fresh(store: Store, sheet: Sheet) -> list[Rating]:
    """The ratings that say something new.

    One with a time is known when the rater said the same then; one without when what counts already says the same.
    """
    known = {(rating.created_at, *_content(rating)) for rating in store.ratings.every()}
    counting = {_place(rating): rating for rating in store.ratings.current()}
    fresh = []
    # Those with a time first: the latest of them may be what counts.
    for _, rating in sorted(sheet.ratings, key=lambda row: row[1].created_at == sheet.read_at):
        said, current = (rating.created_at, *_content(rating)), counting.get(_place(rating))
        is_known = said in known or (
            rating.created_at == sheet.read_at and current is not None and _content(current) == _content(rating)
        )
        if not is_known:
            known.add(said)
            fresh.append(rating)
            if current is None or rating.created_at > current.created_at:
                counting[_place(rating)] = rating
    return fresh


def _place(rating: Rating) -> Place:
    return rating.transcript_id, rating.rater


def _rivals(sheet: Sheet) -> list[SheetProblem]:
    """Rows of one rater about one game at one time: nobody could say which of them counts."""
    found = []
    first: dict[tuple[object, ...], tuple[int, Rating]] = {}
    for line, rating in sheet.ratings:
        earlier, held = first.setdefault((*_place(rating), rating.created_at), (line, rating))
        if _content(held) != _content(rating):
            found.append(
                SheetProblem(
                    line,
                    "",
                    rating.rater,
                    f"has rated this game otherwise on line {earlier}.",
                    "Keep one of the two lines, or fill in when each was given: the later one counts.",
                )
            )
    return found


def _content(rating: Rating) -> tuple[object, ...]:
    return rating.transcript_id, rating.rater, rating.score, rating.answers, rating.comment


class CellState(StrEnum):
    """State of a game in the hands of a rater."""

    DONE = "done"
    UNDER_WAY = "under way"
    ASSIGNED = "assigned"
    SKIPPED = "skipped"
    REFUSED = "cannot be rated"


@dataclass(frozen=True, slots=True)
class GridCell:
    """A game in the hands of a rater.

    Attributes:
        rating: The one that counts; ``None`` before there is one.
    """

    state: CellState
    rating: Rating | None = None

    @property
    def words(self) -> str:
        """The score where there is one, "4", else the state with a symbol."""
        return str(self.rating.score) if self.rating is not None else f"{SYMBOLS[self.state]} {self.state}"


SYMBOLS = {
    CellState.UNDER_WAY: "…",
    CellState.ASSIGNED: "○",
    CellState.SKIPPED: "»",
    CellState.REFUSED: "✗",
}


@dataclass(frozen=True, slots=True)
class GridGame:
    """A row of the grid.

    Attributes:
        name: Of the game; untrusted text.
        cells: By rater; who has nothing to do with the game is missing.
        score: Engagement as it counts; ``None`` without a rating.
        decision: The lead's decision that counts in place of the ratings.
    """

    transcript_id: str
    name: str
    cells: Mapping[str, GridCell]
    score: float | None
    decision: EngagementDecision | None

    @property
    def ratings(self) -> list[Rating]:
        """The ratings that count, raters in the grid's order."""
        return [cell.rating for cell in self.cells.values() if cell.rating is not None]

    @property
    def is_disputed(self) -> bool:
        """Whether raters gave it different scores."""
        return len({one.score for one in self.ratings}) > 1

    @property
    def spread(self) -> float:
        """Points between the highest and the lowest score."""
        scores = [one.score for one in self.ratings]
        return max(scores) - min(scores) if scores else 0


@dataclass(frozen=True, slots=True)
class RatingGrid:
    """Raters by games. Raters stand in alphabetical order, games in that of their iteration."""

    raters: Mapping[str, QueueProgress]
    games: tuple[GridGame, ...]


def assign_games(
    store: Store,
    raters: Sequence[str],
    overlap: int,
    *,
    who: str,
    games: Sequence[str],
    common: int = 0,
    beside: Sequence[str] = (),
    seed: int = 0,
    is_dry: bool = False,
) -> AssignmentPlan:
    """Assigns games to raters so that each game gets ``overlap`` raters; people who have rated it already count.

    Args:
        store: Where to.
        raters: Names of the people to choose from.
        overlap: Raters per game.
        who: The lead who assigns.
        games: Ids of transcripts.
        common: How many games all the raters are to have in common.
        beside: Further games that the common ones may come from.
        seed: The same seed gives the same plan.
        is_dry: Only plan.

    Raises:
        InputError: No games or no raters, or more raters per game than there are raters.
        NotFoundError: There is no such transcript.
    """
    with store.unit(write=not is_dry):
        current = store.rating_assignments.current()
        held: dict[str, set[str]] = {game: set() for game in (*games, *beside)}
        rated = {(one.transcript_id, one.rater) for one in store.ratings.current()}
        assigned = [(one.transcript_id, one.rater) for one in current]
        for game, rater in (*rated, *assigned):
            held.get(game, set()).add(rater)
        waiting = [rater for game, rater in assigned if (game, rater) not in rated]
        loads = {rater: waiting.count(rater) for rater in set(waiting)}
        refused: dict[str, set[str]] = {}
        for discard in store.discards.list():
            if discard.undone_by is None:
                refused.setdefault(discard.transcript_id, set()).add(discard.rater)
                held.get(discard.transcript_id, set()).discard(discard.rater)
        plan = plan_assignments(
            games, raters, overlap, held=held, refused=refused, loads=loads, common=common, beside=beside, seed=seed
        )
        if not is_dry:
            store.rating_assignments.add(plan.pairs, who=who)
    return plan


def rating_grid(store: Store, iteration: str | None = None) -> RatingGrid:
    """Raters by games, for leads.

    Args:
        store: Where to read.
        iteration: Only its games; ``None`` for all. Figures about raters are always about all games.
    """
    with store.unit():
        summaries = store.transcripts.summaries(iteration)
        names = store.transcripts.game_names()
        assignments = store.rating_assignments.current()
        standing = {(one.transcript_id, one.rater): one for one in store.ratings.current()}
        refused = {(one.transcript_id, one.rater) for one in store.discards.list() if one.undone_by is None}
        under_way, skipped = store.drafts.begun(), store.rating_queue.skipped()
        decisions = store.engagement_decisions.current()
        scores = store.results.scores(iteration)
        people = sorted({rater for _, rater in standing} | {one.rater for one in assignments})
        progress = store.rating_queue.progress_of(people)
    assigned = {(one.transcript_id, one.rater) for one in assignments}
    # Whoever has more than one of them is in the last that applies.
    states = dict.fromkeys(assigned, CellState.ASSIGNED) | dict.fromkeys(under_way, CellState.UNDER_WAY)
    states |= dict.fromkeys(skipped & states.keys(), CellState.SKIPPED)
    states |= dict.fromkeys(refused, CellState.REFUSED) | dict.fromkeys(standing, CellState.DONE)
    engagement = scores[(scores["metric"] == ENGAGEMENT.name) & scores["score"].notna()]
    counts = dict(zip(engagement["transcript_id"], engagement["score"], strict=True))
    rows = []
    for key, kind in zip(summaries["transcript_id"], summaries["source_format"], strict=True):
        cells = {
            rater: GridCell(states[key, rater], standing.get((key, rater)))
            for rater in people
            if (key, rater) in states
        }
        # What an experiment simulated does not wait for people.
        if cells or kind != SIMULATED_FORMAT or iteration is not None:
            rows.append(GridGame(key, names[key], cells, counts.get(key), decisions.get(key)))
    return RatingGrid({rater: progress[rater] for rater in people}, tuple(rows))


FEWEST_ALIKE, SHARE_ALIKE = 7, 0.8
"""Ratings of one person that are the same, and their share of all, from which that is told."""


@dataclass(frozen=True, slots=True)
class Habit:
    """The signs that a rater did not read games.

    Attributes:
        words: As a fact: "the same answers in 7 of 8".
        ratings: Those that it rests on, the quickest first, with their time; ``None`` for one from a sheet.
    """

    words: str
    ratings: tuple[tuple[Rating, DeskTime | None], ...]


def rating_habits(store: Store, hidden: Collection[str] = ()) -> dict[str, Habit]:
    """The raters who may not have read what they rated.

    Args:
        store: Where to read.
        hidden: Games whose ratings say nothing here.
    """
    given: dict[str, list[tuple[Rating, DeskTime | None]]] = {}
    times = store.ratings.desk_times()
    for rating in store.ratings.current():
        if rating.transcript_id not in hidden:
            given.setdefault(rating.rater, []).append((rating, times.get(_place(rating))))
    found = {}
    for rater, ratings in given.items():
        ratings.sort(key=lambda one: one[1].seconds / (one[1].words or 1) if one[1] else math.inf)
        timed = [took for _, took in ratings if took is not None]
        told = {one.token for one, took in ratings if took is not None and took.is_too_quick}
        pace = f"rated faster than they can be skimmed ({SKIMMED_PER_SECOND} words a second)"
        facts = [f"{len(told)} of {counted(len(timed), 'game')} {pace}"] if told else []
        for name, said in (("score", attrgetter("score")), ("answers", attrgetter("answers"))):
            ((common, count),) = Counter(said(one) for one, _ in ratings).most_common(1)
            if count >= max(FEWEST_ALIKE, SHARE_ALIKE * len(ratings)) and common != NO_ANSWERS:
                facts.append(f"the same {name} in {count} of {len(ratings)}")
                told |= {one.token for one, _ in ratings if said(one) == common}
        if facts:
            found[rater] = Habit(", ".join(facts), tuple(one for one in ratings if one[0].token in told))
    return found


def stored_agreement(store: Store, hidden: Collection[str] = ()) -> AgreementReport:
    """Agreement over all current ratings, with the scores as they stand.

    Args:
        store: Where to read.
        hidden: Games whose ratings are left out.
    """
    with store.unit():
        names = store.transcripts.game_names()
        ratings = store.ratings.all()
        ratings = ratings[~ratings["transcript_id"].isin(list(hidden))]
        scores = store.results.scores()
        overrides = {(one.transcript_id, one.metric, one.row_id): one for one in store.overrides.current()}
        found, confirmed = store.ledger.decided([*overrides.values()])
        settled = [one for game, one in store.engagement_decisions.current().items() if game not in hidden]
    columns = (scores[name].tolist() for name in ("transcript_id", "metric", "numerator", "denominator"))
    sums = {(key, metric): (above, below) for key, metric, above, below in zip(*columns, strict=True)}
    decided = [_decided(row, names[row.transcript_id], overrides.get(row[:3]), sums) for row in found]
    agreed = {(key, metric, RowVerdict(verdict)): count for (key, metric, verdict), count in confirmed.items()}
    return agreement_report(ratings, scores, names, decided, agreed, settled)


def _decided(
    row: RowVerdicts, game: str, override: Override | None, sums: Mapping[tuple[str, str], tuple[float, float]]
) -> DecidedRow:
    given: dict[Method, tuple[str | None, str | None]] = {
        Method.RULE: (row.rule, row.rule_reason),
        Method.JUDGE: (row.judge, row.judge_reason),
        Method.HUMAN: (override.verdict, override.reason) if override else (None, None),
    }
    computed = LedgerRow(
        row.row_id,
        "",
        RowVerdict(row.rule or RowVerdict.EXCLUDED),
        row.rule_reason or "",
        message_id=row.message_id,
        player=row.player,
        numerator=row.numerator or 0.0,
        denominator=row.denominator or 0.0,
    )
    numerator, denominator = sums.get((row.transcript_id, row.metric), (0.0, 0.0))
    return DecidedRow(
        row.transcript_id,
        game,
        row.metric,
        computed,
        {method: RowVerdict(verdict) for method, (verdict, _) in given.items() if verdict is not None},
        {method: str(reason) for method, (verdict, reason) in given.items() if verdict is not None},
        override.author if override else "",
        numerator,
        denominator,
    )
