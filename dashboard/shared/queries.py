"""Queries of the pages on the store, with results ready to draw. Independent of Streamlit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import pandas as pd

from dashboard.shared.chat.conversation import Conversation, RowsByMessage, rows_by_message
from dashboard.shared.formatting import look, score_text
from evaluation.iterations.board import Board
from evaluation.readers.import_report import ImportReport
from evaluation.rubric.at_chance import metrics_above_chance
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT
from evaluation.rubric.verdict import (
    COST_LIMIT_USD,
    MetricScore,
    Scored,
    Verdict,
    compute_verdict,
    judge_scores,
    marked_status,
    metric_changed,
    shown_status,
)
from evaluation.score import MetricResult, Status, changed_words, failure_beyond_score
from evaluation.store import Store
from evaluation.store.transcripts import FoundMessages, simulated
from evaluation.transcript import SIMULATED_FORMAT, Transcript
from evaluation.workflows.iterations import stored_board

NO_ITERATION = "no iteration"
REPORTS_SHOWN = 20


SIMULATED = "simulated conversations"
"""The group of what experiments and A/B tests simulated, unless somebody put it into an iteration."""

LOOSE = (NO_ITERATION, SIMULATED)
"""The groups that are not iterations."""


def group_of(iteration: object, source_format: object, places: Mapping[str, int]) -> tuple[int, str]:
    """The place and the name of the group that a game is counted in: its iteration, else one of ``LOOSE``, after them.

    Args:
        iteration: Its iteration's name; anything else for none.
        source_format: The format of its file.
        places: Iterations by name, from 1.
    """
    if isinstance(iteration, str) and iteration in places:
        return places[iteration], iteration
    is_simulated = source_format == SIMULATED_FORMAT
    return len(places) + 1 + is_simulated, SIMULATED if is_simulated else NO_ITERATION


@dataclass(frozen=True, slots=True)
class Overview:
    """Data of the Overview page.

    Attributes:
        waiting: The games that the desk hands out and nobody has rated, in the order in which they were added:
            ``Game`` and ``Iteration`` (empty for none).
        transcripts: How many games there are.
        simulated: How many simulated conversations of no iteration there are; they count in none of the others.
    """

    board: Board
    waiting: pd.DataFrame
    transcripts: int
    simulated: int


def overview(store: Store) -> Overview:
    """The iterations with their tests and decisions, the checklist over all tests, and what waits for review."""
    with store.unit():
        summaries = store.transcripts.summaries()
        # Read once: those of 100,000 games take seconds.
        metrics = store.results.metric_scores()
        board = stored_board(store, metrics)
    apart = int(simulated(summaries).sum())
    return Overview(board, _waiting_games(summaries, metrics), len(summaries) - apart, apart)


def _waiting_games(summaries: pd.DataFrame, metrics: Mapping[str, Mapping[str, MetricScore]]) -> pd.DataFrame:
    # Engagement is there for all games.
    wanted = {key for key, found in metrics.items() if found[ENGAGEMENT.name].status is Status.PENDING}
    apart = zip(summaries["transcript_id"].tolist(), simulated(summaries).tolist(), strict=True)
    waits = [key in wanted and not is_simulated for key, is_simulated in apart]
    # An empty list would choose columns.
    waiting = summaries[pd.Series(waits, index=summaries.index, dtype=bool)]
    return pd.DataFrame({"Game": waiting["game"], "Iteration": waiting["iteration"].fillna("")})


POINT_COLUMNS = (
    *("metric", "position", "iteration", "game", "transcript_id", "score", "status", "raters"),
    *("settled", "considered"),
    *("chance", "companion", "control", "judges", "reason"),
)


def trend_points(store: Store) -> pd.DataFrame:
    """Read every game's score on every metric, for the Trends page.

    Returns:
        One row per game and metric, ordered by iteration: ``metric``, ``position`` (of the iteration, from 1),
        ``iteration`` (name), ``game``, ``transcript_id``, ``score`` (NaN when there is none), ``status``, ``raters``
        (how many people rated the game), ``settled`` and ``considered`` (what it rests on; 0 for metrics that leave
        nothing out), ``chance`` (the score of scrambled copies) and ``companion`` (both NaN where unknown),
        ``control`` (``None`` while it is not computed), and ``judges`` (whose it is),
        and ``reason`` (why there is no score). Games of no iteration come last,
        then simulated conversations of none.
    """
    with store.unit():
        summaries = store.transcripts.summaries()
        metrics = store.results.metric_scores()
        names = [one.name for one in store.iterations.list()]
        raters = store.ratings.rater_counts()
    places = {name: place for place, name in enumerate(names, start=1)}
    games = zip(*(summaries[name].tolist() for name in _POINT_SOURCES), strict=True)
    # Games are put in order, not their points, of which there are seven times as many.
    ordered = sorted(
        ((group_of(iteration, kind, places), game, key, raters.get(key, 0)) for key, game, iteration, kind in games),
        key=lambda one: one[0][0],
    )
    rows = [
        (point[0], *group, game, key, *point[1:3], rated, *point[3:])
        for group, game, key, rated in ordered
        for point in [_point(metric, one) for metric, one in metrics.get(key, {}).items()]
    ]
    frame = pd.DataFrame(rows, columns=list(POINT_COLUMNS))
    return frame.astype(dict.fromkeys(("score", "chance", "companion"), float))


_POINT_SOURCES = ("transcript_id", "game", "iteration", "source_format")


def _point(metric: str, outcome: MetricScore) -> tuple[Any, ...]:
    """The cells of a point that its score decides: the columns of ``POINT_COLUMNS`` that follow from nothing else."""
    coverage = outcome.coverage
    settled, considered = (coverage.settled, coverage.considered) if coverage else (0, 0)
    control = outcome.control
    companion = (control or {}).get("companion") or {}
    beside = (control or {}).get("chance"), companion.get("value"), control
    return metric, outcome.score, str(outcome.status), settled, considered, *beside, outcome.judges, outcome.reason


def transcript_list(store: Store) -> pd.DataFrame:
    """One row per transcript, in the order of adding, for the list on the Games page.

    Returns:
        ``transcript_id``, ``game_id``, ``source_name``, ``iteration`` ("" for none), ``source_format``, ``players``,
        ``messages``, ``label`` (the name by which people know the game), ``names`` (of the players, one a line),
        ``opening`` (the first public message, with its speaker, cut), ``ratings`` (how many people rated it),
        ``verdict`` (status), ``passed`` (how many metrics pass), ``chance`` (how many can be told from it, in
        words), ``failing`` (the metrics that do not), ``coverage`` (in words for each metric, empty for none), and for
        every metric its score in words under its own name and as a number (NaN for none) under ``score_`` and its name;
        ``unrated_verdict`` and ``unrated_passed`` are verdict and passes without engagement.
    """
    with store.unit():
        summaries = store.transcripts.summaries()
        metrics = store.results.metric_scores()
        people = store.transcripts.introductions()
        ratings = store.ratings.rater_counts()
    keys = [str(key) for key in summaries["transcript_id"]]
    known = {
        **{name: summaries[name].tolist() for name in _PLAIN_COLUMNS},
        "iteration": ["" if pd.isna(one) else one for one in summaries["iteration"].tolist()],
        "label": summaries["game"].tolist(),
        "names": [people[key][0] for key in keys],
        "opening": [people[key][1] for key in keys],
        "ratings": [ratings.get(key, 0) for key in keys],
    }
    costs = [None if pd.isna(usd) else float(str(usd)) for usd in summaries["total_usd"].tolist()]
    judged: dict[_Statuses, tuple[str, int, str, int]] = {}
    cells = [_scored_cells(metrics.get(key, {}), usd, judged) for key, usd in zip(keys, costs, strict=True)]
    scored = dict(zip(_SCORED_COLUMNS, zip(*cells, strict=True) if cells else [()] * len(_SCORED_COLUMNS), strict=True))
    return pd.DataFrame({**known, **scored}).astype(dict.fromkeys(_SCORE_COLUMNS, float))


_PLAIN_COLUMNS = ("transcript_id", "game_id", "source_name", "source_format", "players", "messages")
_VERDICT_COLUMNS = ("verdict", "passed", "unrated_verdict", "unrated_passed", "chance", "failing", "coverage")
_SCORE_COLUMNS = tuple(f"score_{name}" for name in DEFINITIONS)
_SCORED_COLUMNS = (*_VERDICT_COLUMNS, *DEFINITIONS, *_SCORE_COLUMNS)
_Statuses = tuple[object, ...]


def _scored_cells(
    outcomes: Mapping[str, MetricScore], usd: float | None, judged: dict[_Statuses, tuple[str, int, str, int]]
) -> tuple[object, ...]:
    """The cells of a game in the list that its scores decide, in the order of ``_SCORED_COLUMNS``.

    Args:
        outcomes: By metric.
        usd: What it cost; ``None`` where unknown.
        judged: Status and passes of verdicts by what decides them. Few combinations of statuses occur, so that the
            games of a list share one.
    """
    held = [outcomes.get(name) for name in DEFINITIONS]
    decides = (usd is not None and usd > COST_LIMIT_USD, *(one and shown_status(one) for one in held))
    if decides not in judged:
        verdict = judge_scores(outcomes, usd)
        unrated = judge_scores({name: one for name, one in outcomes.items() if name != ENGAGEMENT.name}, usd)
        judged[decides] = str(verdict.status), verdict.passed_count, str(unrated.status), unrated.passed_count
    return (
        *judged[decides],
        metrics_above_chance(one.control for one in outcomes.values() if one.score is not None),
        tuple(name for name, outcome in outcomes.items() if outcome.status is Status.FAILED),
        tuple(_rests_on(one) if one and one.score is not None else "" for one in held),
        *(score_cell(name, one) for name, one in zip(DEFINITIONS, held, strict=True)),
        *(None if one is None else one.score for one in held),
    )


def _rests_on(one: MetricScore) -> str:
    return ", ".join(filter(None, (changed_words(one.changed), one.coverage.words if one.coverage else "")))


def score_cell(metric: str, outcome: Scored | None) -> str:
    """A score in a table, with the symbol of its status: "✓ 84.0 %"."""
    if outcome is None:
        return look("unknown").label
    if outcome.score is None:
        return look(outcome.status).label
    beyond = BEYOND_SCORE if failure_beyond_score(outcome) else ""
    changed = CHANGED if metric_changed(outcome) else ""
    return (
        _symbol_and_score(metric, marked_status(metric, outcome), outcome.score, outcome.threshold) + beyond + changed
    )


@lru_cache(maxsize=100_000)
def _symbol_and_score(metric: str, status: str, score: float, threshold: float) -> str:
    return f"{look(status).symbol} {score_text(score, DEFINITIONS[metric].scale, threshold)}"


CHANGED = " ✎"
"""Beside a score of which people changed rows."""
BEYOND_SCORE = ", robotic"
"""Beside such a score: one phrase stands in too many messages, which fails whatever the score."""


def found_messages(store: Store, query: str, within: Sequence[str] | None) -> FoundMessages:
    """The messages that hold every word of ``query``, in those transcripts or in all."""
    return store.messages.search(query, within=within)


@dataclass(frozen=True)
class OpenTranscript:
    """One transcript with its results and verdict, judged by today's thresholds. Shared between sessions: nobody
    changes it.

    Attributes:
        name: The title of the game, as its file or a person gave it.
        label: The name by which people know it, see ``Transcripts.game_names``.
    """

    transcript: Transcript
    name: str
    label: str
    iteration: str | None
    results: Mapping[str, MetricResult]
    verdict: Verdict

    @cached_property
    def concerning(self) -> RowsByMessage:
        """The ledger rows of each message: message id -> metric -> rows."""
        return rows_by_message(self.results)

    def without_ratings(self) -> OpenTranscript:
        """The same without engagement, for a rater who has not rated the game; the verdict is an unrated game's."""
        results = {name: one for name, one in self.results.items() if name != ENGAGEMENT.name}
        return replace(self, results=results, verdict=compute_verdict(results, self.transcript.cost))

    def conversation(self, *, roles_hidden: bool) -> Conversation:
        """The conversation for the chat view: the same object each time."""
        return self._blind_conversation if roles_hidden else self._whole_conversation

    @cached_property
    def _whole_conversation(self) -> Conversation:
        return Conversation.of(self.transcript, self.concerning, roles_hidden=False)

    @cached_property
    def _blind_conversation(self) -> Conversation:
        return Conversation.of(self.transcript, self.concerning, roles_hidden=True)


