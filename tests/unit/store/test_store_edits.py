"""Renaming, correcting and moving: names change everywhere, and what stood before is kept."""

import pytest

from evaluation.errors import ConflictError, InputError, NotFoundError
from evaluation.iterations.iteration import Description
from evaluation.store import Store
from tests.unit.store.small_games import game

GAMES = [game(f"game {number}") for number in range(3)]


@pytest.fixture
def store() -> Store:
    """Two iterations, the second the baseline and signed off, with all games in the first."""
    store = Store(":memory:")
    store.iterations.create("v1", change="first")
    store.iterations.create("v2", parent="v1", prompt_text="Be bold", target_metric="coherence")
    store.transcripts.add_many([(one, f"{one.game_id}.json") for one in GAMES], iteration="v1")
    store.iterations.promote("v1")
    store.iterations.sign_off("v1", "Ann")
    return store


def test_a_renamed_game_is_listed_and_found_by_its_new_name_only(store: Store) -> None:
    assert store.transcripts.rename(GAMES[0].id, "  The night of the seer ") == "The night of the seer"
    assert store.transcripts.summaries()["game_id"].tolist() == ["The night of the seer", "game 1", "game 2"]
    assert store.transcripts.resolve("The night of the seer") == GAMES[0].id
    with pytest.raises(NotFoundError):
        store.transcripts.resolve("game 0")


def test_renaming_leaves_what_was_read_as_it_was_so_that_it_is_recognised(store: Store) -> None:
    store.transcripts.rename(GAMES[0].id, "Another name")
    assert store.transcripts.get(GAMES[0].id) == GAMES[0]
    assert not store.transcripts.add(GAMES[0], source_name="again").is_new
    assert store.transcripts.rename(GAMES[0].id, None) == "game 0"
    assert store.transcripts.resolve("game 0") == GAMES[0].id


@pytest.mark.parametrize("name", ["", " \n", "x" * 201, "a\udcff"])
def test_a_name_that_cannot_be_used_is_refused(store: Store, name: str) -> None:
    with pytest.raises(InputError):
        store.transcripts.rename(GAMES[0].id, name)
    assert store.transcripts.summaries()["game_id"].tolist() == ["game 0", "game 1", "game 2"]


def test_a_renamed_iteration_keeps_games_place_baseline_sign_off_and_children(store: Store) -> None:
    before = store.iterations.get("v1")
    renamed = store.iterations.rename("v1", "First try", who="Bob")
    assert (renamed.name, renamed.position, renamed.is_baseline, renamed.signed_off_by) == ("First try", 0, True, "Ann")
    assert renamed.created_at == before.created_at
    assert store.iterations.get("v2").parent == "First try"
    assert store.transcripts.summaries("First try")["game_id"].tolist() == ["game 0", "game 1", "game 2"]
    assert store.transcripts.summaries("v1").empty
    with pytest.raises(NotFoundError):
        store.iterations.get("v1")


def test_a_deleted_child_knows_its_parent_by_the_new_name(store: Store) -> None:
    deletion = store.deletions.delete_iteration("v2", who="Bob")
    store.iterations.rename("v1", "First try", who="Bob")
    store.deletions.undo(deletion.id, who="Bob")
    assert store.iterations.get("v2").parent == "First try"


def test_a_taken_or_unfit_name_is_refused(store: Store) -> None:
    with pytest.raises(ConflictError, match="'v2' already"):
        store.iterations.rename("v1", "v2", who="Bob")
    for unfit in ("", "x" * 201, "a\udcff"):
        with pytest.raises(InputError):
            store.iterations.rename("v1", unfit, who="Bob")
    with pytest.raises(NotFoundError, match="'v9'"):
        store.iterations.rename("v9", "v10", who="Bob")
    with pytest.raises(InputError, match="who"):
        store.iterations.rename("v1", "v3", who=" ")
    assert [one.name for one in store.iterations.list()] == ["v1", "v2"]
    assert store.iterations.history("v1") == []


@pytest.mark.parametrize("name", ["a\x1b[31m\nb", "a\nb", "a\x00", "a\u200bb", "a\u202eb", "\u200b"])
def test_a_name_that_cannot_be_typed_as_it_is_shown_is_refused(store: Store, name: str) -> None:
    for name_it in (store.iterations.create, store.iterations.ensure):
        with pytest.raises(InputError, match="holds a character that no screen shows"):
            name_it(name)
    assert [one.name for one in store.iterations.list()] == ["v1", "v2"]


