"""Metric 3: what counts as an answer to the three messages of others before."""

import pytest

from evaluation.rubric.discussion import Discussion
from evaluation.rubric.metrics.coherence import measure, score_of_order
from evaluation.score import LedgerRow, RowVerdict, Status
from evaluation.transcript import Transcript
from tests.games import discussion

CALM = "Nothing in particular happened."


def last_row(game: Transcript) -> LedgerRow:
    return measure(game).ledger[-1]


def counts(game: Transcript) -> bool:
    return last_row(game).verdict is RowVerdict.COUNTS


def test_the_rubrics_passing_example() -> None:
    text = "I disagree with Agent-Alpha. Their accusation doesn't match the voting pattern"
    row = last_row(discussion([("Agent-Alpha", "I accuse Agent-Charlie."), ("Agent-Bravo", text)]))
    assert (row.verdict, row.refers_to) == (RowVerdict.COUNTS, "m0")
    assert row.reason == 'Names Agent-Alpha ("Agent-Alpha"), who spoke just before.'
    assert [(e.start, e.end) for e in row.evidence] == [(16, 27)]


def test_the_rubrics_failing_example() -> None:
    row = last_row(discussion([("A1", "I saw Bob near the well."), ("B2", "Let's analyze the evidence carefully")]))
    assert row.verdict is RowVerdict.DOES_NOT_COUNT
    assert row.reason == (
        "Shares no keyword with the 3 messages of others before it, takes up no player of theirs and opens with "
        "no reply."
    )


def test_words_in_common_that_are_no_keywords_are_named() -> None:
    said = [
        ("Cid", "No."),
        ("Ann", "I would like to hear from the quiet people."),
        ("Bob", "Happy to hear all of you!"),
    ]
    row = last_row(discussion(said))
    assert row.verdict is RowVerdict.EXCLUDED
    assert row.reason.startswith(
        'Shares only "hear", no keyword, with the 3 messages of others before it, which may be'
    )


def test_a_sentence_that_is_copied_takes_up_nothing() -> None:
    copied = "As an assistant, I can summarise the options and list the benefits of each."
    before = [("Cid", "No."), ("Ann", f"Let me put it plainly. {copied}")]
    taken_up = "Which options have benefits that last?"
    for text, coherent in (
        (f"Somebody has to say it. {copied}", False),
        (taken_up, True),
        (f"{copied} {taken_up}", True),
    ):
        assert counts(discussion([*before, ("Bob", text)])) is coherent, text


def test_the_rubrics_topic_example_shares_one_keyword_only() -> None:
    # A deviation that metrics.md names: the rule wants two shared keywords, the rubric's example has "pattern" alone.
    row = last_row(discussion([("Ann", "Look at the voting pattern"), ("Bob", "We need a pattern analysis")]))
    assert row.verdict is RowVerdict.EXCLUDED
    assert row.details["rule"]["verdict"] == RowVerdict.DOES_NOT_COUNT
    assert 'only "pattern"' in row.reason


@pytest.mark.parametrize(
    ("before", "text", "coherent"),
    [
        # Compared by stem: accusing and accused, patterns and pattern.
        ("I was accused of a pattern", "who is accusing by patterns", True),
        # The same stem twice is one keyword.
        ("patterns matter little", "a pattern of patterns", False),
        # Words of four letters or fewer as written are not keywords: "vote" is four, "votes" five.
        ("they vote like them, pattern", "a pattern to vote like", False),
        ("their votes make a pattern", "votes in a pattern", True),
        # Stop words share no topic.
        ("there would have been something", "something would be there", False),
        # Words of greeting and introduction share no topic.
        ("excited to play a game of mystery", "an exciting game, full of mystery", False),
        ("the villager’s evidence", "villager evidence", True),
    ],
)
def test_two_distinct_keywords_make_a_topic(before: str, text: str, coherent: bool) -> None:
    game = discussion([("Agent-Alpha", before), ("Agent-Bravo", text)], players=["Agent-Charlie"])
    assert counts(game) is coherent


@pytest.mark.parametrize(
    ("name", "word", "is_answer"),
    [
        ("Winter", "winter", False),
        ("Agent-Winter", "winter", False),
        ("Policy Analyst", "Policy", False),
        # In small letters, a word of a longer name is what they talk about.
        ("Policy Analyst", "policy", True),
        ("Ann", "winter", True),
    ],
)
def test_the_word_of_a_name_is_no_keyword_even_where_no_player_is_meant(name: str, word: str, is_answer: bool) -> None:
    # They share "evidence", and a word that is a keyword only where nobody is called like it.
    said = [("Bob", f"evidence. {word} months, {word}'s evidence"), ("Cid", f"evidence. {word} weather")]
    row = last_row(discussion(said, players=[name]))
    assert (row.verdict is RowVerdict.COUNTS) is is_answer
    assert [evidence.text for evidence in row.evidence] == ["evidence", *[word] * is_answer]


