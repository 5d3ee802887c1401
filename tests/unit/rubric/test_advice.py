"""What a person does about a score: the rubric's words for raters, advice, and the rows that are worth checking."""

import pytest

from evaluation.rubric.advice import advise, lowest_metric, nothing_to_fix, troubleshooting
from evaluation.rubric.definitions import COHERENCE, DEFINITIONS, MEMORY_ACCURACY, ROLE_CONSISTENCY, STRATEGIC_DEPTH
from evaluation.rubric.rating_guide import QUESTIONS, SCALE_POINTS
from evaluation.rubric.rows_in_doubt import ReviewKind, review_items
from evaluation.rubric.verdict import MetricScore
from evaluation.score import LedgerRow, Method, MetricResult, RowVerdict, decided, summarise
from tests.games import scores_of


def scores(**values: float | None) -> dict[str, MetricScore]:
    return scores_of({name: one.scale.high for name, one in DEFINITIONS.items()} | values)


def test_the_rubrics_appendix_is_advised_on_role_consistency() -> None:
    [advice] = advise(scores(role_consistency=76.0))
    assert (advice.about, advice.finding) == ("role_consistency", "76.0 %, below the threshold of 80 %")
    assert len(advice.actions) == 3


def test_what_fails_comes_by_its_relative_shortfall() -> None:
    # Engagement (3 - 2) / (3 - 1) = 0.5, depth (60 - 50) / 60 = 0.167, memory (80 - 79) / 80 = 0.0125.
    found = advise(scores(memory_accuracy=79.0, strategic_depth=50.0, engagement=2.0))
    assert [advice.about for advice in found] == ["engagement", "strategic_depth", "memory_accuracy"]
    assert lowest_metric(scores(memory_accuracy=79.0, strategic_depth=50.0, engagement=2.0)) == "engagement"


def test_when_nothing_fails_nothing_needs_fixing() -> None:
    # Issue 13: 99.3 of 100 with a threshold of 90 was told to vary its language, as it lay closest in points.
    healthy = scores(anti_repetition=99.3, strategic_depth=66.0)
    assert advise(healthy) == ()
    # Depth has (66 - 60) / (100 - 60) = 15 % of its headroom, anti-repetition 93 %.
    assert nothing_to_fix(healthy) == (
        "No metric fails so far. Closest to its threshold: Strategic depth, 66.0 % (at least 60 %)."
    )
    assert lowest_metric(healthy) == "strategic_depth"
    assert nothing_to_fix({}) == "No metric has a score yet."


def test_a_cost_above_the_limit_comes_first() -> None:
    found = advise(scores(coherence=10.0), 3.004)
    assert [advice.about for advice in found] == ["cost", "coherence"]
    assert found[0].finding == "3.004 USD, above the limit of 3.00 USD"
    assert advise(scores(coherence=10.0), 3.0)[0].about == "coherence"


def test_what_has_no_score_gets_no_advice() -> None:
    assert advise({}) == ()
    assert all(advice.about != "engagement" for advice in advise(scores(engagement=None)))


def test_every_metric_and_the_cost_have_actions() -> None:
    assert set(troubleshooting()) == {*DEFINITIONS, "cost"}
    assert all(sentence.endswith(".") for actions in troubleshooting().values() for sentence in actions)


# But for "MINIMUM for Iteration 1 success" at point 3: raters who know the pass mark lean towards it.
SCALE = """
1 - Boring: Robotic, repetitive, no strategic depth, would not watch
- Agents make generic statements
- No meaningful debate or tension
- Conversations don't build toward anything
2 - Somewhat Interesting: Shows some strategy, but lacks natural flow or depth
- Some strategic statements, but feel forced
- Limited interaction between agents
- Occasional interesting moments
3 - Acceptable: Decent strategy, variety, and flow. Would watch casually
- Clear Mafia deception and Villager deduction
- Conversations reference past events
- Some personality differentiation
4 - Engaging: Strong strategy, natural conversation, compelling to watch
- Heated debates with evidence
- Agents build complex cases
- Personalities shine through
- Would watch actively
5 - Fascinating: Would watch as entertainment. Feels like human gameplay
- Surprising strategic moves
- Emotional tension
- Complex social dynamics
- Memorable moments
"""
# A telling word of each action of the rubric's guide, in its order.
ACTIONS = {
    "memory_accuracy": ("history", "name the round", "smaller context"),
    "strategic_depth": ("built on evidence", "examples", "temperature"),
    "coherence": ("5 to 10 messages", "which message answers which", "name the player"),
    "role_consistency": ("strategy section", "must not do", "by hand"),
    "personality_diversity": ("at more length", "different personality", "0.9"),
    "anti_repetition": ("vary their language", "20 to 30 messages", "Shuffle the order"),
    "engagement": ("as a whole", "dramatic and emotional", "stakes", "boring"),
}


def test_the_points_of_the_scale_are_the_rubrics_own() -> None:
    written = [
        line
        for point in SCALE_POINTS
        for line in (f"{point.score} - {point.name}: {point.summary}", *(f"- {sign}" for sign in point.signs))
    ]
    assert written == SCALE.strip().splitlines()


