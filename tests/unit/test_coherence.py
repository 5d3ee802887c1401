"""Metric 3: what counts as an answer to the three messages before."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from evaluation.rubric.coherence import measure
from evaluation.score import LedgerRow, RowVerdict, Status
from evaluation.transcript import Transcript

MakeGame = Callable[..., Transcript]
CALM = "Nothing in particular happened."


def last_row(game: Transcript) -> LedgerRow:
    return measure(game).ledger[-1]


def counts(game: Transcript) -> bool:
    return last_row(game).verdict is RowVerdict.COUNTS


def test_the_rubrics_passing_example(make_game: MakeGame) -> None:
    text = "I disagree with Agent-Alpha. Their accusation doesn't match the voting pattern"
    row = last_row(make_game([("Agent-Alpha", "I accuse Agent-Charlie."), ("Agent-Bravo", text)]))
    assert (row.verdict, row.refers_to) == (RowVerdict.COUNTS, "m0")
    assert row.reason == 'Names Agent-Alpha ("Agent-Alpha"), who spoke just before.'
    assert [(e.start, e.end) for e in row.evidence] == [(16, 27)]


def test_the_rubrics_failing_example(make_game: MakeGame) -> None:
    row = last_row(make_game([("A1", "I saw Bob near the well."), ("B2", "Let's analyze the evidence carefully")]))
    assert row.verdict is RowVerdict.DOES_NOT_COUNT
    assert row.reason == "Names nobody who wrote the 3 messages before and shares no keyword with them."


def test_the_rubrics_topic_example_shares_one_keyword_only(make_game: MakeGame) -> None:
    # A deviation that metrics.md names: the rule wants two shared keywords, the rubric's example has "pattern" alone.
    row = last_row(make_game([("Ann", "Look at the voting pattern"), ("Bob", "We need a pattern analysis")]))
    assert row.verdict is RowVerdict.DOES_NOT_COUNT
    assert 'only "pattern"' in row.reason


@pytest.mark.parametrize(
    ("before", "text", "coherent"),
    [
        # Compared by stem: accusing and accused, patterns and pattern.
        ("I was accused of a pattern", "who is accusing by patterns", True),
        # The same stem twice is one keyword.
        ("patterns matter little", "a pattern of patterns", False),
        # Words of four letters or fewer as written are no keywords: "vote" is four, "votes" five.
        ("they vote like them, pattern", "a pattern to vote like", False),
        ("their votes make a pattern", "votes in a pattern", True),
        # Stop words share no topic.
        ("there would have been something", "something would be there", False),
        # Names share no topic, even when both talk of the same third player.
        ("Agent-Charlie the villager", "Agent-Charlie villager", False),
        ("the villager’s evidence", "villager evidence", True),
    ],
)
def test_two_distinct_keywords_make_a_topic(make_game: MakeGame, before: str, text: str, coherent: bool) -> None:
    game = make_game([("Agent-Alpha", before), ("Agent-Bravo", text)], players=["Agent-Charlie"])
    assert counts(game) is coherent


@pytest.mark.parametrize(
    ("name", "word", "is_answer"),
    [
        ("Winter", "winter", False),
        ("Agent-Winter", "Winter", False),
        ("Policy Analyst", "Policy", False),
        # In small letters, a word of a longer name is what they talk about.
        ("Policy Analyst", "policy", True),
        ("Ann", "winter", True),
    ],
)
def test_the_word_of_a_name_is_no_keyword_even_where_no_player_is_meant(
    make_game: MakeGame, name: str, word: str, is_answer: bool
) -> None:
    # They share "evidence", and a word that is a keyword only where nobody is called like it.
    said = [("Bob", f"evidence. {word} months, {word}'s evidence"), ("Cid", f"evidence. {word} weather")]
    row = last_row(make_game(said, players=[name]))
    assert (row.verdict is RowVerdict.COUNTS) is is_answer
    assert [evidence.text for evidence in row.evidence] == ["evidence", *[word] * is_answer]


def test_the_keywords_of_the_three_messages_are_taken_together(make_game: MakeGame) -> None:
    said = [("Ann", "such evidence"), ("Bob", CALM), ("Cid", "the pattern again"), ("Dan", "evidence, pattern")]
    row = last_row(make_game(said))
    assert row.verdict is RowVerdict.COUNTS
    # Ann and Cid share one keyword each; the later one is named.
    assert row.refers_to == "m2"
    assert [e.text for e in row.evidence] == ["evidence", "pattern"]
    assert row.reason == 'Takes up "evidence" and "pattern" from the messages before, most of it from Cid.'


def test_a_fourth_message_back_is_too_far(make_game: MakeGame) -> None:
    said = [
        ("Ann", "evidence pattern"),
        ("Bob", CALM),
        ("Cid", "hm"),
        ("Bob", "ok"),
        ("Dan", "Ann, evidence of a pattern"),
    ]
    assert not counts(make_game(said))
    assert counts(make_game([said[0], *said[2:]]))


def test_a_monologue_answers_nobody(make_game: MakeGame) -> None:
    said = [("Ann", "evidence pattern"), ("Bob", "hm")] + [("Bob", "evidence pattern Bob")] * 4
    rows = measure(make_game(said)).ledger
    # The last two rows see three messages of Bob only.
    verdicts = [row.verdict is RowVerdict.COUNTS for row in rows[1:]]
    assert verdicts == [False, True, True, False, False]
    assert rows[-1].reason == "Only its own speaker spoke in the 3 messages before: a monologue answers nobody."


def test_the_own_name_before_a_message_names_nobody(make_game: MakeGame) -> None:
    said = [("Ann", "Ann: hello all"), ("Bob", "Bob: hi"), ("Ann", "Ann: fine"), ("Bob", "Bob: so be it")]
    assert measure(make_game(said)).numerator == 0


def test_a_reply_id_counts_however_far_back(make_game: MakeGame) -> None:
    said = [("Ann", "hello")] + [("Bob", "hm")] * 5 + [("Cid", CALM)]
    row = last_row(make_game(said, replies={6: "m0"}))
    assert (row.verdict, row.refers_to, row.reason) == (RowVerdict.COUNTS, "m0", "Is marked as a reply to Ann.")


def test_a_reply_to_oneself_does_not_count(make_game: MakeGame) -> None:
    said = [("Ann", "hello"), ("Bob", "hm"), ("Ann", CALM)]
    assert not counts(make_game(said, replies={2: "m0"}))
    assert not counts(make_game(said, replies={2: "m2"}))
    assert counts(make_game([*said[:2], ("Ann", "Bob!")], replies={2: "m0"}))


@pytest.mark.parametrize("target", ["gone", "m3"])
def test_a_reply_id_that_resolves_to_nothing_earlier_counts_with_a_remark(make_game: MakeGame, target: str) -> None:
    said = [("Ann", "hello"), ("Bob", "hm"), ("Cid", CALM), ("Ann", "bye")]
    row = measure(make_game(said, replies={2: target})).ledger[2]
    assert (row.verdict, row.refers_to) == (RowVerdict.COUNTS, None)
    assert row.details["remark"] == "reply id resolves to nothing"


def test_the_denominator_is_the_messages_after_the_first(make_game: MakeGame) -> None:
    # m1 names Ann, m2 names Bob, m3 says nothing, m4 names Cid, who spoke two before: 3 / 4 = 75 %.
    said = [("Ann", "hello"), ("Bob", "hi Ann"), ("Cid", "Bob!"), ("Ann", "hm"), ("Bob", "Cid?")]
    result = measure(make_game(said))
    assert (result.numerator, result.denominator, result.score, result.status) == (3, 4, 75.0, Status.PASSED)
    first = result.ledger[0]
    assert (first.id, first.verdict, first.reason) == (
        "coherence:m0",
        RowVerdict.EXCLUDED,
        "The first message has nothing to answer.",
    )
    assert result.ledger[4].reason == 'Names Cid ("Cid"), who spoke shortly before.'


@pytest.mark.parametrize("said", [[], [("Ann", "hello")], [("Ann", "hello"), ("Bob", "Over")]])
def test_fewer_than_two_messages_do_not_apply(make_game: MakeGame, said: list[tuple[str, str]]) -> None:
    result = measure(make_game(said, private=[("Bob", "Ann?"), ("Ann", "Bob?")]))
    assert (result.status, result.reason) == (Status.NOT_APPLICABLE, "fewer than two messages")


def test_an_unsupported_language_does_not_apply(make_game: MakeGame) -> None:
    result = measure(make_game([("Ann", "oui Bob"), ("Bob", "non Ann")], language="fr"))
    assert (result.status, result.reason, result.ledger) == (Status.NOT_APPLICABLE, "unsupported language: fr", ())