def test_the_keywords_of_the_three_messages_are_taken_together() -> None:
    said = [("Ann", "such evidence"), ("Bob", CALM), ("Cid", "the pattern again"), ("Dan", "evidence, pattern")]
    row = last_row(discussion(said))
    assert row.verdict is RowVerdict.COUNTS
    # Ann and Cid share one keyword each; the later one is named.
    assert row.refers_to == "m2"
    assert [e.text for e in row.evidence] == ["evidence", "pattern"]
    assert row.reason == 'Takes up "evidence" and "pattern" from the messages before, most of it from Cid.'


def test_a_fourth_message_back_is_too_far() -> None:
    said = [("Ann", "evidence pattern"), ("Bob", CALM), ("Cid", "hm"), ("Bob", "ok")]
    said.append(("Dan", "Ann, evidence of a pattern"))
    assert not counts(discussion(said))
    assert counts(discussion([said[0], *said[2:]]))


def test_the_speakers_own_messages_are_skipped_and_answer_nobody() -> None:
    # Ann's message stays among the 3 of others, however long Bob goes on; Bob's own words are not context.
    said = [("Ann", "evidence pattern"), *[("Bob", f"evidence pattern {n}") for n in range(5)]]
    rows = measure(discussion(said)).ledger
    assert all("most of it from Ann" in row.reason for row in rows[1:])
    assert rows[1].refers_to == "m0"
    # What goes on after its own speaker's message may answer Ann or not.
    assert {(row.verdict, row.refers_to) for row in rows[2:]} == {(RowVerdict.EXCLUDED, None)}
    alone = measure(discussion([("Bob", f"evidence pattern {n}") for n in range(5)], players=["Ann"])).ledger
    assert {row.verdict for row in alone} == {RowVerdict.EXCLUDED}
    assert alone[-1].reason == "Nobody else spoke before it in this round: there is nothing to answer."


def test_saying_the_same_again_answers_nobody() -> None:
    text = "Ann, we should focus on who to vote out next"
    said = [("Ann", "hello"), ("Bob", text), ("Ann", "hm"), ("Bob", text + " now")]
    rows = measure(discussion(said)).ledger
    assert rows[1].verdict is RowVerdict.COUNTS
    assert rows[3].verdict is RowVerdict.DOES_NOT_COUNT
    assert rows[3].reason == "Says nearly word for word what its speaker said before: a monologue answers nobody."
    assert measure(discussion(said, replies={3: "m2"})).ledger[3].verdict is RowVerdict.COUNTS


@pytest.mark.parametrize("word", ["Okay, it is warm.", "OK", "Alright, it is warm.", "Maybe it is warm."])
def test_in_a_crowd_a_word_that_may_only_begin_a_thought_is_no_reply(word: str) -> None:
    crowd = [("Ann", "hello"), ("Bob", "hm"), ("Cid", CALM), ("Dan", word)]
    assert last_row(discussion(crowd)).verdict is RowVerdict.DOES_NOT_COUNT
    assert counts(discussion(crowd[1:]))


@pytest.mark.parametrize(
    ("said", "doubt"),
    [
        (
            [("Cid", "Such evidence!"), ("Dan", "There was evidence of rain.")],
            'Shares only "evidence" with the 3',
        ),
        ([("Cid", "I saw a bear."), ("Dan", "The bear was big.")], 'Shares only "bear", no keyword, with'),
        ([("Cid", "Who was at the well?"), ("Dan", "It was dark.")], "Follows a question of Cid, and"),
        ([("Cid", "Nothing."), ("Dan", "Hm."), ("Dan", "Cid, it was dark.")], "but goes on after a message of its own"),
    ],
)
def test_what_nobody_can_tell_is_left_open(said: list[tuple[str, str]], doubt: str) -> None:
    game = discussion([("Ann", "hello"), ("Bob", "hi Ann"), *said])
    result = measure(game)
    row = result.ledger[-1]
    assert row.verdict is RowVerdict.EXCLUDED
    assert doubt in row.reason
    assert row.reason.endswith(": left open.")
    is_named = "goes on" in doubt
    assert row.details["rule"]["verdict"] == (RowVerdict.COUNTS if is_named else RowVerdict.DOES_NOT_COUNT)
    # The first message has nothing to answer; the open one is considered and not settled.
    assert (result.details["considered"], result.details["settled"]) == (len(said) + 1, len(said))
    assert score_of_order(Discussion.of(game), range(len(said) + 2)) == result.score


