"""Raters, queues and jobs in the store, and a clock that is set back; sheets: test_rating_sheet.py."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from evaluation.errors import ConflictError, InputError
from evaluation.judging.propositions import Dimension
from evaluation.persona.agents import Agent
from evaluation.persona.evaluation import EvaluationPlan
from evaluation.ratings import Rating
from evaluation.readers import Limits
from evaluation.rubric.definitions import DEFAULT_THRESHOLDS
from evaluation.store import JobState, Store
from evaluation.transcript import SIMULATED_FORMAT
from tests.unit.store.small_games import game

GAMES = [game(f"game {number}") for number in range(6)]


@pytest.fixture
def store() -> Store:
    store = Store(":memory:")
    store.transcripts.add_many([(one, "f") for one in GAMES])
    return store


def test_what_an_experiment_simulated_is_handed_out_only_in_an_iteration(store: Store) -> None:
    simulated = game("talk").model_copy(update={"source_format": SIMULATED_FORMAT})
    store.transcripts.add(simulated, source_name="talk.json")
    queue: list[str] = []
    while found := store.rating_queue.next_unrated("Ada"):
        queue.append(found)
        store.rating_queue.skip("Ada", found)
    assert sorted(queue) == sorted(one.id for one in GAMES)
    assert store.rating_queue.progress("Ada").total == len(GAMES)
    # Whoever rated it otherwise, from a sheet, still has it among their own.
    store.ratings.add(Rating(simulated.id, "Bob", 4))
    assert store.rating_queue.progress("Bob").total == len(GAMES) + 1
    store.iterations.create("v1")
    store.iterations.move([simulated.id], "v1")
    assert store.rating_queue.next_unrated("Ada") == simulated.id
    assert store.rating_queue.progress("Ada").total == len(GAMES) + 1


def test_a_token_is_stored_once(store: Store) -> None:
    token = store.ratings.token("ann", GAMES[0].id)
    assert store.ratings.token("ann", GAMES[0].id) == token
    assert store.ratings.token("bob", GAMES[0].id) != token
    assert store.ratings.add(Rating(GAMES[0].id, "ann", 4, token=token))
    assert not store.ratings.add(Rating(GAMES[0].id, "ann", 1, token=token))
    assert [rating.score for rating in store.ratings.of_transcript(GAMES[0].id)[0]] == [4]
    revision = store.ratings.token("ann", GAMES[0].id)
    assert revision != token
    assert store.ratings.add(Rating(GAMES[0].id, "ann", 2, token=revision))
    assert [rating.score for rating in store.ratings.of_transcript(GAMES[0].id)[0]] == [4, 2]
    assert [rating.score for rating in store.ratings.latest(GAMES[0].id)] == [2]


def test_one_person_is_one_rater_however_the_name_is_typed(store: Store) -> None:
    store.ratings.add(Rating(GAMES[0].id, "Zo\u00eb", 4))
    others = {store.rating_queue.next_unrated(" Zoe\u0308 ") for _ in range(3)}
    assert GAMES[0].id not in others
    assert store.ratings.token("Zo\u00eb", GAMES[1].id) == store.ratings.token(" Zoe\u0308", GAMES[1].id)


def test_all_ratings_as_a_table(store: Store) -> None:
    early = datetime(2026, 1, 1, 12, tzinfo=UTC)
    store.ratings.add(Rating(GAMES[0].id, "ann", 2, (True, False, None, True, True), "meh", early))
    store.ratings.add(Rating(GAMES[0].id, "ann", 3, created_at=early + timedelta(hours=1)))
    store.ratings.add(Rating(GAMES[0].id, "bob", 5, created_at=early))
    table = store.ratings.all()
    assert table["score"].tolist() == [2, 3, 5]
    assert table["is_latest"].tolist() == [False, True, True]
    first = table.iloc[0]
    assert table[["answer_1", "answer_2", "answer_3"]].isna().iloc[0].tolist() == [False, False, True]
    assert (bool(first["answer_1"]), bool(first["answer_2"])) == (True, False)
    assert first["created_at"] == early
    assert first["comment"] == "meh"


def test_the_next_transcript_has_the_fewest_raters_and_is_not_the_raters_own(store: Store) -> None:
    for one in GAMES[:5]:
        store.ratings.add(Rating(one.id, "ann", 3))
    assert store.rating_queue.next_unrated("bob") == GAMES[5].id
    assert store.rating_queue.next_unrated("ann") == GAMES[5].id
    store.ratings.add(Rating(GAMES[5].id, "ann", 3))
    assert store.rating_queue.next_unrated("ann") is None
    # Two ratings by one person count as one rater.
    store.ratings.add(Rating(GAMES[5].id, "ann", 4))
    seen = []
    while (found := store.rating_queue.next_unrated("bob")) is not None:
        seen.append(found)
        store.ratings.add(Rating(found, "bob", 3))
    assert sorted(seen) == sorted(one.id for one in GAMES)


def test_the_order_is_the_raters_own_and_stays(store: Store) -> None:
    def order(rater: str) -> list[str]:
        seen: list[str] = []
        while (found := store.rating_queue.next_unrated(rater)) is not None:
            seen.append(found)
            store.rating_queue.skip(rater, found)
        store.rating_queue.take_back_skips(rater)
        return seen

    orders = {rater: order(rater) for rater in ("ann", "bob", "cleo", "dan")}
    assert all(sorted(one) == sorted(game.id for game in GAMES) for one in orders.values())
    assert len({tuple(one) for one in orders.values()}) > 1
    assert order("ann") == orders["ann"]


def test_the_baseline_is_the_first_until_another_is_promoted(store: Store) -> None:
    for name in ("v1", "v2", "v3"):
        store.iterations.create(name)

    def baselines() -> list[str]:
        return [one.name for one in store.iterations.list() if one.is_baseline]

    assert baselines() == ["v1"]
    store.iterations.promote("v3")
    store.iterations.promote("v2")
    assert baselines() == ["v2"]


def test_a_sign_off_says_who_when_and_why(store: Store) -> None:
    store.iterations.create("v1")
    assert not store.iterations.get("v1").is_signed_off
    store.iterations.sign_off("v1", "ann", "gripping")
    store.iterations.sign_off("v1", "bob", "fascinating")
    signed = store.iterations.get("v1")
    assert (signed.signed_off_by, signed.signed_off_note) == ("bob", "fascinating")
    assert signed.signed_off_at is not None
    assert abs(signed.signed_off_at - datetime.now(UTC)) < timedelta(minutes=1)
    with pytest.raises(InputError):
        store.iterations.sign_off("v1", "")


def test_a_transcript_put_into_an_iteration_comes_after_its_games(store: Store) -> None:
    store.iterations.create("v1")
    store.iterations.create("v2")
    for one in (GAMES[2], GAMES[0], GAMES[1]):
        store.iterations.move([one.id], "v1")
    assert store.transcripts.summaries("v1")["game_id"].tolist() == ["game 2", "game 0", "game 1"]
    store.iterations.move([GAMES[2].id], "v1")
    assert store.transcripts.summaries("v1")["game_id"].tolist() == ["game 2", "game 0", "game 1"], "it was there"
    store.iterations.move([GAMES[2].id], "v2")
    store.iterations.move([GAMES[2].id], "v1")
    assert store.transcripts.summaries("v1")["game_id"].tolist() == ["game 0", "game 1", "game 2"]
    store.iterations.move([GAMES[2].id], None)
    assert store.transcripts.summaries("v1")["position"].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("metric", "value"),
    [("speed", 1), ("coherence", 101), ("coherence", -1), ("engagement", 0.5), ("coherence", float("nan"))],
)
def test_a_threshold_off_the_scale_is_refused(store: Store, metric: str, value: float) -> None:
    with pytest.raises(InputError):
        store.settings.set_threshold(metric, value)
    assert store.settings.thresholds() == dict(DEFAULT_THRESHOLDS)


def test_a_limit_of_another_version_is_passed_over(store: Store) -> None:
    store.settings.set("import_limits", {"from_the_future": 3, "players": 4})
    assert store.settings.limits() == Limits(players=4)


def test_a_job_from_beginning_to_end(store: Store) -> None:
    job = store.jobs.create("evaluate", "caf\udce9.json", 26)
    assert job.label == "caf?.json"
    assert (job.state, job.done, job.total, job.is_cancel_requested) == (JobState.RUNNING, 0, 26, False)
    job = store.jobs.update(job.id, done=3, message="reading")
    assert (job.done, job.message, job.finished_at) == (3, "reading", None)
    assert [one.id for one in store.jobs.running()] == [job.id]
    store.jobs.cancel(job.id)
    assert store.jobs.update(job.id, done=4).is_cancel_requested
    job = store.jobs.update(job.id, state=JobState.CANCELLED)
    assert (job.state, job.done, job.message) == (JobState.CANCELLED, 4, "reading")
    assert job.finished_at is not None
    assert store.jobs.running() == []
    assert [one.id for one in store.jobs.list()] == [job.id]


def test_an_exclusive_job_runs_alone_of_its_kind_until_it_or_its_process_ends(store: Store) -> None:
    job = store.jobs.create("evaluate", "26 games", 26, is_exclusive=True)
    with pytest.raises(ConflictError, match="26 games is running already"):
        store.jobs.create("evaluate", "3 games", 3, is_exclusive=True)
    store.jobs.create("export", "all", 1, is_exclusive=True)
    store.jobs.update(job.id, state=JobState.DONE)
    job = store.jobs.create("evaluate", "3 games", 3, is_exclusive=True)
    with store.unit(write=True) as cursor:
        # Its process has ended: the same number, but started at another time.
        cursor.execute("UPDATE jobs SET owner = owner || '1'")
    assert store.jobs.get(job.id).state is JobState.INTERRUPTED
    assert store.jobs.create("evaluate", "again", 26, is_exclusive=True).state is JobState.RUNNING


NOW = datetime.now(UTC)
FAST = NOW + timedelta(hours=3)


ONE, TWO = game("one"), game("two")


@pytest.fixture
def two_games() -> Iterator[Store]:
    made = Store(":memory:")
    for each in (ONE, TWO):
        made.transcripts.add(each, source_name=each.game_id)
    yield made
    made.close()


def counting(two_games: Store) -> dict[str, int]:
    """The score that counts of each rater, which every way of asking gives alike."""
    latest = {rating.rater: rating.score for rating in two_games.ratings.latest(ONE.id)}
    table = two_games.ratings.all()
    rows = table[table["is_latest"] & (table["transcript_id"] == ONE.id)]
    assert dict(zip(rows["rater"], rows["score"], strict=True)) == latest
    for rater, score in latest.items():
        (own,) = [one.score for one in two_games.ratings.by_rater(rater) if one.transcript_id == ONE.id]
        assert own == score
    mean = sum(latest.values()) / len(latest)
    assert two_games.results.load(ONE.id)["engagement"].score == mean
    scores = two_games.results.scores().set_index(["transcript_id", "metric"])["score"]
    assert scores[ONE.id, "engagement"] == mean
    with two_games.unit() as cursor:
        found = cursor.execute("SELECT score FROM engagement WHERE transcript_id = ?", [ONE.id]).fetchall()
    assert found == [(mean,)]
    return latest


def test_a_revision_counts_and_stands_first_though_the_clock_was_set_back(two_games: Store) -> None:
    two_games.ratings.add(Rating(ONE.id, "Ada", 2, created_at=FAST))
    two_games.ratings.add(Rating(ONE.id, "Bob", 1, created_at=NOW))
    two_games.ratings.add(Rating(ONE.id, "Ada", 5, created_at=NOW))
    two_games.ratings.add(Rating(TWO.id, "Ada", 3, created_at=NOW - timedelta(hours=1)))
    assert counting(two_games) == {"Ada": 5, "Bob": 1}
    assert [rating.score for rating in two_games.ratings.of_transcript(ONE.id)[0]] == [2, 1, 5]
    assert [rating.transcript_id for rating in two_games.ratings.by_rater("Ada")] == [TWO.id, ONE.id]


def test_ratings_that_were_deleted_come_back_as_they_counted(two_games: Store) -> None:
    two_games.ratings.add(Rating(ONE.id, "Ada", 2, created_at=FAST))
    two_games.ratings.add(Rating(ONE.id, "Ada", 5, created_at=NOW))
    two_games.ratings.add_many([Rating(ONE.id, "Ada", 3, created_at=NOW - timedelta(days=1))])
    deletion = two_games.deletions.delete([ONE.id], who="Eve")
    two_games.deletions.undo(deletion.id, who="Eve")
    assert counting(two_games) == {"Ada": 5}


def test_the_form_touched_last_is_on_the_desk_first(two_games: Store) -> None:
    for each in (ONE, TWO):
        assert two_games.drafts.save(two_games.ratings.token("Ada", each.id), 1, {"score": 3})
    for earlier, later in ((ONE, TWO), (TWO, ONE)):
        token = two_games.ratings.token("Ada", earlier.id)
        with two_games.unit(write=True) as cursor:
            cursor.execute("UPDATE drafts SET updated_at = ? WHERE token = ?", [FAST, token])
        assert two_games.rating_queue.next_unrated("Ada") == later.id
        assert two_games.drafts.save(token, 2, {"score": 4})


def test_the_run_made_last_is_the_latest(two_games: Store) -> None:
    plan = EvaluationPlan([Dimension.FLUENCY])
    first, last = (two_games.evaluations.begin(Agent("ann", "Ann"), plan) for _ in range(2))
    with two_games.unit(write=True) as cursor:
        cursor.execute("UPDATE evaluation_runs SET created_at = ? WHERE id::text = ?", [FAST, first])
        cursor.execute("UPDATE evaluation_runs SET status = 'completed'")
    assert list(two_games.evaluations.runs()["run_id"]) == [first, last]
    assert list(two_games.evaluations.latest()["run_id"]) == [last]
    assert two_games.evaluations.newest() == two_games.evaluations.runs()["position"].max()
