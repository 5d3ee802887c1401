"""The work of a team of raters: plan assignments, and show who has rated what, how, and what is disputed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import quote

from evaluation.errors import InputError
from evaluation.rating_desk.alerts import rating_alerts
from evaluation.rating_desk.assignments import AssignmentPlan, Pair, plan_assignments
from evaluation.rating_desk.gold import GoldRating, GoldResult, gold_results
from evaluation.rating_desk.pace import seconds_per_message
from evaluation.ratings import EngagementDecision, Rating, rater_name
from evaluation.rubric.definitions import ENGAGEMENT
from evaluation.store import Store
from evaluation.transcript import SIMULATED_FORMAT

if TYPE_CHECKING:
    import pandas as pd


class CellState(StrEnum):
    """State of a game in the hands of a rater."""

    DONE = "done"
    SENT_BACK = "sent back"
    UNDER_WAY = "under way"
    ASSIGNED = "assigned"
    REFUSED = "cannot be rated"
    NOT_ASSIGNED = "not assigned"


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
        """The state with a symbol, and the score where there is one: "✓ 4"."""
        score = "" if self.rating is None else f" {self.rating.score}"
        return f"{_SYMBOLS[self.state]}{score}" if self.state is CellState.DONE else _worded(self.state, score)


_SYMBOLS = {
    CellState.DONE: "✓",
    CellState.SENT_BACK: "↩",
    CellState.UNDER_WAY: "…",
    CellState.ASSIGNED: "○",
    CellState.REFUSED: "✗",
    CellState.NOT_ASSIGNED: "–",
}


def _worded(state: CellState, score: str) -> str:
    was = f", was{score}" if score else ""
    return f"{_SYMBOLS[state]} {state}{was}"


@dataclass(frozen=True, slots=True)
class GridGame:
    """A row of the grid.

    Attributes:
        name: Of the game; untrusted text.
        cells: By rater; who has nothing to do with the game is missing.
        gold: The known rating, where it is a gold game.
        score: Engagement as it counts; ``None`` without a rating.
        decision: The lead's decision that counts in place of the ratings.
    """

    transcript_id: str
    name: str
    cells: Mapping[str, GridCell]
    gold: GoldRating | None
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
    def spread(self) -> int:
        """Points between the highest and the lowest score."""
        scores = [one.score for one in self.ratings]
        return max(scores) - min(scores) if scores else 0


@dataclass(frozen=True, slots=True)
class RaterSummary:
    """A rater's work in all.

    Attributes:
        rated: Games with a rating by this person.
        assigned: Games assigned to this person, gold games included where there are any.
        waiting: Those of them that are not done, and ratings that are asked for again.
        seconds_per_message: Median; ``None`` with too few games to tell.
        gold: Agreement with gold games; ``None`` before the first.
        alerts: What a lead should look at, a sentence each.
    """

    rater: str
    rated: int
    assigned: int
    waiting: int
    seconds_per_message: float | None
    gold: GoldResult | None
    alerts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RatingGrid:
    """Raters by games. Raters stand in alphabetical order, games in that of their iteration."""

    raters: tuple[RaterSummary, ...]
    games: tuple[GridGame, ...]


def assign_games(
    store: Store,
    raters: Sequence[str],
    overlap: int,
    *,
    who: str,
    iteration: str | None = None,
    games: Sequence[str] = (),
    seed: int = 0,
    is_dry: bool = False,
) -> AssignmentPlan:
    """Assigns games to raters so that each game gets ``overlap`` raters; people who have rated it already count.

    Args:
        store: Where to.
        raters: Names of the people to choose from.
        overlap: Raters per game.
        who: The lead who assigns.
        iteration: Its games; or name ``games``.
        games: Ids of transcripts.
        seed: The same seed gives the same plan.
        is_dry: Only plan.

    Raises:
        InputError: No games or no raters, or more raters per game than there are raters.
        NotFoundError: There is no such iteration or transcript.
    """
    if (iteration is None) == (not games):
        raise InputError("Name either an iteration or games.", place="games", remedy="One of the two is needed.")
    with store.unit(write=not is_dry):
        if iteration is not None:
            store.iterations.get(iteration)
        chosen = store.transcripts.ids(iteration) if iteration is not None else list(games)
        current = store.rating_assignments.current()
        held: dict[str, set[str]] = {game: set() for game in chosen}
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
        plan = plan_assignments(chosen, raters, overlap, held=held, refused=refused, loads=loads, seed=seed)
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
        ratings = [one for one in store.ratings.every() if one.transcript_id in names]
        standing = {(one.transcript_id, one.rater): one for one in store.ratings.current()}
        sent_back = {(one.transcript_id, one.rater) for one in store.rating_assignments.send_backs() if not one.is_done}
        refused = {(one.transcript_id, one.rater) for one in store.discards.list() if one.undone_by is None}
        under_way = store.drafts.begun()
        gold = {one.transcript_id: one for one in store.gold_ratings.list()}
        decisions = store.engagement_decisions.current()
        scores = store.results.scores(iteration)
        limits, readings = store.settings.alert_limits(), store.ratings.readings()
        people = sorted({one.rater for one in ratings} | {one.rater for one in assignments})
        progress = store.rating_queue.progress_of(people)
    assigned = {(one.transcript_id, one.rater) for one in assignments}
    states = _states(assigned, under_way, refused, set(standing), sent_back)
    engagement = scores[(scores["metric"] == ENGAGEMENT.name) & scores["score"].notna()]
    counts = dict(zip(engagement["transcript_id"], engagement["score"], strict=True))
    agreement = {one.rater: one for one in gold_results(ratings, list(gold.values()))}
    rows = []
    for key, kind in zip(summaries["transcript_id"], summaries["source_format"], strict=True):
        cells = {
            rater: GridCell(states[key, rater], standing.get((key, rater)))
            for rater in people
            if (key, rater) in states
        }
        # What an experiment simulated does not wait for people.
        if cells or kind != SIMULATED_FORMAT or iteration is not None:
            rows.append(GridGame(key, names[key], cells, gold.get(key), counts.get(key), decisions.get(key)))
    raters = []
    for rater in people:
        own = [one for one in ratings if one.rater == rater]
        timed = [one for one in readings if one.rater == rater]
        far = progress[rater]
        speed, alerts = seconds_per_message(timed), tuple(rating_alerts(own, timed, limits))
        raters.append(
            RaterSummary(rater, far.rated, far.assigned, far.waiting + far.again, speed, agreement.get(rater), alerts)
        )
    return RatingGrid(tuple(raters), tuple(rows))


def assignment_table(store: Store) -> pd.DataFrame:
    """Every assignment of stored games, withdrawn ones too, in the order in which they were made.

    Returns:
        ``assignment_id``, ``transcript_id``, ``game``, ``rater``, ``who`` (assigned it), ``created_at`` (UTC),
        ``withdrawn_by`` (empty while it holds), ``state`` (how far the rater is with the game).
    """
    import pandas as pd

    with store.unit():
        made, grid = store.rating_assignments.list(), rating_grid(store)
    games = {one.transcript_id: one for one in grid.games}
    rows = [
        {
            "assignment_id": one.id,
            "transcript_id": one.transcript_id,
            "game": games[one.transcript_id].name if one.transcript_id in games else "",
            "rater": one.rater,
            "who": one.who,
            "created_at": one.created_at,
            "withdrawn_by": one.withdrawn_by or "",
            "state": str(_state_of(games.get(one.transcript_id), one.rater)),
        }
        for one in made
    ]
    columns = ("assignment_id", "transcript_id", "game", "rater", "who", "created_at", "withdrawn_by", "state")
    return pd.DataFrame(rows, columns=list(columns))


def _state_of(game: GridGame | None, rater: str) -> CellState:
    return game.cells[rater].state if game is not None and rater in game.cells else CellState.NOT_ASSIGNED


def _states(
    assigned: set[Pair], under_way: set[Pair], refused: set[Pair], rated: set[Pair], sent_back: set[Pair]
) -> dict[Pair, CellState]:
    """The state of each pair; the last that applies stands."""
    states = dict.fromkeys(assigned, CellState.ASSIGNED)
    states |= dict.fromkeys(under_way, CellState.UNDER_WAY)
    states |= dict.fromkeys(refused, CellState.REFUSED)
    states |= dict.fromkeys(rated, CellState.DONE)
    return states | dict.fromkeys(sent_back, CellState.SENT_BACK)


def personal_link(address: str, rater: str) -> str:
    """The link that opens the desk under a rater's name.

    Args:
        address: Of the dashboard: scheme, host and port.
        rater: The name.
    """
    return f"{address.rstrip('/')}/review?rater={quote(rater_name(rater), safe='')}"
