"""Parse references to past events into claims that a record can settle (rubric 1.0, metric 1)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from enum import StrEnum

from evaluation.rubric.claims._subjects import PEOPLE, SubjectFinder, Who, who_at
from evaluation.rubric.claims._time_expressions import EARLIER_ANY_TIME, TimeExpression, When, assign_time, find_times
from evaluation.rubric.claims._whole_sentences import is_about_another_game, unproven_words
from evaluation.rubric.clauses.grammar import Pattern, patterns_for
from evaluation.rubric.clauses.passage import Passage
from evaluation.transcript import Alignment

# "Voted for Bravo in all of it twice": how far behind a clause its adverb may stand, in words.
_FARTHEST_ADVERB = 3


class Act(StrEnum):
    """The act that a clause says somebody did."""

    VOTE = "vote"
    VOTED = "voted"
    """Voted at all, for whomever."""
    ABSTAINED = "abstained"
    VOTE_TOGETHER = "vote_together"
    VOTES_RECEIVED = "votes_received"
    ELIMINATED = "eliminated"
    ROLE_WAS = "role_was"
    """The role of a player who is out."""
    ACCUSE = "accuse"
    DEFEND = "defend"
    CLAIM_ROLE = "claim_role"
    CLAIM_RESULT = "claim_result"
    """Told what a divination or an investigation showed."""
    ASK = "ask"
    """Put a question or a demand to somebody."""
    SPOKE = "spoke"
    SAID = "said"
    """A paraphrase of what somebody said."""
    UNCLEAR = "unclear"
    """A rubric pattern ("last round", "in round 2", "earlier") on something else about the past."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One reference to the past.

    Attributes:
        act: What is said to have happened.
        actor: Who did it; for an elimination nobody in particular.
        target: To whom; ``None`` where the clause names nobody.
        when: The round it speaks of.
        negated: Whether the clause says that it did not happen.
        start: Where the clause begins in the original text, in code points.
        end: Where it ends, exclusive.
        verb: Position of the verb among the words.
        role: The role that is claimed or reported, as written.
        role_side: The side that this role stands for.
        never: Whether it is denied for every time ("never").
        alone: Whether nobody else is said to have done it ("only Alpha").
        is_exact_role: Whether the role is one among several of its side ("Seer"), not the side at large ("villager").
        count: How many votes are said to have been received; ``None`` for the most.
        times: How often it is said to have happened ("twice"); ``None`` where that is not said.
        always: Whether it is said of every time ("in every round", "voted only for Bravo").
        unproven: The first words beside it that no check covers ("except", another name); empty for none.
    """

    act: Act
    actor: Who
    target: Who | None
    when: When
    negated: bool
    never: bool
    start: int
    end: int
    verb: int
    role: str = ""
    role_side: Alignment | None = None
    alone: bool = False
    is_exact_role: bool = False
    count: int | None = None
    times: int | None = None
    always: bool = False
    unproven: str = ""


@dataclass(frozen=True, slots=True)
class _Hit:
    pattern: Pattern
    match: re.Match[str]

    @property
    def verb(self) -> tuple[int, int]:
        return self.match.span("verb")

    def group(self, name: str) -> int | None:
        """Position of a one-word group; ``None`` when the form does not have it or it is absent."""
        if name not in self.match.re.groupindex:
            return None
        return self.match.start(name) if self.match.start(name) >= 0 else None


def find_claims(passage: Passage, language: str) -> tuple[Claim, ...]:
    """The references to the past in a message, in order.

    Questions, conditions, plans, speculation ("maybe Alpha voted ...") and quoted words are none.
    """
    times = find_times(passage, language)
    found = patterns_for("memory", language).tried_on(passage.symbols)
    if not found and not times:
        return ()
    hits = [hit for hit in _hits(passage, found) if not _states_nothing(passage, hit)]
    subjects = SubjectFinder(passage)
    claims: list[Claim] = []
    told: set[int] = set()
    for position, hit in enumerate(hits):
        following = hits[position + 1].verb[0] if position + 1 < len(hits) else len(passage.code)
        before = hits[position - 1].verb[1] if position else 0
        claim = _claim(passage, hit, subjects, assign_time(passage, times, hit.match.span(), before, following))
        if claim is not None:
            claims.append(claim)
        if claim is not None or hit.pattern.attributes.get("needs") != "time":
            told.add(passage.sentence(hit.verb[0])[0])
    text = passage.message.text
    told_once = [claim for claim in _distinct(claims) if not is_about_another_game(text, claim)]
    beside = unproven_words(text, passage.mentions, told_once)
    whole = [replace(claim, unproven=words) for claim, words in zip(told_once, beside, strict=True)]
    unclear = [claim for claim in _unclear(passage, times, told) if not is_about_another_game(text, claim)]
    return (*whole, *unclear)


def _distinct(claims: Sequence[Claim]) -> Iterator[Claim]:
    """The claims without those that only say again what the same message said before."""
    seen: set[tuple[object, ...]] = set()
    for claim in claims:
        target = () if claim.target is None else (claim.target.kind, claim.target.names)
        actor = (claim.actor.kind, claim.actor.names, claim.actor.count, claim.actor.amount)
        said = (claim.act, actor, target, claim.when, claim.negated, claim.role, claim.count)
        if said not in seen:
            seen.add(said)
            yield claim


def _hits(passage: Passage, patterns: Sequence[Pattern]) -> list[_Hit]:
    """Every verb with the first form that matches it, in order of the text."""
    hits: list[_Hit] = []
    covered: set[int] = set()
    for pattern in patterns:
        for match in pattern.find(passage.code):
            if covered.isdisjoint(range(*match.span("verb"))):
                hits.append(_Hit(pattern, match))
                covered.update(range(*match.span()))
    return sorted(hits, key=lambda hit: hit.verb)


def _states_nothing(passage: Passage, hit: _Hit) -> bool:
    verb = hit.verb[1] - 1
    if hit.pattern.attributes.get("presupposed"):
        # "I am not sure about Alpha's claim to be the Seer" takes it for granted that there was one.
        return passage.is_quoted(verb) or passage.is_question(verb)
    return (
        passage.is_quoted(verb)
        or passage.is_question(verb)
        or passage.is_conditional(verb)
        or passage.is_guess(hit.verb[0])
        or passage.is_reported(hit.verb[0])
    )


def _claim(passage: Passage, hit: _Hit, subjects: SubjectFinder, time: TimeExpression | None) -> Claim | None:
    attributes = hit.pattern.attributes
    act = Act(attributes["act"])
    if attributes.get("needs") == "time" and (time is None or time.when.kind == "this"):
        return None
    first, last = hit.match.start(), hit.match.end() - 1
    if attributes["subject"] in ("left", "same"):
        is_left = attributes["subject"] == "left"
        # "Both voted": the first word of the verb's form is its subject.
        opens = hit.verb[0] + (passage.has(hit.verb[0], "both") and not passage.has(hit.verb[0] - 1, "subject"))
        subject = subjects.find(opens) if is_left else subjects.of_clause_before(hit.verb[0])
        if subject is None:
            return None
        actor, first = subject.who, min(first, subject.first)
    elif attributes["subject"] == "vague":
        actor = Who("vague", words=passage.text(first, hit.verb[1] - 1))
    else:
        actor = _grouped_actor(passage, hit)
    target_at = hit.group("target")
    target = None if target_at is None else who_at(passage, target_at, other=actor, after=target_at > hit.verb[0])
    if attributes.get("target") == "speaker":
        target = Who("players", (passage.speaker,), passage.speaker)
    if target_at is not None:
        subjects.remember_object(target_at)
    subjects.remember_subject(hit.verb[0], target if target is not None and actor.kind == "any" else actor)
    act = _settled_act(passage, act, hit, actor)
    if _is_no_reference(passage, act, hit, actor, target):
        return None
    if time is not None:
        first, last = time.widen(first, last)
    start, end = passage.span(first, last)
    verb = range(*hit.verb)
    role_at, count_at = hit.group("role"), hit.group("count")
    return Claim(
        act,
        actor,
        target,
        time.when if time is not None else EARLIER_ANY_TIME,
        (any(passage.has(at, "not never") for at in verb) != subjects.was_negated) != bool(attributes.get("negated")),
        any(passage.has(at, "never") for at in verb),
        start,
        end,
        hit.verb[1] - 1,
        "" if role_at is None else passage.coded.words[role_at],
        None if role_at is None else "mafia" if passage.has(role_at, "evil") else "town",
        passage.any_of("only", first - 1, hit.verb[0] - 2),
        role_at is not None and passage.has(role_at, "power_role"),
        None if count_at is None else passage.grammar.number(passage.coded.words[count_at]) or 0,
        *_repetition(passage, hit),
    )


def _grouped_actor(passage: Passage, hit: _Hit) -> Who:
    """The actor in the group ``actor``; a group of two for "two Seer claims"; anybody without either."""
    at, number_at = hit.group("actor"), hit.group("count")
    if at is not None:
        return who_at(passage, at)
    if number_at is None or hit.pattern.attributes["act"] != Act.CLAIM_ROLE:
        return PEOPLE["any"]
    count = passage.grammar.number(passage.coded.words[number_at]) or 2
    return Who("group", words=passage.text(number_at, number_at), count=count)


def _repetition(passage: Passage, hit: _Hit) -> tuple[int | None, bool]:
    """The number of times that a clause claims, and whether it says always: "twice", "three times", "every round"."""
    end = hit.match.end()
    while end < min(hit.match.end() + _FARTHEST_ADVERB, len(passage.code)) and passage.has(end, "adv degree number in"):
        end += 1
    for at in range(hit.verb[0], min(end + 1, len(passage.code))):
        if passage.has(at, "repeat"):
            return passage.grammar.number(passage.coded.words[at]) or 2, False
        if passage.has(at, "times_word round") and passage.has(at - 1, "number both"):
            is_ordinal_round = passage.has(at, "round") and not passage.has(at - 1, "both")
            if not is_ordinal_round:
                return passage.grammar.number(passage.coded.words[at - 1]) or 2, False
    # "You only voted for Bravo", "voted only for Bravo": for nobody else.
    is_exclusive = passage.any_of("only", hit.verb[0] - 1, hit.match.end() - 1)
    return None, is_exclusive or passage.any_of("always", hit.verb[0], end)


def _is_no_reference(passage: Passage, act: Act, hit: _Hit, actor: Who, target: Who | None) -> bool:
    """Whether the text matches a form without referring to the past."""
    speaker = (passage.speaker,)
    if hit.pattern.attributes.get("present") and (actor.kind != "players" or passage.speaker in actor.names):
        # "I accuse Bravo" does it now.
        return True
    if act is Act.ROLE_WAS:
        return target is None or passage.speaker in target.names
    if act in (Act.SAID, Act.CLAIM_ROLE, Act.ACCUSE, Act.DEFEND) and actor.kind in ("noun", "group"):
        return actor.count is None and actor.amount is None
    if hit.pattern.attributes.get("presupposed"):
        return False
    # "I claim Seer" claims it now.
    return act is Act.CLAIM_ROLE and actor.names == speaker and not passage.has(hit.verb[1] - 1, "claimed said")


def _settled_act(passage: Passage, act: Act, hit: _Hit, actor: Who) -> Act:
    """ "We voted out Bravo" tells of an elimination, "Alpha voted out Bravo" of a vote."""
    if act is Act.VOTE and actor.kind in ("we", "everyone", "unknown", "noun", "group"):
        around = range(hit.match.start(), min(hit.match.end() + 1, len(passage.code)))
        if any(passage.has(at, "out") for at in around):
            return Act.ELIMINATED
    return act


def _unclear(passage: Passage, times: Sequence[TimeExpression], told: Set[int]) -> Iterator[Claim]:
    """Clauses with a rubric pattern that tell of the past, but of nothing that a form covers.

    Args:
        passage: The message.
        times: Its time expressions.
        told: Where the sentences begin of which a form tells already what they claim, be it nothing.
    """
    busy = set(told)
    for time in times:
        start, _ = passage.sentence(time.first)
        if time.when.kind == "this" or start in busy:
            continue
        first, last = passage.clause(time.first)
        if passage.is_guess(last) or not passage.tells_of_the_past(time.first):
            continue
        busy.add(start)
        start, end = passage.span(first, last)
        vague = [at for at in range(first, last + 1) if passage.has(at, "vague")]
        actor = who_at(passage, vague[0]) if vague else PEOPLE["any"]
        yield Claim(Act.UNCLEAR, actor, None, time.when, False, False, start, end, time.first)
