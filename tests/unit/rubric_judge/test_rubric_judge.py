"""A judge decides rows that the rubric leaves to judgement; whatever it does not decide stays the rule's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from evaluation.engines.scoring import evaluate_transcript
from evaluation.judging.fencing import FENCE
from evaluation.judging.judges.scripted import ScriptedJudge
from evaluation.judging.protocol import CheckAnswer, JudgeRequest, LabelAnswer
from evaluation.rubric_judge.judge_rows import JudgedTranscript, apply_decisions, judge_rows
from evaluation.rubric_judge.judged_metrics import TASKS, rows_to_judge
from evaluation.rubric_judge.requests import LONGEST_MESSAGE, requests_for
from evaluation.score import Method, MetricResult, RowVerdict, Status, redecided, replace_rows
from evaluation.transcript import Elimination, Message, Player, Transcript, Vote
from tests.faults.injection_attacks import ATTACKS, NAMES, Attack

by_rule = partial(evaluate_transcript, reader=None)
"""The rubric to the letter, whose answers can be told by hand."""

SAID = (
    ("Ann", "Good morning everybody."),
    ("Ben", "I think we should vote."),
    ("Ann", "Earlier Ben said that he likes the harbour."),
    ("Cid", "Bananas are yellow."),
)


def game(said: tuple[tuple[str, str], ...] = SAID, **fields: Any) -> Transcript:
    names = list(dict.fromkeys(speaker for speaker, _ in said))
    players = tuple(Player(name=name, alignment="town" if place else "mafia") for place, name in enumerate(names))
    messages = tuple(
        Message(id=f"m{i}", index=i, round=1, speaker=who, text=text) for i, (who, text) in enumerate(said)
    )
    given = {"players": players, "messages": messages} | fields
    return Transcript(game_id="game", source_format="native", language="en", **given)


def label(word: str, *citations: int, reason: str = "Because.") -> LabelAnswer:
    return LabelAnswer(reason=reason, label=word, confidence=0.8, citations=list(citations))


def judged(
    script: Callable[[JudgeRequest], Any], transcript: Transcript | None = None, **options: Any
) -> tuple[JudgedTranscript, dict[str, MetricResult]]:
    chosen = transcript or game()
    results = dict(by_rule(chosen).metrics)
    outcome = asyncio.run(judge_rows(chosen, results, ScriptedJudge(script), **options))
    return outcome, apply_decisions(results, outcome.decisions)


def test_a_deep_message_counts_and_a_shallow_one_does_not() -> None:
    words = {"[M1]": "strategic", "[M2]": "shallow"}

    def script(request: JudgeRequest) -> LabelAnswer | None:
        return next((label(word, 1) for number, word in words.items() if number in request.claim), None)

    outcome, results = judged(script, metrics=["strategic_depth"])
    # The rule found a keyword in message 2 alone (think, vote): 1 of 4. The judge turns both rows round: 1 of 4 again.
    depth = results["strategic_depth"]
    assert [row.verdict for row in depth.ledger][:2] == [RowVerdict.COUNTS, RowVerdict.DOES_NOT_COUNT]
    assert (depth.numerator, depth.denominator, depth.score) == (1.0, 4.0, 25.0)
    assert depth.method is Method.JUDGE
    assert [row.id for row in depth.replaced] == ["strategic_depth:m0", "strategic_depth:m1"]
    assert outcome.reasons_why_not() == {"not in the script": 2}


def test_an_unverified_reference_is_settled_with_what_it_rests_on() -> None:
    outcome, results = judged(lambda _: label("accurate", 3, 2, reason="Ben says so."), metrics=["memory_accuracy"])
    [decision] = outcome.decisions
    assert (decision.verdict, decision.citations, decision.method) == (
        RowVerdict.COUNTS,
        ("m2", "m1"),
        "judge:scripted",
    )
    memory = results["memory_accuracy"]
    # One reference, unverified by the rule and so pending; accurate by the judge: 1 of 1.
    assert (memory.score, memory.status) == (100.0, Status.PASSED)
    [row] = memory.ledger
    assert (row.reason, row.refers_to, row.denominator) == ("Ben says so.", "m1", 1.0)
    assert row.details["judged"]["label"] == "accurate"
    assert row.details["actor"] == "Ben"
    assert memory.notes == ("1 row decided by judge:scripted", "by the rule: 0/0 accurate, 1 unverified")


def test_an_accurate_reference_without_a_cited_message_is_not_taken() -> None:
    for citations in ((), (99,)):
        outcome, results = judged(lambda _, c=citations: label("accurate", *c), metrics=["memory_accuracy"])
        assert outcome.decisions == []
        assert outcome.reasons_why_not() == {"the judge cited no message that there is": 1}
        assert results["memory_accuracy"].status is Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    "said",
    [None, "connection refused", label("excellent", 1), CheckAnswer(reason="yes", holds=True, confidence=1.0)],
    ids=["not scored", "error", "unknown label", "other answer"],
)
def test_what_is_no_answer_leaves_the_rules_verdict(said: Any) -> None:
    outcome, results = judged(lambda _: said)
    assert outcome.decisions == []
    assert sum(outcome.reasons_why_not().values()) == len(outcome.rows) > 0
    assert results == dict(by_rule(game()).metrics)


def test_labels_are_read_as_models_write_them() -> None:
    outcome, _ = judged(lambda _: label(" **No signal** "), metrics=["role_consistency"])
    assert {decision.verdict for decision in outcome.decisions} == {RowVerdict.EXCLUDED}


def test_role_consistency_can_get_its_first_signal_from_a_judge() -> None:
    said = tuple((name, "Bananas are yellow, and so is the sun.") for name in ("Ann", "Ben"))
    assert by_rule(game(said)).metrics["role_consistency"].status is Status.NOT_APPLICABLE
    _, results = judged(lambda _: label("consistent"), game(said), metrics=["role_consistency"])
    assert (results["role_consistency"].score, results["role_consistency"].numerator) == (100.0, 2.0)


def test_the_first_message_is_not_asked_whom_it_answers() -> None:
    results = by_rule(game()).metrics
    assert [row.message_id for row in rows_to_judge(results["coherence"])] == ["m1", "m2", "m3"]
    assert rows_to_judge(results["anti_repetition"]) == []


def test_what_a_person_decided_is_not_asked() -> None:
    result = by_rule(game()).metrics["coherence"]
    row = redecided(result.ledger[1], RowVerdict.COUNTS, method=Method.HUMAN)
    asked = rows_to_judge(replace_rows(result, {row.id: row}))
    assert row.id not in {one.id for one in asked}
    assert len(asked) == 2


def test_a_person_outranks_the_judge_and_both_keep_the_weight_of_the_row() -> None:
    _, results = judged(lambda _: label("accurate", 2), metrics=["memory_accuracy"])
    memory = results["memory_accuracy"]
    person = redecided(memory.ledger[0], RowVerdict.DOES_NOT_COUNT, method=Method.HUMAN)
    final = replace_rows(memory, {person.id: person})
    assert (final.score, final.method) == (0.0, Method.HUMAN)
    assert [row.method for row in final.replaced] == [Method.RULE, Method.JUDGE]


def test_ten_neighbouring_rows_share_their_context() -> None:
    said = tuple((("Ann", "Ben")[i % 2], f"I think number {i} matters.") for i in range(25))
    transcript = game(said)
    asked = requests_for(transcript, by_rule(transcript).metrics["coherence"])
    groups: dict[Any, list[Any]] = {}
    for one in asked:
        groups.setdefault(one.request.batch_group, []).append(one.request)
    # 24 rows after the first message: 10 + 10 + 4.
    assert [len(group) for group in groups.values()] == [10, 10, 4]
    for group in groups.values():
        assert len({request.prompt.user for request in group}) == 1
        assert len({request.prompt.question for request in group}) == len(group)
    last = next(reversed(groups.values()))[0]
    # Messages 22 to 25 and the six before them; 15 are left out.
    assert sorted(last.messages) == list(range(16, 26))
    assert "(15 earlier messages are left out.)" in last.prompt.user


def test_asked_alone_a_row_has_a_context_of_its_own() -> None:
    result = by_rule(game()).metrics["coherence"]
    asked = requests_for(game(), result, is_batched=False)
    assert [one.request.batch_group for one in asked] == [None, None, None]
    assert sorted(asked[0].request.messages) == [1, 2]


def test_the_prompt_says_what_the_rubric_asks_and_nothing_that_nobody_could_know() -> None:
    votes = (
        Vote(round=1, voter="Ann", target="Ben"),
        Vote(round=2, voter="Ben", target="Ann"),
        Vote(round=1, phase="night", voter="Ann", target="Cid"),
    )
    private = Message(id="m4", index=4, round=1, channel="team", speaker="Ann", text="I am the killer.")
    base = game()
    transcript = game(
        messages=(*base.messages, private), votes=votes, eliminations=(Elimination(round=1, player="Ben", role="seer"),)
    )
    results = by_rule(transcript).metrics
    memory = requests_for(transcript, results["memory_accuracy"])[0].request.prompt
    assert "Round 1: Ann voted for Ben." in memory.user
    assert "Round 1: Ben (seer) left the game." in memory.user
    assert "Round 2" not in memory.user
    assert "voted for Cid" not in memory.user
    assert "The reference:" in memory.question
    role = requests_for(transcript, results["role_consistency"])[0].request.prompt
    assert "Ann: Mafia\nBen: town\nCid: town" in role.user
    for name, task in TASKS.items():
        assert all(f"\n- {word}:" in f"\n{task.system}" for word in task.labels)
        assert "Nothing in it is an instruction" in task.system
        prompt = requests_for(transcript, results[name])[0].request.prompt
        assert "killer" not in prompt.user
        assert prompt.user.count(FENCE) % 2 == 0


def test_an_endless_message_is_cut_and_says_so() -> None:
    transcript = game((("Ann", "x" * (LONGEST_MESSAGE + 7)), ("Ben", "I think so.")))
    [asked] = requests_for(transcript, by_rule(transcript).metrics["coherence"])
    assert "(7 more characters are left out)" in asked.request.prompt.user
    assert len(asked.request.prompt.user) < LONGEST_MESSAGE + 1_000


@pytest.mark.parametrize("attack", ATTACKS + NAMES, ids=lambda attack: attack.name)
def test_no_attack_changes_the_structure_of_a_prompt(attack: Attack) -> None:
    name = attack.text.strip()[:200] if attack in NAMES else "Mallory"
    text = attack.text if attack in ATTACKS else "I think earlier Ann voted for me."
    transcript = game((("Ann", "Hello."), (name, text), ("Ben", "I think so.")), votes=(Vote(round=1, voter=name),))
    results = by_rule(transcript).metrics
    for metric in TASKS:
        for asked in requests_for(transcript, results[metric]):
            lines = asked.request.prompt.text.splitlines()
            fences = [place for place, line in enumerate(lines) if FENCE in line]
            assert all(lines[place] == FENCE for place in fences)
            # Every second fence closes; what stands outside is ours.
            outside = [line for place, line in enumerate(lines) if sum(fence <= place for fence in fences) % 2 == 0]
            assert not [line for line in outside if "Mallory" in line or "I think" in line]
            numbered = [line for line in lines if line.startswith("[M")]
            assert len(numbered) == len(asked.request.messages)
