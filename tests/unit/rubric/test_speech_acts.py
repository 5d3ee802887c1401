"""Speech acts: one sentence at a time, with what it does and at whom."""

import re

import pytest

from evaluation.rubric._grammar import read_data
from evaluation.rubric.discussion import Discussion
from evaluation.rubric.metrics.role_consistency import role_rules
from evaluation.rubric.speech import ActKind, Reading, SpeechAct, read
from tests.games import Line, game_of

NAMES = ("Agent-Alpha", "Agent-Bravo", "Agent-Charlie", "Agent-Delta", "Agent-Echo")
A, B, C = "Agent-Alpha", "Agent-Bravo", "Agent-Charlie"


def readings_of(*texts: str, speaker: str = "Agent-Echo", reply_to: str | None = None) -> tuple[Reading, ...]:
    said: list[Line] = [(speaker, text, {"reply_to": reply_to}) for text in texts]
    game = game_of([(A, "Hello all."), *said], NAMES, round=1, language="en")
    return read(Discussion.of(game))[1:]


def acts_in(text: str, **changes: str) -> tuple[SpeechAct, ...]:
    return readings_of(text, **changes)[0].acts


def kinds_in(text: str, **changes: str) -> set[tuple[str, str | None]]:
    """The acts with their targets; a case with evidence is listed beside its accusation."""
    return {(str(act.kind), act.target) for act in acts_in(text, **changes)}


ACCUSE, AGGRESSIVE, CASE, DEFEND = "accuse", "accuse_aggressively", "build_case", "defend"
QUESTION, VOTES, ANALYSE, ALLY, DEFLECT, REVEAL, SELF = (
    "question", "analyse_votes", "analyse", "ally", "deflect", "reveal_role", "defend_self",
)  # fmt: skip

