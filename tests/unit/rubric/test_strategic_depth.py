"""Metric 2: the rubric's examples, every inflection, and what is left alone."""

import pytest

from evaluation.rubric.metrics.strategic_depth import measure
from evaluation.score import PROOF, RowVerdict, Status
from tests.games import discussion

NAMES = ("Agent-Alpha", "Agent-Bravo", "Agent-Trust")


def keywords_in(text: str) -> list[str]:
    """The words that were marked as evidence."""
    (row,) = measure(discussion([("Agent-Alpha", text)], players=NAMES)).ledger
    assert (row.verdict is RowVerdict.COUNTS) == bool(row.evidence)
    return [evidence.text for evidence in row.evidence]


def test_the_rubrics_passing_example() -> None:
    text = "I think Agent-Alpha is suspicious because they defended Agent-Bravo without evidence"
    assert keywords_in(text) == ["think", "suspicious", "because", "defended", "evidence"]


def test_the_rubrics_failing_example() -> None:
    result = measure(discussion([("Agent-Alpha", "I agree with that")]))
    assert (result.score, result.status) == (0.0, Status.FAILED)
    assert result.ledger[0].reason == "Agrees, without a reason of its own."


@pytest.mark.parametrize(
    ("text", "is_proven"),
    [
        ("It is Bravo, since we heard no answer from him.", True),
        ("I know that you trust him, but it is Bravo, because he dodged you.", True),
        # A task of everybody, and what is granted only to go on with "but", are no reason.
        ("Since we have to find the Werewolves, I urge you to share your thoughts.", False),
        ("I know that we look odd due to Bravo's findings, but I assure you that I am a Villager.", False),
    ],
)
def test_a_reason_proves_an_argument_where_it_supports_what_is_said(text: str, is_proven: bool) -> None:
    (row,) = measure(discussion([("Agent-Alpha", text)], players=NAMES)).ledger
    assert bool(row.details.get(PROOF)) is is_proven


EVERY_FORM = """
because evidence pattern patterns reason reasons reasoned reasoning vote votes voted voting suspicious innocent trust
trusts trusted trusting defend defends defended defending accuse accuses accused accusing think thinks thought thinking
believe believes believed believing consistent inconsistent VOTE Because
suspect suspects suspected suspicion suspicions suspiciously accusation accusations inconsistency inconsistencies
consistency belief beliefs defence defense defensive evident voter untrustworthy innocence reasonable
"""


@pytest.mark.parametrize("word", EVERY_FORM.split())
def test_every_inflection_counts_in_any_case(word: str) -> None:
    assert keywords_in(f"so {word}, ok") == [word]


@pytest.mark.parametrize(
    "text",
    [
        "a devoted patter of unpatterned aspects, evicted",
        "thin thirst for defeat, seasons of treason, entrusted",
        "Agent-Trust is here",
        "I like Trust here",
    ],
)
def test_no_stem_part_of_a_word_or_name_counts(text: str) -> None:
    assert keywords_in(text) == []


def test_half_of_the_messages() -> None:
    # Two of four messages hold a keyword: 100 * 2 / 4 = 50, below 60.
    said = [("A", "I vote B"), ("B", "no"), ("A", "why?"), ("B", "I don't trust you")]
    result = measure(discussion(said))
    assert (result.numerator, result.denominator, result.score, result.status) == (2, 4, 50.0, Status.FAILED)
    assert measure(discussion(said), threshold=50.0).status is Status.PASSED
    assert [row.id for row in result.ledger] == [f"strategic_depth:m{i}" for i in range(4)]
    assert result.ledger[0].reason == 'Holds "vote".'


def test_without_public_messages_it_does_not_apply() -> None:
    result = measure(discussion([], private=[("A", "I think")]))
    assert (result.status, result.score, result.reason) == (Status.NOT_APPLICABLE, None, "no public messages")


def test_the_language_that_a_person_sets_holds_for_messages_that_cannot_tell() -> None:
    assert measure(discussion([("A", "I think so")], language="it")).reason == "only English without a model"
    assert measure(discussion([("A", "I think so")], language="de")).score is None
    german = "Ich glaube, weil sie nichts gesagt hat."
    assert measure(discussion([("A", german)])).score is None
    assert measure(discussion([("A", german)], language="en-GB")).score == 0.0
    assert measure(discussion([("A", "I think so")], language="../en")).status is Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("vote Agent-Bravo", "bare keyword"),
        ("I think it's Agent-Bravo", "bare keyword"),
        # A reason, a second keyword or more than six words is no bare keyword.
        ("I vote Bravo because of Alpha", None),
        ("I think we should listen to what Bravo says", None),
        ("evidence please", None),
        ("hello all", None),
        ("Bravo said she was at home, but why did she change her story?", "no keyword"),
        ("the weather is really quite lovely today, is it not, my dear old friends", None),
    ],
)
def test_rows_that_a_person_may_decide_otherwise_are_offered(text: str, kind: str | None) -> None:
    (row,) = measure(discussion([("Agent-Alpha", text)], players=NAMES)).ledger
    assert (row.details["review"] and row.details["review"]["kind"]) == kind


def test_the_likeliest_row_is_offered_first() -> None:
    said = [
        ("Agent-Alpha", "Bravo seems to be somewhat quiet for the whole day now"),
        ("Agent-Alpha", "why did Bravo say she was at home when Trust saw her earlier than him?"),
        ("Agent-Alpha", "vote Bravo"),
    ]
    result = measure(discussion(said, players=NAMES))
    places = {row.message_id: row.details["review"]["likelihood"] for row in result.ledger}
    assert places["m1"] > places["m0"]
    assert sorted(places, key=lambda each: -places[each]) == ["m2", "m1", "m0"]
