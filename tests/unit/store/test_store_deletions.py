"""Deleting and undoing: what is deleted is nowhere to be seen, and what comes back is what went."""

import itertools
import shutil
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.engines.scoring import evaluate_transcript
from evaluation.errors import ConflictError, InputError, NotFoundError
from evaluation.iterations.iteration import Description
from evaluation.rating_desk.assignments import DiscardReason
from evaluation.rating_desk.style_check import StyleAnswer
from evaluation.ratings import Rating
from evaluation.rubric_judge.reading_decisions import RowDecision
from evaluation.score import RowVerdict
from evaluation.store import DeletionKind, Store
from evaluation.transcript import Elimination, Transcript, Vote
from evaluation.workflows.reevaluation import compute_missing
from evaluation.workflows.scoring import stored_results_table
from tests.games import game_of

BOOKKEEPING = {"deletions", "schema_migrations"}

NEW_YEAR = datetime(2025, 1, 1, tzinfo=UTC)


def game(name: str) -> Transcript:
    """A small game with something in every table."""
    said = [
        ("Ann", f"I suspect Bob in {name}", {"recipients": ("Bob",)}),
        ("Bob", "Ann, I trust no one", {"sent_at": NEW_YEAR}),
    ]
    return game_of(
        said,
        {"Ann": {"role": "mafia", "alignment": "mafia"}, "Bob": {"metadata": {"a": [1, None]}}},
        game_id=name,
        votes=(Vote(round=1, voter="Ann", target="Bob"),),
        eliminations=(Elimination(round=1, player="Bob"),),
    )


GAMES = [game(f"game {number}") for number in range(4)]
EVALUATIONS = [evaluate_transcript(one) for one in GAMES]


def put_in(store: Store) -> None:
    """Two iterations, the second signed off and the baseline: games 0 and 1 in one, 2 in the other, 3 in none.

    Of game 0 there is all that there can be of a game.
    """
    store.iterations.create("v1", change="first")
    store.iterations.create("v2", parent="v1", prompt_text="Be bold", target_metric="coherence")
    for number, iteration in enumerate(("v1", "v1", "v2", None)):
        one = GAMES[number]
        store.transcripts.add(one, source_name=f"{number}.json", iteration=iteration)
        store.results.save([EVALUATIONS[number]])
        store.ratings.add(Rating(one.id, "bob", 4, created_at=NEW_YEAR))
        store.ratings.add(Rating(one.id, "bob", 5, (True, None, False, None, True)))
        store.drafts.save(store.ratings.token("ann", one.id), 1, {"score": 3})
        made = store.overrides.add(one.id, "strategic_depth", "strategic_depth:m0", "counts", author="a", reason="b")
        store.overrides.undo(made.id, "a")
        store.overrides.add(one.id, "strategic_depth", "strategic_depth:m1", "excluded", author="a", reason="c")
    store.iterations.promote("v2")
    store.iterations.sign_off("v2", "Ann", "gripping")
    first = GAMES[0].id
    for who in ("ann", "bob"):
        store.rating_assignments.add([(first, who)], who="lead")
        store.discards.add(first, who, DiscardReason.OTHER, "not now")
    store.ratings.add(Rating(first, "cid", 1))
    store.engagement_decisions.add(first, 2, who="lead", reason="seen by two")
    store.style_answers.add(StyleAnswer(first, "bob", "Ann", "voice", ("Ann", "Bob"), ("m0",), "Ann", "Bob"))
    row, counts = "strategic_depth:m0", RowVerdict.COUNTS
    store.decisions.save([RowDecision(first, "strategic_depth", row, counts, "", "r", 0.9, (), "live", "gpt", "key")])
    compute_missing(store, [first])


@pytest.fixture(scope="module")
def filled_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("filled") / "filled.duckdb"
    store = Store(path)
    put_in(store)
    store.close()
    return path


def copy_of(filled_file: Path) -> Store:
    return Store(shutil.copy(filled_file, filled_file.with_name(f"{uuid4().hex}.duckdb")))


@pytest.fixture
def store(filled_file: Path) -> Iterator[Store]:
    copied = copy_of(filled_file)
    yield copied
    copied.close()