@pytest.mark.parametrize("name", ["V2", " v2", "v2 ", "\uff562"])
def test_a_name_that_looks_like_another_one_is_refused(store: Store, name: str) -> None:
    with pytest.raises(ConflictError, match="looks like the iteration 'v2'"):
        store.iterations.create(name)
    with pytest.raises(ConflictError, match="looks like the iteration 'v2'"):
        store.iterations.rename("v1", name, who="Bob")
    with pytest.raises(ConflictError, match="looks like the iteration 'v2'"):
        store.iterations.ensure(name)
    assert [one.name for one in store.iterations.list()] == ["v1", "v2"]


def test_a_name_may_be_written_otherwise(store: Store) -> None:
    assert store.iterations.rename("v2", "V2", who="Bob").name == "V2"
    assert store.iterations.create("v 2").name == "v 2"


def test_a_description_is_corrected_and_what_stood_before_is_kept(store: Store) -> None:
    store.iterations.describe(Description("v2", "v1", "Be very bold", "Bolder", "coherence"), who="Ann")
    store.iterations.rename("v2", "bold", who="Bob")
    told = store.iterations.describe(Description("bold", None, "Be very bold", "Bolder", None), who="Cid")
    assert (told.parent, told.prompt_text, told.change, told.target_metric) == (None, "Be very bold", "Bolder", None)
    history = store.iterations.history("bold")
    assert [(edit.field, edit.before, edit.after, edit.who) for edit in history] == [
        ("prompt_text", "Be bold", "Be very bold", "Ann"),
        ("change", "", "Bolder", "Ann"),
        ("name", "v2", "bold", "Bob"),
        ("parent", "v1", "", "Cid"),
        ("target_metric", "coherence", "", "Cid"),
    ]
    assert [edit.at for edit in history] == sorted(edit.at for edit in history)
    assert store.iterations.history("v1") == []


def test_a_target_that_is_named_after_the_games_is_not_tested_alone(store: Store) -> None:
    # The games of v1 are there, those of v2 are not.
    late = store.iterations.describe(Description("v1", target_metric="strategic_depth"), who="Ann")
    early = store.iterations.describe(Description("v2", "v1", "Be bold", "", "role_consistency"), who="Ann")
    assert (late.target_metric, late.is_target_late, late.tested_alone) == ("strategic_depth", True, None)
    assert (early.is_target_late, early.tested_alone) == (False, "role_consistency")
    store.transcripts.add(game("later"), source_name="later.json", iteration="v2")
    reworded = store.iterations.describe(Description("v2", "v1", "Be bold", "Bolder", "role_consistency"), who="Ann")
    assert (reworded.is_target_late, reworded.tested_alone) == (False, "role_consistency")


def test_an_iteration_cannot_descend_from_itself(store: Store) -> None:
    store.iterations.create("v3", parent="v2")
    with pytest.raises(InputError, match="'v1' cannot have been changed from itself"):
        store.iterations.describe(Description("v1", "v1"), who="Ann")
    with pytest.raises(InputError, match="'v4' cannot have been changed from itself"):
        store.iterations.create("v4", parent="v4")
    for parent in ("v2", "v3"):
        with pytest.raises(InputError, match="was itself changed from 'v1'"):
            store.iterations.describe(Description("v1", parent), who="Ann")
    with pytest.raises(NotFoundError, match="'v9'"):
        store.iterations.describe(Description("v1", "v9"), who="Ann")
    with pytest.raises(InputError, match="not a metric"):
        store.iterations.describe(Description("v1", target_metric="speed"), who="Ann")
    assert store.iterations.history("v1") == []


def test_games_move_together_in_the_order_given_or_not_at_all(store: Store) -> None:
    store.iterations.move([GAMES[2].id, GAMES[0].id], "v2")
    assert store.transcripts.summaries("v2")["game_id"].tolist() == ["game 2", "game 0"]
    with pytest.raises(NotFoundError, match="'nothing'"):
        store.iterations.move([GAMES[1].id, "nothing"], "v2")
    assert store.transcripts.summaries("v1")["game_id"].tolist() == ["game 1"]
    store.iterations.move([GAMES[2].id], None)
    assert store.transcripts.summaries("v2")["game_id"].tolist() == ["game 0"]
