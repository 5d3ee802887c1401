"""What the desk keeps beside ratings: blind games, discards and the style check."""

import pytest

from evaluation.errors import ConflictError, InputError, NotFoundError
from evaluation.rating_desk.assignments import DiscardReason
from evaluation.rating_desk.style_check import StyleAnswer, passes_manual_check, style_questions, style_result
from evaluation.store import Store
from evaluation.transcript import Cost, Elimination, Transcript, Vote
from tests.games import game_of

PEOPLE = {"Alpha": "bold", "Bravo": "careful", "Charlie": "bold"}


def game(name: str = "a secret name", *, personalities: bool = True) -> Transcript:
    """Three players with six messages of some length each; roles, votes and private chat that nobody may see."""
    words = dict(zip(PEOPLE, ("amber", "birch", "cedar"), strict=True))
    said = [(who, f"Well {who}: {words[who]} {turn} is what Bravo and I said") for turn in range(6) for who in PEOPLE]
    private = {"id": "p", "round": 1, "channel": "private"}
    messages = [("Alpha", "I am the SECRET wolf", private)]
    messages += [(who, text, {"round": 1 + i // 9}) for i, (who, text) in enumerate(said, start=1)]
    return game_of(
        messages,
        {
            who: {"role": "SECRET role", "alignment": "mafia", "personality": style if personalities else None}
            for who, style in sorted(PEOPLE.items(), reverse=True)
        },
        game_id=name,
        source_format="SECRET format",
        votes=(Vote(round=1, voter="Alpha", target="Bravo", justification="SECRET"),),
        eliminations=(Elimination(round=1, player="Bravo", role="SECRET role"),),
        winner="SECRET",
        cost=Cost(total_usd=9.75),
        metadata={"prompt": "SECRET"},
    )


@pytest.fixture
def store() -> Store:
    store = Store(":memory:")
    store.transcripts.add_many([(game(), "SECRET.json"), (game("other"), "other.json")])
    return store


def test_a_blind_game_holds_the_discussion_and_nothing_else(store: Store) -> None:
    blind = store.blind.get(game().id)
    assert [message.text for message in blind.discussion] == [message.text for message in game().discussion]
    assert [one.player for one in blind.eliminations] == ["Bravo"]
    # Not the roster's order, which could tell the roles.
    assert blind.player_names == ("Alpha", "Bravo", "Charlie")
    document = blind.to_json()
    for secret in ("SECRET", "secret", "mafia", "9.75", "careful", '"p"'):
        assert secret not in document


def test_a_discarded_game_leaves_one_raters_queue_until_it_is_taken_back(store: Store) -> None:
    one = game().id
    assert store.discards.add(one, "Ada", DiscardReason.TRUNCATED, " ends in round 1 ")
    assert not store.discards.add(one, "Ada", DiscardReason.OTHER, "again")
    assert store.rating_queue.next_unrated("Ada") == game("other").id
    store.rating_queue.skip("Bob", game("other").id)
    assert store.rating_queue.next_unrated("Bob") == one
    progress = store.rating_queue.progress("Ada")
    assert (progress.rated, progress.discarded, progress.total, progress.left) == (0, 1, 2, 1)
    (discard,) = store.discards.of("Ada")
    assert (discard.reason, discard.note) == (DiscardReason.TRUNCATED, "ends in round 1")
    store.discards.undo(discard.id, who="Lead")
    assert store.discards.of("Ada") == []
    store.rating_queue.skip("Ada", game("other").id)
    assert store.rating_queue.next_unrated("Ada") == one
    assert [(made.rater, made.undone_by) for made in store.discards.list()] == [("Ada", "Lead")]
    with pytest.raises(ConflictError, match="before"):
        store.discards.undo(discard.id, who="Lead")
    with pytest.raises(NotFoundError):
        store.discards.undo(99, who="Lead")


def test_another_reason_must_be_said(store: Store) -> None:
    with pytest.raises(InputError, match="missing"):
        store.discards.add(game().id, "Ada", DiscardReason.OTHER)


def test_style_questions_blank_names_and_shuffle_per_rater() -> None:
    questions = style_questions(game(), "Ada")
    assert {one.player for one in questions} == set(PEOPLE)
    for one in questions:
        assert (one.kind, one.truth, len(one.texts)) == ("personality", PEOPLE[one.player], 5)
        assert sorted(candidate.label for candidate in one.candidates) == ["bold", "careful"]
        assert not any(name in text for text in one.texts for name in PEOPLE)
        assert "[name]" in one.texts[0]
    assert style_questions(game(), "Ada") == questions
    assert any(style_questions(game(), rater) != questions for rater in ("Bob", "Cleo", "Dan"))


def test_without_personalities_voices_are_told_apart_by_other_messages() -> None:
    questions = style_questions(game(personalities=False), "Ada")
    assert {one.kind for one in questions} == {"voice"}
    for one in questions:
        assert {candidate.label for candidate in one.candidates} == set(PEOPLE)
        shown = set(one.texts)
        assert all(len(candidate.samples) == 2 and not shown & set(candidate.samples) for candidate in one.candidates)


def test_a_game_of_one_voice_asks_nothing() -> None:
    alone = game_of([("Ann", "One two three four five")] * 9, {"Ann": {"personality": "bold"}})
    assert style_questions(alone, "Ada") == ()


def answer(chosen: str | None, *, player: str = "Alpha", candidates: int = 2) -> StyleAnswer:
    labels = tuple(f"style {n}" for n in range(candidates))
    return StyleAnswer(game().id, "Ada", player, "personality", labels, ("m1",), "style 0", chosen)


def test_identified_against_chance() -> None:
    # Chance: (1/2 + 1/2 + 1/4) / 3 = 5/12; one of three is right, one could not tell.
    result = style_result([answer("style 0"), answer("style 1"), answer(None, candidates=4)])
    assert (result.asked, result.identified) == (3, 1)
    assert result.chance == pytest.approx(5 / 12)
    assert not result.is_above_chance
    # Wilson, 10 of 10: lower end 1 / (1 + 1.96^2 / 10) = 0.722, above 1/2.
    sure = style_result([answer("style 0")] * 10)
    assert sure.interval.low == pytest.approx(0.7225, abs=1e-3)
    assert sure.is_above_chance
    assert style_result([]) is None


@pytest.mark.parametrize(
    ("identified", "players", "passes"), [(5, 10, True), (4, 10, False), (4, 7, True), (3, 6, False)]
)
def test_the_rubrics_rule_of_the_manual_check(identified: int, players: int, passes: bool) -> None:
    assert passes_manual_check(identified, players) is passes


def test_a_style_answer_is_given_once(store: Store) -> None:
    assert store.style_answers.add(answer("style 1"))
    assert not store.style_answers.add(answer("style 0"))
    assert store.style_answers.add(answer(None, player="Bravo"))
    assert store.style_answers.list("Ada") == [answer("style 1"), answer(None, player="Bravo")]
    assert store.style_answers.list("Bob") == []
