"""Find the subject of a verb, and the people that a word stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from evaluation.rubric.clauses.passage import Passage

_FARTHEST_SUBJECT = 12
_MOST_UNKNOWN_WORDS = 2


@dataclass(frozen=True, slots=True)
class Who:
    """The people that words stand for.

    ``players`` are named in ``names``. ``everyone``, ``we`` and ``nobody`` are what they say, ``vague`` is an
    unidentified "someone", ``any`` is nobody in particular (a passive without "by"), ``noun`` is something else than a
    player ("the Mafia"), ``group`` the players at large ("the village"), ``unknown`` a pronoun that may stand for
    several. ``count`` is how many ("four of us"), ``amount`` how many without a number ("most of you").
    """

    kind: Literal["players", "everyone", "we", "nobody", "vague", "any", "noun", "group", "unknown"]
    names: tuple[str, ...] = ()
    words: str = ""
    count: int | None = None
    amount: Literal["several", "most", "half"] | None = None

    @property
    def label(self) -> str | None:
        """The names joined for display, the words where there are no names, ``None`` for nobody in particular."""
        return " and ".join(self.names) or self.words or None


PEOPLE: Mapping[str, Who] = MappingProxyType({"any": Who("any"), "unknown": Who("unknown")})

_GROUPS: tuple[Literal["everyone", "we", "nobody", "vague"], ...] = ("everyone", "we", "nobody", "vague")


@dataclass(frozen=True, slots=True)
class ClauseSubject:
    """A subject and the position of its first word."""

    who: Who
    first: int


def who_at(
    passage: Passage, position: int, *, other: Who | None = None, after: bool = False, positions: Sequence[int] = ()
) -> Who:
    """The people at ``position``, with those enumerated beside it.

    Args:
        passage: The message.
        position: Position of a participant's word.
        other: The other participant of the clause: a reflexive pronoun stands for it.
        after: Whether the enumeration goes on to the right ("for Alpha and Bravo") instead of to the left.
        positions: The enumeration, where it is known already.
    """
    words = passage.text(position, position)
    for kind in _GROUPS:
        if passage.has(position, kind):
            return Who(kind, words=words, amount="several" if passage.has(position, "vague_some") else None)
    if passage.has(position, "self"):
        return other or PEOPLE["unknown"]
    positions = positions or (passage.listed_after(position) if after else passage.listed(position))
    known_others = other.names if other is not None else ()
    names = [passage.person(at, known_others) for at in positions]
    known = tuple(dict.fromkeys(name for name in names if name is not None))
    if len(known) < len(set(positions)) and None in names:
        return Who("unknown", words=words)
    return Who("players", known, words)


class SubjectFinder:
    """Finds subjects in one message; it remembers the clauses before, from which later ones inherit theirs."""

    def __init__(self, passage: Passage) -> None:
        self._passage = passage
        self._objects: set[int] = set()
        self._last: tuple[int, Who] | None = None
        self.was_negated = False

    def remember_object(self, position: int) -> None:
        """Note that the word at ``position`` is the object of a clause and so not the subject of the next."""
        self._objects.add(position)

    def remember_subject(self, verb: int, who: Who) -> None:
        """Notes the subject of the clause whose verb begins at ``verb``."""
        self._last = (verb, who)

    def of_clause_before(self, verb: int) -> ClauseSubject | None:
        """The subject of the clause before in the same sentence, if there is one."""
        is_near = self._last is not None and self._last[0] >= self._passage.sentence(verb)[0]
        return ClauseSubject(self._last[1], verb) if self._last is not None and is_near else None

    def find(self, verb: int) -> ClauseSubject | None:
        """The subject of the verb that begins at ``verb``; ``None`` when the clause states no fact.

        A modal before the verb makes it a plan, a form of "be" a passive, an auxiliary before the subject a question,
        "who" without a person before it an indirect question.
        """
        passage = self._passage
        self.was_negated = False
        unknown = 0
        at = verb - 1
        while at >= 0 and verb - at <= _FARTHEST_SUBJECT:
            if passage.has(at, "modal must lets to please if be be_now be_past been being got"):
                return None
            if at not in self._objects and passage.has(at, "subject"):
                return self._at(at)
            if self._is_amount(at):
                return self._some(at, at)
            if passage.has(at, "who that wh"):
                return self._relative(at)
            if passage.has(at, "full_stop stop quote"):
                break
            if passage.has(at, "and but then or comma") or at in self._objects:
                return self._inherited(verb)
            if passage.has(at, "not never"):
                self.was_negated = True
            elif not passage.has(at, "skip have did") and not passage.coded.words[at].endswith("ly"):
                unknown += 1
                if unknown > _MOST_UNKNOWN_WORDS or not self._stands_between(at):
                    return self._noun(at)
            at -= 1
        return self._implied(verb, at)

    def _is_amount(self, at: int) -> bool:
        several = at not in self._objects and self._passage.has(at, "several most majority half neither")
        return several and not self._passage.has(at + 1, "sure adv")

    def _noun(self, position: int) -> ClauseSubject:
        """A subject other than a player, with its number where it has one: "the village", "four of us"."""
        passage = self._passage
        amount = self._amount_before(position)
        # "Some delays" are nobody; "two dogs" are told apart by their votes alone.
        if amount is not None and (passage.has(position, "group plain_role us") or passage.has(amount, "number")):
            return self._some(amount, position)
        if passage.has(position, "number") and not passage.has(position - 1, "other"):
            return self._some(position, position)
        first = position
        while position - first < _MOST_UNKNOWN_WORDS and passage.has(first - 1, "of the our"):
            first -= 1
        kind: Literal["group", "noun"] = "group" if passage.has(position, "group plain_role") else "noun"
        return ClauseSubject(Who(kind, words=passage.text(first, position)), first)

    def _amount_before(self, position: int) -> int | None:
        """The place of an amount of the people at ``position``: "two people", "most of you", "half of the village"."""
        passage = self._passage
        at = position - 1
        while position - at <= _MOST_UNKNOWN_WORDS and passage.has(at, "of the our"):
            at -= 1
        if not passage.has(at, "amount") or (at == position - 1 and passage.has(position, "name")):
            return None
        # "At least two people", "Agent 7": how many that is remains open.
        return None if passage.has(at, "number") and passage.has(at - 1, "other round") else at

    def _some(self, amount: int, position: int) -> ClauseSubject:
        """A number or share of the players: the words from ``amount`` to ``position``."""
        passage = self._passage
        words = passage.text(amount, position)
        if passage.has(amount, "neither both"):
            self.was_negated ^= passage.has(amount, "neither")
            return ClauseSubject(self._two_before(amount, words), amount)
        if passage.has(amount, "number"):
            return ClauseSubject(
                Who("group", words=words, count=passage.grammar.number(passage.coded.words[amount])), amount
            )
        if passage.has(amount, "several"):
            return ClauseSubject(Who("vague", words=words, amount="several"), amount)
        share: Literal["half", "most"] = "half" if passage.has(amount, "half") else "most"
        return ClauseSubject(Who("group", words=words, amount=share), amount)

    def _two_before(self, position: int, words: str) -> Who:
        """The two players whom "both" means: those named before, in the sentence or else in the one before it."""
        passage = self._passage
        start, _ = passage.sentence(position)
        before = passage.sentence(start - 1)[0] if start > 0 else start
        for first in (start, before):
            named = dict.fromkeys(
                name for at, name in passage.names_between(first, position) if at not in self._objects
            )
            named.pop(passage.speaker, None)
            if named:
                return Who("players", tuple(named), words) if len(named) == 2 else Who("unknown", words=words)
        return Who("unknown", words=words)

    def _stands_between(self, position: int) -> bool:
        """Whether the unknown word at ``position`` has a subject before it ("Alpha from the east voted")."""
        return any(self._passage.has(position - step, "subject") for step in (1, 2))

    def _at(self, position: int) -> ClauseSubject | None:
        passage = self._passage
        positions = tuple(at for at in passage.listed(position) if at not in self._objects)
        before = positions[0] - 1
        if passage.has(position, "anyone"):
            # "Whoever voted for Bravo" tells of nobody.
            return None
        if passage.has(position, "vague_some you third"):
            amount = self._amount_before(position)
            if amount is not None:
                return self._some(amount, position)
            if passage.has(before, "number"):
                return ClauseSubject(Who("unknown", words=passage.text(before, position)), before)
        if passage.has(before, "neither") or (passage.has(before, "not") and passage.has(position, "everyone")):
            self.was_negated = not self.was_negated
        if passage.has(before, "auxiliary who wh why") and not self._is_embedded(before):
            return None
        if passage.has(position, "both"):
            return self._some(position, position)
        if passage.has(position, "evil"):
            return ClauseSubject(Who("noun", words=passage.text(position, position)), position)
        who = who_at(passage, position, positions=positions)
        if who.kind == "unknown" and passage.has(position, "third you") and passage.has(position + 1, "both"):
            who = self._two_before(position, who.words)
        return ClauseSubject(who, positions[0])

    def _is_embedded(self, position: int) -> bool:
        """Whether the auxiliary at ``position`` belongs to another clause ("what I know is Alpha voted for Bravo")."""
        return self._passage.has(position, "be_now") and not self._passage.has(position - 1, "break")

    def _relative(self, position: int) -> ClauseSubject | None:
        """The person before "who": "whitney who voted", "you are the one who voted"."""
        passage = self._passage
        at = position - 1
        while passage.has(at, "comma stop number the adv be_now be_past"):
            at -= 1
        if passage.has(at, "name you i third"):
            return ClauseSubject(who_at(passage, at), at)
        # "I know that Bravo voted" never comes here: Bravo is met first.
        return None

    def _inherited(self, verb: int) -> ClauseSubject | None:
        passage = self._passage
        start, _ = passage.sentence(verb)
        before = self.of_clause_before(verb)
        if before is not None:
            return before
        for at in range(max(start, verb - _FARTHEST_SUBJECT), verb):
            if passage.has(at, "subject"):
                return self._at(at)
        return ClauseSubject(Who("noun"), verb)

    def _implied(self, verb: int, at: int) -> ClauseSubject | None:
        """In chat a sentence that begins with the verb leaves out "I"."""
        if self._passage.has(verb, "keep") or (at >= 0 and not self._passage.has(at, "full_stop stop quote")):
            return None
        if self._last is not None and at >= 0 and not self._passage.has(at, "full_stop"):
            return ClauseSubject(self._last[1], verb)
        return ClauseSubject(Who("players", (self._passage.speaker,)), verb)