ACTS: tuple[tuple[str, set[tuple[str, str | None]]], ...] = (
    # Accusations
    ("It's Agent-Bravo.", {(ACCUSE, B)}),
    ("The killer is Agent-Bravo.", {(ACCUSE, B)}),
    ("I don't trust Agent-Bravo.", {(ACCUSE, B)}),
    ("I'm suspicious of Agent-Bravo.", {(ACCUSE, B)}),
    ("Agent-Bravo is trying to mislead us.", {(ACCUSE, B), (CASE, B)}),
    ("You are lying, Agent-Bravo.", {(ACCUSE, B)}),
    ("Agent-Alpha and Agent-Bravo are Mafia.", {(ACCUSE, A), (ACCUSE, B)}),
    ("Let's vote out Agent-Bravo.", {(ACCUSE, B)}),
    ("We should eliminate Agent-Bravo.", {(ACCUSE, B)}),
    ("Agent-Bravo should be out.", {(ACCUSE, B)}),
    ("Agent-Alpha, vote for Agent-Bravo.", {(ACCUSE, B)}),
    ("I support Agent-Bravo's elimination.", {(ACCUSE, B)}),
    ("team Agent-Bravo?", {(ACCUSE, B)}),
    ("Agent-Bravo talks too much.", {(ACCUSE, B), (CASE, B)}),
    ("I'm going with Agent-Bravo.", {(ACCUSE, B)}),
    ("I lean towards Agent-Bravo.", {(ACCUSE, B)}),
    ("Let's get Agent-Bravo out.", {(ACCUSE, B)}),
    ("Agent-Bravo clearly you are Mafia because he said it is you", {(AGGRESSIVE, B), (CASE, B)}),
    # Aggressive ones
    ("I think Agent-Bravo is definitely Mafia!", {(AGGRESSIVE, B)}),
    ("AGENT-BRAVO IS THE MAFIA", {(AGGRESSIVE, B)}),
    ("Vote Agent-Bravo now!!", {(AGGRESSIVE, B)}),
    ("Agent-Bravo must die!", {(AGGRESSIVE, B)}),
    ("You are all idiots, Agent-Bravo must die NOW!", {(AGGRESSIVE, B)}),
    # With evidence
    ("I think Agent-Bravo is Mafia because he lied.", {(ACCUSE, B), (CASE, B)}),
    ("Agent-Bravo is too quiet.", {(ACCUSE, B), (CASE, B)}),
    ("Agent-Bravo's claim is inconsistent.", {(ACCUSE, B), (CASE, B)}),
    ("Agent-Alpha voted for Agent-Bravo without explanation. That's suspicious.", {(VOTES, A), (ACCUSE, A), (CASE, A)}),
    ("I divined Agent-Bravo as a werewolf.", {(ACCUSE, B)}),
    ("Agent-Bravo contradicted himself about the vote.", {(ACCUSE, B), (CASE, B)}),
    ("The evidence points to Agent-Bravo.", {(ACCUSE, B), (CASE, B)}),
    ("Agent-Bravo keeps changing the story.", {(ACCUSE, B), (CASE, B)}),
    ("Agent-Alpha voted for Agent-Bravo, which is suspicious.", {(VOTES, A), (ACCUSE, A), (CASE, A)}),
    ("I'm voting Agent-Bravo: two accusations, no proof, and not one follow-up", {(ACCUSE, B), (CASE, B)}),
    ("We need more evidence, but I suspect Agent-Bravo.", {(ACCUSE, B)}),
    ("I see Agent-Bravo. He is Mafia.", {(ACCUSE, B)}),
    ("Agent-Bravo met Agent-Charlie. He is Mafia.", set()),
    ("Agent-Echo is Mafia.", set()),
    ("Agent-Bravo, there was a question and no answer to it.", set()),
    # What looks like evidence and is none
    ("I think Agent-Bravo is Mafia, no reason.", {(ACCUSE, B)}),
    ("Agent-Bravo is Mafia because I said so.", {(ACCUSE, B)}),
    # Defences
    ("The evidence doesn't point to Agent-Bravo.", {(DEFEND, B)}),
    ("Agent-Bravo is innocent.", {(DEFEND, B)}),
    ("I don't think Agent-Bravo is Mafia.", {(DEFEND, B)}),
    ("I doubt that Agent-Bravo is Mafia.", {(DEFEND, B)}),
    ("It can't be Agent-Bravo.", {(DEFEND, B)}),
    ("I don't suspect Agent-Bravo.", {(DEFEND, B)}),
    ("Let's not vote Agent-Bravo.", {(DEFEND, B)}),
    ("You're being too harsh on Agent-Bravo.", {(DEFEND, B)}),
    ("There is no evidence against Agent-Bravo.", {(DEFEND, B)}),
    ("I think you're jumping to conclusions about Agent-Bravo.", {(DEFEND, B)}),
    ("Let's not jump to conclusions about Agent-Bravo.", {(DEFEND, B)}),
    ("I do not find Agent-Bravo suspicious for asking.", {(DEFEND, B)}),
    # Questions and demands
    ("Agent-Bravo, why did you vote for Agent-Charlie?", {(QUESTION, B)}),
    # Of whom a question speaks is not asked by it.
    ("Is Agent-Bravo Mafia?", {(QUESTION, None)}),
    ("Why would Agent-Bravo plant that claim?", {(QUESTION, None)}),
    ("Why were you so quick to accuse Agent-Alpha?", {(QUESTION, None)}),
    ("Agent-Bravo no offense but why have you voted for me?", {(QUESTION, B)}),
    ("Agent-Bravo spoke. What do the rest of you think?", {(QUESTION, None)}),
    ("Agent-Bravo, explain your vote.", {(QUESTION, B)}),
    ("Any thoughts Agent-Bravo or Agent-Charlie?", {(QUESTION, B), (QUESTION, C)}),
    ("Agent-Bravo, Agent-Charlie, what do you think?", {(QUESTION, B), (QUESTION, C)}),
    ("Agent-Bravo, you are quiet, why?", {(QUESTION, B)}),
    ("Does anyone suspect somebody?", {(QUESTION, None)}),
    # Alliances
    ("I trust Agent-Bravo's reasoning.", {(ALLY, B)}),
    ("I agree with Agent-Bravo.", {(ALLY, B)}),
    ("Agent-Bravo is right.", {(ALLY, B)}),
    ("Good point, Agent-Bravo.", {(ALLY, B)}),
    ("We should work together.", set()),
    ("I'm with Agent-Bravo on this.", {(ALLY, B)}),
    ("Like Agent-Bravo said.", {(ALLY, B)}),
    ("Absolutely, Agent-Bravo!", {(ALLY, B)}),
    ("Agent-Bravo, let's vote for Agent-Charlie.", {(ALLY, B), (ACCUSE, C)}),
    # Against a suspicion
    ("It's not me.", {(SELF, None)}),
    ("I have nothing to hide.", {(SELF, None)}),
    ("Stop accusing me.", {(SELF, None)}),
    ("Agent-Bravo keeps blaming me for no reason.", {(ACCUSE, B), (CASE, B), (SELF, None)}),
    # Analysis
    ("There are two wolves left.", {(ANALYSE, None)}),
    ("Let's look at the evidence.", {(ANALYSE, None)}),
    ("The voting patterns tell a story.", {(VOTES, None)}),
    ("Agent-Alpha and Agent-Bravo voted together.", {(VOTES, A), (VOTES, B)}),
    # Deflection
    ("That seems hasty.", {(DEFLECT, None)}),
    ("Let's not be too hasty", {(DEFLECT, None)}),
    ("Let's not jump to conclusions.", {(DEFLECT, None)}),
    ("We don't have solid evidence yet.", {(DEFLECT, None)}),
    ("We should slow down.", {(DEFLECT, None)}),
    # Own role
    ("As the Seer, I looked at two cards.", {(REVEAL, None)}),
    ("I am a villager.", {(REVEAL, None)}),
    ("I'm not Mafia.", {(REVEAL, None), (SELF, None)}),
    ("As one of the Mafia I can tell you.", {(REVEAL, None)}),
    ("We are the Mafia.", {(REVEAL, None)}),
    ("I, Agent-Echo, am Mafia.", {(REVEAL, None)}),
)