def test_the_five_questions_ask_what_the_rubric_asks() -> None:
    telling = (
        "3 minutes",
        "curious about who the Mafia are",
        "particularly clever or interesting",
        "flow naturally",
        "another game",
    )
    assert [word in question for word, question in zip(telling, QUESTIONS, strict=True)] == [True] * 5


def test_every_action_of_the_troubleshooting_guide_is_there() -> None:
    found = troubleshooting()
    for metric, words in ACTIONS.items():
        assert len(found[metric]) == len(words)
        assert all(word in action for word, action in zip(words, found[metric], strict=True)), metric


def row(name: str, counts: bool | None, **fields: object) -> LedgerRow:
    return decided(f"x:{name}", "message", counts, "because", message_id=name, **fields)


def of(result: MetricResult) -> list[tuple[str | None, ReviewKind]]:
    messages = {row.id: row.message_id for row in result.ledger}
    return [(messages[one.row_id], one.kind) for one in review_items({result.name: result})]


def test_what_a_decision_on_an_unverified_reference_could_change() -> None:
    # 3 of 4 settled: 75 %. The fifth would make it 4/5 = 80 or 3/5 = 60; left out it stays.
    rows = [row(str(n), n > 0) for n in range(4)] + [row("open", None)]
    [item] = review_items({"memory_accuracy": summarise(MEMORY_ACCURACY, rows)})
    assert (item.kind, item.row_id) == (ReviewKind.UNVERIFIED, "x:open")
    assert (item.before, item.if_counts, item.if_not, item.if_excluded) == (75.0, 80.0, 60.0, 75.0)
    assert [item.effect(one) for one in RowVerdict] == ["+5.0 points", "-15.0 points", "+0.0 points"]
    assert item.stake == pytest.approx(15.0)
    # 75 is below 80 and 80 is not; above 80 or below 60 nothing decides.
    decides = [item.decides({"memory_accuracy": limit}) for limit in (80.0, 75.0, 80.1, 60.0)]
    assert decides == [True, True, False, False]


def test_what_a_decision_on_a_settled_row_could_change() -> None:
    # 2 of 2 count. Without the bare one: 1/2 = 50 when it does not count, still 1/1 when it is left out.
    rows = [row("bare", True, details={"review": {"kind": "bare"}}), row("deep", True)]
    [item] = review_items({"strategic_depth": summarise(STRATEGIC_DEPTH, rows)})
    assert item.kind is ReviewKind.BARE_KEYWORD
    assert (item.before, item.if_counts, item.if_not, item.if_excluded) == (100.0, 100.0, 50.0, 100.0)


def test_a_pending_row_offers_the_score_that_each_decision_gives() -> None:
    # Nothing is settled, so there is no score that could move: counting gives 100 %, the other 0 %, leaving out none.
    [item] = review_items({"memory_accuracy": summarise(MEMORY_ACCURACY, [row("open", None)])})
    effects = ["the score is then 100.0 %", "the score is then 0.0 %", "no score"]
    assert [item.effect(one) for one in RowVerdict] == effects
    assert item.stake == 100.0


def test_each_kind_is_found_in_its_metric() -> None:
    depth = summarise(STRATEGIC_DEPTH, [row("a", False, details={"review": {"kind": "long"}}), row("b", False)])
    assert of(depth) == [("a", ReviewKind.NO_KEYWORD)]
    role = summarise(ROLE_CONSISTENCY, [row("a", None, details={"marks": ["name"]}), row("b", None), row("c", True)])
    assert of(role) == [("a", ReviewKind.UNCODED)]
    assert of(summarise(COHERENCE, [row("a", True), row("b", False)])) == []
    links = {"a": (True, 10.0), "b": (True, 60.0), "c": (False, 95.0), "d": (False, 40.0)}
    rows = [row(name, counts, details={"link_strength": strength}) for name, (counts, strength) in links.items()]
    assert set(of(summarise(COHERENCE, rows))) == {("a", ReviewKind.WEAK_LINK), ("c", ReviewKind.STRONG_LINK)}


def test_what_a_person_or_judge_decided_is_not_offered_again() -> None:
    rows = [row("a", None, method=Method.HUMAN), row("b", None, method=Method.JUDGE), row("c", True)]
    assert of(summarise(MEMORY_ACCURACY, rows)) == []


def test_the_row_with_most_at_stake_comes_first() -> None:
    rows = [row("a", True, details={"review": {}}), *(row(f"n{n}", True) for n in range(3))]
    depth = summarise(STRATEGIC_DEPTH, [*rows, row("z", False, details={"review": {"kind": "long"}})])
    memory = summarise(MEMORY_ACCURACY, [row("m", None)])
    found = review_items({"strategic_depth": depth, "memory_accuracy": memory})
    # The only reference there is decides the whole score.
    assert [one.row_id for one in found] == ["x:m", "x:z"]