@pytest.mark.parametrize(
    "said",
    [
        # "I think" stands in messages about anything.
        [("Cid", "I think it is cold."), ("Dan", "I think the sea was calm.")],
        # A call on everybody answers no question.
        [("Cid", "Who was at the well?"), ("Dan", "Let's look at all of it.")],
        # What goes on after its own speaker's message, with nothing in it that takes up others.
        [("Cid", "Who was at the well?"), ("Dan", "Hm."), ("Dan", "It was dark.")],
    ],
)
def test_what_has_no_sign_of_an_answer_is_none(said: list[tuple[str, str]]) -> None:
    row = last_row(discussion([("Ann", "hello"), ("Bob", "hi Ann"), *said]))
    assert row.verdict is RowVerdict.DOES_NOT_COUNT


def test_of_two_who_play_a_point_without_a_shared_word_is_left_open() -> None:
    said = [("Ann", "I want the firewood for my tent"), ("Bob", "The nights get rather cold up there")]
    row = last_row(discussion(said))
    assert row.reason == "Only two speak, and nothing else tells whether it answers: left open."
    assert last_row(discussion([said[0], ("Bob", "Very cold nights")])).verdict is RowVerdict.DOES_NOT_COUNT


def test_a_statement_about_a_player_asks_nothing() -> None:
    said = [("Ann", "hello"), ("Bob", "Ann has been way too careful."), ("Cid", "I like the sea.")]
    assert not counts(discussion(said))
    assert counts(discussion([*said[:1], ("Bob", "has it been careful"), *said[2:]]))


def test_a_long_monologue_takes_linear_time() -> None:
    said = [("Ann", "hello"), *[("Bob", f"number {n}") for n in range(5_000)], ("Ann", "Bob?")]
    assert last_row(discussion(said)).refers_to == "m5000"


@pytest.mark.parametrize(
    ("said", "way", "answers"),
    [
        # From real games, with the names that the players had.
        ([("Bob", "i say we vote winter"), ("Winter", "why me?")], "answer", ["m0"]),
        ([("Whitney", "im down to vote reese"), ("Tyler", "I think it's reese as well")], "subject", ["m0"]),
        ([("Ann", "i say we vote winter"), ("Bob", "fair enough, i don't like winter")], "phrase", ["m0"]),
        ([("Bob", "i say we wait"), ("Cid", "fair enough")], "phrase", ["m0"]),
        ([("Ann", "Reese is red"), ("Reese", "Why would you think that?")], "phrase", ["m0"]),
        ([("Ann", "matan is the mafia"), ("Bob", "I don't agree with that")], "phrase", ["m0"]),
        ([("Ann", "What do we do?"), ("Bob", "because I waited")], "answer", ["m0"]),
        ([("Ann", "Reese and Bob wait"), ("Bob", "Reese is loud")], "subject", ["m0"]),
        ([("Ann", "hm"), ("Bob", "well"), ("Cid", "Bob and Ann")], "author", ["m1"]),
    ],
)
def test_six_ways_to_answer(said: list[tuple[str, str]], way: str, answers: list[str]) -> None:
    row = last_row(discussion(said, players=["Reese", "Winter", "Ann", "Bob"]))
    assert row.verdict is RowVerdict.COUNTS
    assert (row.details["by"], row.details["answers"], row.refers_to) == (way, answers, answers[0])


@pytest.mark.parametrize(
    "said",
    [
        # An opinion in the first person says nothing of the speaker who was named.
        [("Ann", "Bob is loud"), ("Bob", "I think we should focus on discussing the evidence")],
        # A player's own name is nobody taken up.
        [("Ann", "Bob is loud"), ("Cid", "hm"), ("Bob", "Bob Bob")],
        # A reply phrase in the middle of the speaker's own run goes on with that.
        [("Ann", "hello"), ("Bob", "something else"), ("Bob", "yes indeed")],
        # What is said of somebody absent.
        [("Ann", "I lost my bike"), ("Bob", "he was such a great guy")],
    ],
)
def test_what_answers_nobody(said: list[tuple[str, str]]) -> None:
    assert not counts(discussion(said))