@pytest.mark.parametrize(("text", "expected"), ACTS, ids=[text for text, _ in ACTS])
def test_acts_are_found_with_their_targets(text: str, expected: set[tuple[str, str | None]]) -> None:
    assert kinds_in(text) == expected


NOTHING = (
    "Agent-Alpha said Agent-Bravo is Mafia.|I never said Agent-Bravo is Mafia.|"
    'Agent-Alpha wrote "Agent-Bravo is Mafia".|If Agent-Bravo is Mafia, we lose.|'
    "If he lies again, I will vote for Agent-Bravo.|Agent-Bravo wants to vote for Agent-Alpha.|"
    "Agent-Bravo votes for Agent-Alpha.|I didn't vote for Agent-Bravo.|I think we should jump to conclusions.|"
    "Agent-Bravo, what is your favourite food?|If I am Mafia, I will eat my hat.|"
    "Agent-Alpha claimed to be a villager and says Agent-Bravo is Mafia.|"
    "We have seen nothing that points to Agent-Bravo.|Agent-Bravo answer was odd.|You answer nothing, Agent-Bravo.|"
    "Agent-Alpha, I would rather listen first and answer when there is something.|I'm less sure I trust Agent-Bravo.|"
    "Hey Agent-Bravo, what's up?|I wonder at it: you suspect Agent-Bravo despite his claims.|"
    "I trust Agent-Bravo's manners. I'm less sure I trust Agent-Bravo.|Observing them all, what a fine analysis!"
)


@pytest.mark.parametrize("text", NOTHING.split("|"))
def test_reports_conditions_quotes_and_small_talk_are_no_acts(text: str) -> None:
    assert {kind for kind, _ in kinds_in(text)} <= {VOTES}


def test_nobody_accuses_the_own_person() -> None:
    assert kinds_in("I think Agent-Bravo is suspicious.", speaker=B) == set()


def test_you_is_the_player_replied_to() -> None:
    assert kinds_in("You are lying.", reply_to="m0") == {(ACCUSE, A)}
    assert kinds_in("You are lying.", reply_to="m0", speaker=B) == {(ACCUSE, A)}


