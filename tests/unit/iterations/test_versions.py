"""A metric's new version: where results of several versions meet they are named, and evaluating again mends it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd
import pytest

from evaluation.engines.scoring import ScoreFailure, evaluate_transcript
from evaluation.errors import NotFoundError
from evaluation.iterations.board import VersionMix, version_mixes
from evaluation.ratings import Rating
from evaluation.rubric.definitions import DEFINITIONS, VERSIONS
from evaluation.score import MetricResult
from evaluation.store import Store
from evaluation.transcript import Transcript
from evaluation.workflows.reevaluation import Reevaluated, outdated, reevaluate
from tests.games import game_of

TODAY = DEFINITIONS["coherence"].version


@dataclass(frozen=True)
class Results:
    """An evaluation as another version of Dramaturg might have made it."""

    transcript: Transcript
    metrics: Mapping[str, MetricResult]
    failures: Sequence[ScoreFailure] = ()


def game(number: int) -> Transcript:
    said = [("Ann", f"I accuse Bob because of game {number}"), ("Bob", "Ann, why?")]
    return game_of(said, game_id=f"game {number}")


GAMES = [game(number) for number in range(4)]
EVALUATIONS = [evaluate_transcript(one) for one in GAMES]


def aged(number: int, metric: str, version: str, score: float | None = None) -> Results:
    """The evaluation of a game, one metric of it as an older version computed it."""
    results = dict(EVALUATIONS[number].metrics)
    old = results[metric]
    definition = replace(old.definition, version=version)
    results[metric] = replace(old, definition=definition, score=old.score if score is None else score)
    return Results(GAMES[number], results)


@pytest.fixture
def store() -> Store:
    """Games 0 and 1 in v1, 2 in v2; coherence of game 0 is by version 0, that of the others by today's."""
    store = Store(":memory:")
    for name in ("v1", "v2"):
        store.iterations.create(name)
    for number, iteration in enumerate(("v1", "v1", "v2")):
        store.transcripts.add(GAMES[number], source_name="f", iteration=iteration)
    store.results.save([aged(0, "coherence", "0", 12.5), EVALUATIONS[1], EVALUATIONS[2]])
    return store


def test_several_versions_are_named_with_their_games(store: Store) -> None:
    (mix,) = version_mixes(store.results.scores(), VERSIONS)
    assert mix == VersionMix("coherence", {"0": 1, TODAY: 2}, TODAY)
    assert mix.is_mixed
    assert mix.words == (
        f"Conversation coherence was computed by version 0 in 1 game and by version {TODAY} in 2 games: "
        "these scores do not compare."
    )


def test_versions_are_ordered_by_age_and_metrics_by_the_rubric() -> None:
    rows = [
        ("a", "coherence", "10"), ("b", "coherence", "9"), ("a", "memory_accuracy", "old"), ("a", "engagement", "0"),
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=["transcript_id", "metric", "version"])
    mixes = version_mixes(table, {name: one.version for name, one in DEFINITIONS.items()})
    assert [mix.metric for mix in mixes] == ["memory_accuracy", "coherence"]
    assert list(mixes[1].games) == ["9", "10"]


def test_what_has_another_version_or_lacks_a_score_is_outdated(store: Store) -> None:
    store.transcripts.add(GAMES[3], source_name="f")
    assert outdated(store) == [GAMES[0].id, GAMES[3].id]
    assert outdated(store, "v1") == [GAMES[0].id]
    assert outdated(store, "v2") == []
    with pytest.raises(NotFoundError, match="'v9'"):
        outdated(store, "v9")


def test_evaluating_again_brings_todays_version_and_keeps_the_old_result(store: Store) -> None:
    store.ratings.add(Rating(GAMES[0].id, "ann", 4))
    told: list[tuple[int, int]] = []
    done = reevaluate(store, outdated(store), lambda count, total: told.append((count, total)))
    # Version 0 had given 12.5 %; today's gives what EVALUATIONS holds, so one score changed.
    assert done == Reevaluated(1, {"coherence": 1}, 0, 0)
    assert told == [(1, 1)]
    assert version_mixes(store.results.scores(), VERSIONS) == ()
    assert outdated(store) == []
    results = store.results.load(GAMES[0].id)
    assert results["coherence"].score == EVALUATIONS[0].metrics["coherence"].score
    assert results["engagement"].score == 4.0
    with store.unit() as cursor:
        query = "SELECT version, score FROM metric_results WHERE transcript_id = ? AND metric = 'coherence' ORDER BY 1"
        kept = cursor.execute(query, [GAMES[0].id]).fetchall()
    assert kept == [("0", 12.5), (TODAY, results["coherence"].score)]


def test_a_game_that_is_deleted_meanwhile_is_passed_over(store: Store) -> None:
    def delete_the_second(done: int, total: int) -> None:
        if done == 1:
            store.deletions.delete([GAMES[1].id], who="Ann")

    done = reevaluate(store, [one.id for one in GAMES[:3]], delete_the_second)
    assert (done.games, done.gone) == (2, 1)
    assert reevaluate(store, ["nothing"]) == Reevaluated(gone=1)


def test_what_is_stopped_goes_on_where_it_was(store: Store) -> None:
    class Stopped(Exception):
        pass

    def stop(done: int, total: int) -> None:
        raise Stopped

    store.results.save([aged(1, "strategic_depth", "0"), aged(2, "strategic_depth", "0")])
    waiting = outdated(store)
    assert len(waiting) == 3
    with pytest.raises(Stopped):
        reevaluate(store, waiting, stop)
    assert outdated(store) == waiting[1:]
