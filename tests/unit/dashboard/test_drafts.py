"""A rater's draft survives until the form is submitted, and never after."""

from __future__ import annotations

from evaluation.ratings import Rating
from evaluation.store import Store
from tests.games import game_of

GAME = game_of([("Alpha", "Hello")])


def token_of(store: Store) -> str:
    store.transcripts.add(GAME, source_name="g.json")
    return store.ratings.token("Ada", GAME.id)


def test_a_draft_comes_back(store: Store) -> None:
    token = token_of(store)
    assert store.drafts.load(token) is None
    assert store.drafts.save(token, 1, {"score": 3, "comment": "half a thou"})
    draft = store.drafts.load(token)
    assert (draft.revision, draft.body) == (1, {"score": 3, "comment": "half a thou"})


def test_the_newer_draft_wins_whatever_comes_last(store: Store) -> None:
    token = token_of(store)
    assert store.drafts.save(token, 7, {"score": 4})
    assert not store.drafts.save(token, 6, {"score": 1})
    assert not store.drafts.save(token, 7, {"score": 1})
    assert store.drafts.save(token, 8, {"score": 5})
    draft = store.drafts.load(token)
    assert draft.body == {"score": 5}


def test_a_draft_that_comes_late_is_refused(store: Store) -> None:
    token = token_of(store)
    store.drafts.save(token, 1, {"score": 3})
    store.ratings.add(Rating(GAME.id, "Ada", 4, token=token))
    assert store.drafts.load(token) is None
    assert not store.drafts.save(token, 2, {"score": 3})
    assert store.drafts.load(token) is None


def test_nobody_can_store_under_a_token_that_was_never_given_out(store: Store) -> None:
    assert not store.drafts.save("made-up", 1, {"score": 3})