def test_in_a_message_that_names_nobody_you_is_who_spoke_last_and_he_who_was_named_last() -> None:
    assert kinds_in("You are lying.") == {(ACCUSE, A)}
    (_, second) = readings_of("I like Agent-Charlie.", "He is Mafia.")
    assert [(act.kind, act.target) for act in second.acts] == [(ActKind.ACCUSE, C)]
    (_, third) = readings_of("I like Agent-Charlie.", "suspicious")
    assert [(act.kind, act.target) for act in third.acts] == [(ActKind.ACCUSE, C)]
    assert kinds_in("Agent-Delta and Agent-Bravo wait. He is Mafia.") == set()
    # Grey is a misspelt name, and not who spoke last.
    assert kinds_in("Grey you are Mafia.") == {(ACCUSE, None)}


def test_that_is_who_the_sentence_before_is_about() -> None:
    text = "Agent-Charlie, fair enough, but the answer of Agent-Bravo is missing. I think that is suspicious."
    assert (ACCUSE, B) in kinds_in(text)
    assert (ACCUSE, C) in kinds_in("Agent-Charlie, that is suspicious.")
    assert (ACCUSE, A) in kinds_in("I find it suspicious that you ask, Agent-Alpha.")
    assert (ACCUSE, C) in kinds_in("Agent-Charlie, you were fast to follow Agent-Bravo. I find that suspicious.")
    assert (ACCUSE, C) in kinds_in("Agent-Charlie, you gave no second name. I do not trust that.")
    assert kinds_in("Agent-Charlie is the most likely for now.") == {(ACCUSE, C)}
    # A thing to do, one of many, and both the one named and the one spoken to: nobody is told.
    for text in (
        "Agent-Charlie, I do not think it is suspicious to miss a name.",
        "Agent-Charlie, I think that is the most suspicious of all.",
        "Agent-Charlie, Agent-Bravo followed your list. I think that is suspicious.",
    ):
        assert kinds_in(text) == set()
    assert kinds_in("Agent-Charlie, both of them sound defensive.") == set()


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("I'm the Mafia.", "evil"),
        ("I am actually the Possessed.", "evil"),
        ("I'm not a werewolf, believe me.", "town"),
        ("I'm innocent.", "town"),
        ("As the Seer, I have news.", "seer"),
        ("My role is villager.", "villager"),
        ("CO Seer. Trust me.", "seer"),
    ],
)
def test_revealed_roles_are_kept(text: str, role: str) -> None:
    assert [act.role for act in acts_in(text) if act.kind is ActKind.REVEAL_ROLE] == [role]


def test_spans_show_the_words_in_the_original() -> None:
    text = "Well \u2014 I think \u201cit\u201d is clear: Agent\u2011Bravo is DEFINITELY Mafia!"
    (act,) = acts_in(text)
    assert act.kind is ActKind.ACCUSE_AGGRESSIVELY
    assert text[act.start : act.end] == "Agent\u2011Bravo is DEFINITELY Mafia"


def test_votes_called_for_are_marked() -> None:
    assert [act.is_vote for act in acts_in("I vote for Agent-Bravo.")] == [True]
    assert [act.is_vote for act in acts_in("Agent-Bravo is Mafia.")] == [False]


@pytest.mark.parametrize("unit", ["a, ", "Agent-Bravo and ", "if ", "I think that ", '"', "not ", "voted for ", "? "])
def test_hostile_messages_take_linear_time(unit: str) -> None:
    text = (unit * 5000)[:5000]
    assert len(readings_of(*[text] * 5)) == 5


def test_no_pattern_is_without_a_limit_and_no_word_in_two_classes() -> None:
    for name in ("speech_acts", "memory"):
        written = read_data(f"{name}_en.yaml")
        forms = [entry["form"] for entries in written.values() if isinstance(entries, list) for entry in entries]
        assert len(forms) > 30
        assert not [form for form in [*forms, *written["macros"].values()] if re.search(r"(?<!\()[*+]|\{\d*,\}", form)]
    data = read_data("grammar_en.yaml")
    words = " ".join([*data["classes"].values(), *data["contractions"].values()]).split()
    assert len(words) == len(set(words))
    assert {rule.side for rule in role_rules()} == {"mafia", "town"}
