"""The work of a team of raters: plan assignments, and show who has rated what, how, and what is disputed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from evaluation.errors import InputError
from evaluation.rating_desk.assignments import AssignmentPlan, Pair, plan_assignments
from evaluation.ratings import EngagementDecision, Rating
from evaluation.rubric.definitions import ENGAGEMENT
from evaluation.store import Store
from evaluation.transcript import SIMULATED_FORMAT


class CellState(StrEnum):
    """State of a game in the hands of a rater."""

    DONE = "done"
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
        symbol = _SYMBOLS[self.state]
        return f"{symbol} {self.rating.score}" if self.rating is not None else f"{symbol} {self.state}"


_SYMBOLS = {
    CellState.DONE: "✓",
    CellState.UNDER_WAY: "…",
    CellState.ASSIGNED: "○",
    CellState.REFUSED: "✗",
    CellState.NOT_ASSIGNED: "–",
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
class RaterSummary:
    """A rater's work in all.

    Attributes:
        rated: Games with a rating by this person.
        assigned: Games assigned to this person.
        waiting: Those of them that are not done.
    """

    rater: str
    rated: int
    assigned: int
    waiting: int


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
        standing = {(one.transcript_id, one.rater): one for one in store.ratings.current()}
        refused = {(one.transcript_id, one.rater) for one in store.discards.list() if one.undone_by is None}
        under_way = store.drafts.begun()
        decisions = store.engagement_decisions.current()
        scores = store.results.scores(iteration)
        people = sorted({rater for _, rater in standing} | {one.rater for one in assignments})
        progress = store.rating_queue.progress_of(people)
    assigned = {(one.transcript_id, one.rater) for one in assignments}
    states = _states(assigned, under_way, refused, set(standing))
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
    far = {rater: progress[rater] for rater in people}
    raters = tuple(RaterSummary(rater, one.rated, one.assigned, one.waiting) for rater, one in far.items())
    return RatingGrid(raters, tuple(rows))


def _states(assigned: set[Pair], under_way: set[Pair], refused: set[Pair], rated: set[Pair]) -> dict[Pair, CellState]:
    """The state of each pair; the last that applies stands."""
    states = dict.fromkeys(assigned, CellState.ASSIGNED)
    states |= dict.fromkeys(under_way, CellState.UNDER_WAY)
    states |= dict.fromkeys(refused, CellState.REFUSED)
    return states | dict.fromkeys(rated, CellState.DONE)