def test_a_round_of_introductions_is_not_connected() -> None:
    cast = ("Hannah", "Frank", "David", "Bob")
    text = "Hi everyone, I'm {}! I'm excited to play. I love games of deduction and teamwork, let's solve this mystery!"
    result = measure(discussion([(name, text.format(name)) for name in cast]))
    assert (result.numerator, result.denominator) == (0, 3)
    assert "Introduces its speaker" in result.ledger[-1].reason


@pytest.mark.parametrize(
    ("rounds", "is_answer"),
    # Rounds of one or two messages each are no days of discussion.
    [([1] * 8, True), ([1] * 7 + [2], False), ([1, 1, 2, 2, 3, 3, 4, 4], True)],
)
def test_a_new_round_answers_nothing_of_the_last(rounds: list[int], is_answer: bool) -> None:
    said = [("Ann", "evidence pattern")] * 7 + [("Bob", "evidence pattern")]
    assert counts(discussion(said, rounds=rounds)) is is_answer


def test_a_reply_id_counts_however_far_back() -> None:
    said = [("Ann", "hello")] + [("Bob", "hm")] * 5 + [("Cid", CALM)]
    row = last_row(discussion(said, replies={6: "m0"}))
    assert (row.verdict, row.refers_to, row.reason) == (RowVerdict.COUNTS, "m0", "Is marked as a reply to Ann.")


def test_a_reply_to_oneself_does_not_count() -> None:
    said = [("Ann", "hello"), ("Bob", "hm"), ("Ann", CALM)]
    assert not counts(discussion(said, replies={2: "m0"}))
    assert not counts(discussion(said, replies={2: "m2"}))
    assert counts(discussion([*said[:2], ("Ann", "Bob!")], replies={2: "m0"}))


@pytest.mark.parametrize("target", ["gone", "m3"])
def test_a_reply_id_that_resolves_to_nothing_earlier_counts_with_a_remark(target: str) -> None:
    said = [("Ann", "hello"), ("Bob", "hm"), ("Cid", CALM), ("Ann", "bye")]
    row = measure(discussion(said, replies={2: target})).ledger[2]
    assert (row.verdict, row.refers_to) == (RowVerdict.COUNTS, None)
    assert row.details["remark"] == "reply id resolves to nothing"


def test_the_denominator_is_the_messages_after_the_first() -> None:
    # m1 names Ann, m2 names Bob, m3 says nothing, m4 names Cid, who spoke two before: 3 / 4 = 75 %.
    said = [("Ann", "hello"), ("Bob", "hi Ann"), ("Cid", "Bob!"), ("Ann", "hm"), ("Bob", "Cid?")]
    result = measure(discussion(said))
    assert (result.numerator, result.denominator, result.score, result.status) == (3, 4, 75.0, Status.PASSED)
    first = result.ledger[0]
    assert (first.id, first.verdict) == ("coherence:m0", RowVerdict.EXCLUDED)
    assert first.reason == "The first message has nothing to answer."
    assert result.ledger[4].reason == 'Names Cid ("Cid"), who spoke shortly before.'


def test_those_who_open_a_round_leave_the_denominator_unless_they_are_marked_as_a_reply() -> None:
    # Two rounds of four: m0 opens the game, m4 the second round, m5 goes on before anybody else spoke in it.
    said = [("Ann", "hello"), ("Bob", "hi Ann"), ("Cid", "Bob!"), ("Ann", "hm")]
    said += [("Ann", "evening"), ("Ann", "so"), ("Bob", "Ann!"), ("Cid", "hm")]
    game = discussion(said, rounds=[1] * 4 + [2] * 4)
    result = measure(game)
    assert [row.message_id for row in result.ledger if row.verdict is RowVerdict.EXCLUDED] == ["m0", "m4", "m5"]
    assert (result.numerator, result.denominator) == (3, 5)
    # A reply to oneself claims to answer somebody, and does not.
    replies = measure(discussion(said, rounds=[1] * 4 + [2] * 4, replies={5: "m4"}))
    assert (replies.numerator, replies.denominator) == (3, 6)


@pytest.mark.parametrize("said", [[], [("Ann", "hello")], [("Ann", "hello"), ("Bob", "Over")]])
def test_fewer_than_two_messages_do_not_apply(said: list[tuple[str, str]]) -> None:
    result = measure(discussion(said, private=[("Bob", "Ann?"), ("Ann", "Bob?")]))
    assert (result.status, result.reason) == (Status.NOT_APPLICABLE, "fewer than two messages")