def contents(store: Store) -> dict[str, Counter[str]]:
    """Every row of every table but what is kept about deletions, in no order."""
    with store.unit() as cursor:
        tables = [row[0] for row in cursor.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        return {
            table: Counter(row[0] for row in cursor.execute(f"SELECT t::text FROM {table} t").fetchall())
            for table in tables
            if table not in BOOKKEEPING
        }


def shown(store: Store) -> tuple[object, ...]:
    """What people see: the list, all scores and ratings, and the iterations with their history."""
    return (
        store.transcripts.summaries().to_csv(),
        store.results.scores().to_csv(),
        store.ratings.all().to_csv(),
        store.overrides.current(),
        store.iterations.list(),
        [store.iterations.history(one.name) for one in store.iterations.list()],
    )


def ids(*numbers: int) -> list[str]:
    return [GAMES[number].id for number in numbers]


def test_a_deleted_transcript_is_nowhere_to_be_seen(store: Store) -> None:
    (gone,) = ids(0)
    override, discard = store.overrides.current(gone)[0].id, store.discards.of("ann")[0].id
    decided, token = store.engagement_decisions.list()[0].id, store.ratings.token("ann", gone)
    deletion = store.deletions.delete([gone], who="Ann")
    for ask in (
        lambda: store.transcripts.get(gone),
        lambda: store.transcripts.resolve(gone),
        lambda: store.transcripts.resolve("game 0"),
        lambda: store.results.load(gone),
        lambda: store.overrides.undo(override, "a"),
        lambda: store.discards.undo(discard, who="a"),
        lambda: store.engagement_decisions.undo(decided, who="a"),
    ):
        with pytest.raises(NotFoundError):
            ask()
    for table in (
        store.transcripts.summaries(), store.results.scores(), stored_results_table(store), store.ratings.all(),
    ):  # fmt: skip
        assert gone not in set(table["transcript_id"])
    for rows in (
        store.ratings.every(), store.ratings.every("bob"), store.ratings.current(), store.ratings.by_rater("bob"),
        store.rating_assignments.list(), store.discards.list(), store.discards.of("ann"),
        store.engagement_decisions.list(), store.style_answers.list(), store.overrides.current(),
        store.decisions.current(gone),
    ):  # fmt: skip
        assert gone not in {one.transcript_id for one in rows}
    assert gone not in store.ratings.rater_counts()
    assert gone not in {game for game, _ in store.drafts.begun()}
    assert store.ratings.assigned("ann", token) is None
    assert len(store.transcripts.summaries("v1")) == 1
    assert gone not in store.controls.missing()
    assert store.messages.search('"suspect Bob in game 0"').total == 0
    queue: list[str] = []
    while (found := store.rating_queue.next_unrated("new rater")) is not None:
        queue.append(found)
        store.rating_queue.skip("new rater", found)
    assert sorted(queue) == sorted(ids(1, 2, 3))
    progress = store.rating_queue.progress("bob")
    assert (progress.rated, progress.discarded, progress.total, progress.assigned) == (3, 0, 3, 0)
    assert store.rating_queue.progress("cid").rated == 0
    store.deletions.purge(deletion.id, who="Ann")
    assert not [table for table, rows in contents(store).items() if any(gone in row for row in rows)]


def test_undo_brings_everything_back_as_it_was(store: Store) -> None:
    before, seen = contents(store), shown(store)
    deletion = store.deletions.delete(ids(0, 2), who="Ann")
    assert (deletion.kind, deletion.label, deletion.games, deletion.who) == (DeletionKind.GAMES, "2 games", 2, "Ann")
    assert abs(deletion.deleted_at - datetime.now(UTC)) < timedelta(minutes=1)
    assert store.deletions.list() == [deletion]
    store.deletions.undo(deletion.id, who="Bob")
    assert contents(store) == before
    assert shown(store) == seen
    assert store.transcripts.get(GAMES[0].id) == GAMES[0]
    assert store.deletions.list() == []


@pytest.mark.parametrize("with_games", [True, False])
def test_undo_brings_an_iteration_back_with_its_games_and_its_place(store: Store, with_games: bool) -> None:
    store.iterations.describe(Description("v1", change="First of all"), who="Ann")
    before, seen = contents(store), shown(store)
    deletion = store.deletions.delete_iteration("v1", who="Ann", with_games=with_games)
    assert (deletion.kind, deletion.label, deletion.games) == (DeletionKind.ITERATION, "v1", 2 * with_games)
    assert [one.name for one in store.iterations.list()] == ["v2"]
    left = store.transcripts.summaries()
    assert left["game_id"].tolist() == [f"game {number}" for number in ((2, 3) if with_games else range(4))]
    assert left["iteration"].isna().sum() == (1 if with_games else 3)
    store.deletions.undo(deletion.id, who="Ann")
    assert contents(store) == before
    assert shown(store) == seen


def test_without_its_iteration_the_baseline_is_the_one_before(store: Store) -> None:
    deletion = store.deletions.delete_iteration("v2", who="Ann")
    assert [(one.name, one.is_baseline) for one in store.iterations.list()] == [("v1", True)]
    store.deletions.undo(deletion.id, who="Ann")
    v1, v2 = store.iterations.list()
    assert (v1.is_baseline, v2.is_baseline, v2.signed_off_by) == (False, True, "Ann")


def test_an_iteration_of_the_same_name_stands_in_the_way_of_undo(store: Store) -> None:
    deletion = store.deletions.delete_iteration("v1", who="Ann", with_games=True)
    store.iterations.create("v1")
    before = contents(store)
    with pytest.raises(ConflictError, match=r"Another iteration is called 'v1' now\. Rename that one first"):
        store.deletions.undo(deletion.id, who="Ann")
    assert contents(store) == before
    store.iterations.rename("v1", "v1 again", who="Ann")
    store.deletions.undo(deletion.id, who="Ann")
    assert [one.name for one in store.iterations.list()] == ["v1", "v2", "v1 again"]
    assert len(store.transcripts.summaries("v1")) == 2
    assert store.transcripts.summaries("v1 again").empty


def test_a_game_comes_back_to_its_iteration_whatever_that_is_called_now(store: Store) -> None:
    deletion = store.deletions.delete(ids(0), who="Ann")
    store.iterations.rename("v1", "v1 with a better name", who="Ann")
    store.deletions.undo(deletion.id, who="Ann")
    assert store.transcripts.summaries("v1 with a better name")["game_id"].tolist() == ["game 0", "game 1"]


def test_a_game_that_its_iteration_left_and_that_was_deleted_then_comes_back_into_it(store: Store) -> None:
    before = contents(store)
    of_iteration = store.deletions.delete_iteration("v1", who="Ann")
    of_game = store.deletions.delete(ids(1), who="Ann")
    store.deletions.undo(of_iteration.id, who="Ann")
    store.deletions.undo(of_game.id, who="Ann")
    assert contents(store) == before


def test_a_game_that_was_moved_since_stays_where_it_was_put(store: Store) -> None:
    deletion = store.deletions.delete_iteration("v1", who="Ann")
    store.iterations.move([GAMES[0].id], "v2")
    store.deletions.undo(deletion.id, who="Ann")
    assert store.transcripts.summaries("v1")["game_id"].tolist() == ["game 1"]
    assert store.transcripts.summaries("v2")["game_id"].tolist() == ["game 2", "game 0"]


def test_adding_a_deleted_transcript_again_brings_it_back_with_its_ratings(store: Store) -> None:
    before = contents(store)
    store.deletions.delete(ids(0, 3), who="Ann")
    assert store.deletions.among(ids(0, 1, 3)) == set(ids(0, 3))
    first = store.transcripts.add(GAMES[0], source_name="another name.json")
    assert (first.is_new, first.is_restored, first.iteration) == (False, True, "v1")
    (left,) = store.deletions.list()
    assert (left.games, left.label) == (1, "1 of 2 games")
    both = store.transcripts.add_many([(GAMES[3], "a"), (GAMES[3], "b")])
    assert [(one.is_new, one.is_restored, one.iteration) for one in both] == [(False, True, None), (False, False, None)]
    assert contents(store) == before
    assert store.deletions.list() == []
    with pytest.raises(ConflictError, match="was undone before"):
        store.deletions.undo(left.id, who="Ann")


def test_adding_a_deleted_transcript_to_an_iteration_puts_it_there(store: Store) -> None:
    store.deletions.delete(ids(0), who="Ann")
    added = store.transcripts.add(GAMES[0], source_name="f", iteration="v2")
    assert (added.is_restored, added.iteration) == (True, "v2")
    assert store.transcripts.summaries("v2")["game_id"].tolist() == ["game 2", "game 0"]


def test_what_is_purged_is_gone_and_can_be_added_anew(store: Store) -> None:
    deletion = store.deletions.delete_iteration("v1", who="Ann", with_games=True)
    store.deletions.purge(deletion.id, who="Ann")
    assert store.deletions.list() == []
    for again in (store.deletions.undo, store.deletions.purge):
        with pytest.raises(ConflictError, match=f"Deletion {deletion.id} was removed for ever before"):
            again(deletion.id, who="Ann")
    added = store.transcripts.add(GAMES[0], source_name="f")
    assert (added.is_new, added.is_restored) == (True, False)
    assert store.ratings.of_transcript(GAMES[0].id)[0] == []


def test_what_cannot_be_deleted_is_refused_and_nothing_changes(store: Store) -> None:
    before = contents(store)
    with pytest.raises(NotFoundError, match="'nothing'"):
        store.deletions.delete([*ids(0), "nothing"], who="Ann")
    with pytest.raises(NotFoundError, match="'v9'"):
        store.deletions.delete_iteration("v9", who="Ann")
    with pytest.raises(NotFoundError, match="no deletion 9"):
        store.deletions.undo(9, who="Ann")
    with pytest.raises(InputError, match="who"):
        store.deletions.delete(ids(0), who=" ")
    with pytest.raises(InputError, match="No transcript is named"):
        store.deletions.delete([], who="Ann")
    assert contents(store) == before
    assert store.deletions.list() == []


def test_a_rating_of_a_deleted_transcript_is_refused_and_its_draft_waits(store: Store) -> None:
    token = store.ratings.token("cid", GAMES[0].id)
    deletion = store.deletions.delete(ids(0), who="Ann")
    assert not store.drafts.save(token, 1, {"score": 2})
    with pytest.raises(NotFoundError):
        store.ratings.add(Rating(GAMES[0].id, "cid", 2, token=token))
    store.deletions.undo(deletion.id, who="Ann")
    assert store.ratings.add(Rating(GAMES[0].id, "cid", 2, token=token))


def test_a_table_that_came_later_is_purged_as_well(store: Store) -> None:
    with store.unit(write=True) as cursor:
        cursor.execute("CREATE TABLE later (transcript_id text)")
        cursor.execute("INSERT INTO later VALUES (?), ('other')", ids(0))
    store.deletions.purge(store.deletions.delete(ids(0), who="Ann").id, who="Ann")
    assert contents(store)["later"] == Counter(["{'transcript_id': other}"])


def test_every_place_that_names_an_iteration_is_renamed() -> None:
    with Store(":memory:").unit() as cursor:
        found = cursor.execute(
            """SELECT table_name, column_name FROM duckdb_columns() SEMI JOIN duckdb_tables() USING (table_name)
            WHERE column_name IN ('iteration', 'parent', 'reference') AND data_type = 'VARCHAR'"""
        ).fetchall()
    # The history of changes keeps the names that were.
    assert set(found) == {
        ("stored_iterations", "parent"),
        ("iteration_events", "reference"),
        ("rating_handovers", "iteration"),
        ("rating_handovers", "reference"),
        ("spool", "iteration"),
        ("iteration_changes", "parent"),
    }


steps = st.lists(
    st.tuples(st.sampled_from(["delete", "iteration", "with games", "undo"]), st.integers(0, 7)), min_size=1, max_size=6
)


@settings(max_examples=4)
@given(taken=steps)
def test_whatever_is_deleted_and_in_whatever_order_undone_all_comes_back(
    filled_file: Path, taken: list[tuple[str, int]]
) -> None:
    store = copy_of(filled_file)
    before = contents(store)
    for what, choice in taken:
        listed, held, left = store.transcripts.summaries(), store.iterations.list(), store.deletions.list()
        if what == "undo" and left:
            store.deletions.undo(left[choice % len(left)].id, who="Ann")
        elif what == "delete" and len(listed):
            store.deletions.delete([listed["transcript_id"].iloc[choice % len(listed)]], who="Ann")
        elif what in ("iteration", "with games") and held:
            store.deletions.delete_iteration(held[choice % len(held)].name, who="Ann", with_games=what == "with games")
    open_ones = store.deletions.list()
    for deletion in itertools.chain(open_ones[::2], open_ones[1::2]):
        store.deletions.undo(deletion.id, who="Ann")
    assert contents(store) == before
    store.close()