def open_unrated(store: Store, transcript_id: str) -> OpenTranscript:
    """Read a transcript without engagement, for a rater who has not rated it.

    Raises:
        NotFoundError: There is none.
    """
    return open_transcript(store, transcript_id).without_ratings()


def open_transcript(store: Store, transcript_id: str) -> OpenTranscript:
    """Read a transcript with its results.

    Raises:
        NotFoundError: There is none.
    """
    with store.unit():
        transcript = store.transcripts.get(transcript_id)
        results = store.results.load(transcript_id)
        summaries = store.transcripts.summaries()
    own = summaries[summaries["transcript_id"] == transcript_id].iloc[0]
    return OpenTranscript(
        transcript,
        str(own["game_id"]),
        str(own["game"]),
        None if pd.isna(own["iteration"]) else str(own["iteration"]),
        results,
        compute_verdict(results, transcript.cost),
    )


def transcript_ids(store: Store) -> frozenset[str]:
    """The ids of all stored transcripts."""
    return frozenset(store.transcripts.ids())


def iteration_sizes(store: Store) -> dict[str, int]:
    """Number of games of each iteration, in the order of the iterations."""
    with store.unit():
        names = [one.name for one in store.iterations.list()]
        held = store.transcripts.summaries()["iteration"].value_counts()
    return {name: int(held.get(name, 0)) for name in names}


def next_parent(store: Store) -> str | None:
    """The iteration that a next one is changed from: the latest kept or baseline, else the latest not reverted."""
    standing = [one for one in store.iterations.list() if not one.is_reverted]
    bases = [one for one in standing if one.is_kept or one.is_baseline] or standing
    return bases[-1].name if bases else None


def near_copies(store: Store, games: Sequence[Transcript]) -> dict[str, str]:
    """The name of the game that each of some games that are not stored repeats nearly word for word, by its id."""
    with store.unit():
        names = {game.id: game.game_id for game in games} | store.transcripts.game_names()
        found = store.transcripts.originals(beside=games)
    return {game.id: names[found[game.id]] for game in games if game.id in found}


def import_reports(store: Store) -> list[ImportReport]:
    """The latest reports on imports, newest first; one that goes on tells how far it is."""
    with store.unit():
        return [store.imports.so_far(report) for report in store.imports.list(REPORTS_SHOWN)]
