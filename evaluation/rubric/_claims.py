"""Parse references to past events into claims that a record can settle (rubric 1.0, metric 1)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Literal

from evaluation.rubric._grammar import Pattern, patterns_for
from evaluation.rubric._passage import Passage
from evaluation.transcript import Alignment

# A time expression this close before its clause is shown with it.
_NEAR = 3


@dataclass(frozen=True, slots=True)
class When:
    """A time as said: ``round`` (its number), ``ago`` (rounds back), ``last``, ``this``, ``earlier`` or ``any``."""

    kind: Literal["round", "ago", "last", "this", "earlier", "any"]
    number: int | None = None

    def round_for(self, current: int | None) -> int | None:
        """The round meant by somebody who speaks in round ``current``; ``None`` when none in particular is."""
        if self.kind == "round":
            return self.number
        if current is None:
            return None
        back = {"this": 0, "last": 1, "ago": self.number}.get(self.kind)
        return None if back is None else current - back


EARLIER_ANY_TIME = When("any")


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """A time with its first and last word."""

    when: When
    first: int
    last: int

    def widen(self, first: int, last: int) -> tuple[int, int]:
        """The clause from ``first`` to ``last`` together with this expression, where it stands beside it."""
        if self.first > last:
            return first, self.last
        return (self.first if first - self.last <= _NEAR else first), last


def find_times(passage: Passage) -> tuple[TimeExpression, ...]:
    """The time expressions of a message, in order."""
    found: dict[int, TimeExpression] = {}
    for pattern in patterns_for("memory", "times").tried_on(passage.symbols):
        for match in pattern.regex.finditer(passage.code):
            number = None
            if "number" in match.re.groupindex:
                number = passage.grammar.number(passage.coded.words[match.start("number")])
                number = 1 if number is None else number
            when = When(pattern.attributes["when"], number)
            if passage.has(match.end(), "stop") and _opens(passage, passage.sentence(match.start())[0], match.start()):
                # "R3: ..." at the head of a line numbers a turn.
                continue
            found.setdefault(match.end(), TimeExpression(when, match.start(), match.end() - 1))
    return tuple(sorted(found.values(), key=_first))


def assign_time(
    passage: Passage, times: Sequence[TimeExpression], clause: tuple[int, int], before: int, following: int
) -> TimeExpression | None:
    """The time expression that belongs to the clause between the words of ``clause``.

    One after the verb comes first ("voted for Bravo in round 2"), unless a conjunction or a comma hands it to the next
    clause; then the one directly before it; then one that opens the sentence and so rules all of it.

    Args:
        passage: The message.
        times: Its time expressions, in order.
        clause: First word of the form and the one after its last.
        before: The word after the verb of the clause before; 0 for the first.
        following: The verb of the next clause; the end of the message for the last.
    """
    start, end = passage.sentence(clause[0])
    inside = times[bisect_left(times, start, key=_first) : bisect_right(times, end, key=_first)]
    if not inside:
        return None
    own = [time for time in inside if clause[0] <= time.first and time.last < min(following, end)]
    own = [time for time in own if not _is_cut_off(passage, clause[1], time.first, following < end)]
    if own:
        return _most_precise(own)
    leading = [time for time in inside if before <= time.first and 0 <= clause[0] - time.last - 1 <= _NEAR]
    leading = [time for time in leading if not _belongs_before(passage, before, time, start)]
    if leading:
        return _most_precise(leading)
    opening = [time for time in inside if time.last < clause[0] and _opens(passage, start, time.first)]
    return opening[0] if opening else None


def _first(time: TimeExpression) -> int:
    return time.first


def _is_cut_off(passage: Passage, end: int, time: int, has_next: bool) -> bool:
    """Whether something between a clause's end and a time expression makes that part of another clause."""
    boundaries = "and comma stop but because while so finite" if has_next else "stop but because finite"
    return passage.any_of(boundaries, end, time - 1)


def _belongs_before(passage: Passage, before: int, time: TimeExpression, start: int) -> bool:
    """Whether a time expression between two clauses belongs to the first: no boundary parts them."""
    if passage.any_of("stop but because finite", time.last + 1, time.last + _NEAR - 1):
        return True
    return before > start and not passage.any_of("and comma stop but because so", before, time.first - 1)


def _opens(passage: Passage, start: int, first: int) -> bool:
    """Whether a time expression opens the sentence, and so rules all of it."""
    return all(passage.has(at, "opening") for at in range(start, first))


def _most_precise(times: Sequence[TimeExpression]) -> TimeExpression:
    return min(times, key=lambda time: time.when.kind in ("earlier", "this"))


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


PEOPLE: Mapping[str, Who] = {"any": Who("any"), "unknown": Who("unknown")}

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
        if passage.any_of("we us", position - 1, position + 2):
            # The speaker is one of them, and the other one could be anybody.
            return Who("unknown", words=words)
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
            if passage.has(before, "number") and not passage.has(before - 1, "round"):
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
        if passage.has(at, "name name_poss you i third"):
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


_OTHER_GAME = re.compile(
    r"\b(?:last|previous|another|other|earlier|past|prior|different|first|second|next)\s+(?:games?|match(?:es)?|sessions?)\b"
    r"|\b(?:every|any|all the) games? (?:that )?(?:i|we)(?:(?:'|\u2019)ve| have)? (?:ever )?(?:lost|won|played)\b"
    r"|\b(?:games?|match(?:es)?)\s+(?:ago|before this)\b|\bin (?:the|a) (?:tutorial|practice|test game)\b"
    r"|\bwhen (?:i|we) (?:last )?played\b|\btold me once\b"
    # Neither does what was supposed or will be tell of this one's past.
    r"|(?:^|(?<=[.!?]))\s*had [^.!?]*\bwould\b|\blet(?:'|\u2019)?s (?:say|assume|suppose|imagine|pretend)\b"
    r"|^\s*tomorrow\b",
    re.IGNORECASE,
)
# A denial in front turns a claim round, which no check does.
_DENIED = re.compile(
    r"\b(?:(?:is|was)(?:n(?:'|\u2019)?t| not| never)|not|hardly|never) (?:true|so|the case|right) that\b"
    r"|\b(?:false|untrue|wrong|a lie|nonsense|doubtful|impossible) that\b|\bnot that\b",
    re.IGNORECASE,
)
# Further people and rounds, which stand outside of the claim's own stretch.
_ADDED = re.compile(
    r"\b(?:so|as|neither) did\b|\b(?:along|together) with\b|(?:^|[,;]\s*)like (?=\w+,)"
    # "She has not spoken while five of us have."
    r"|\b(?:while|whereas|when|though|but)\s+(?:[\w-]+\s+){1,4}(?:have|has|had|did)\b(?=\s*(?:[.,;!?)]|$))"
    r"|[(;,]\s*(?:and\s+)?(?-i:[A-Z])[\w-]*\s+(?:too|as well)\b|\blikewise\b"
    r"|(?:[,;:(]|\band|\bwith)\s*no ?(?:body|one)(?: else)?\s+(?:else|follow\w*|join\w*|did|voted)\b"
    r"|\b(?:any|every|no) ?(?:one|body) else\b|\bsingle-?handed(?:ly)?\b"
    r"|\bsince (?:round|day|night)\b|(?<!a )\bfew\b|\bever since\b|\bevery (?:single )?time\b"
    r"|\b\d{1,2} ?(?:[-\u2013:]| to ) ?\d{1,2}\b",
    re.IGNORECASE,
)

_SO_DID = re.compile(
    r",?\s+(?:and so did|(?:right |just )?(?:beside|alongside|together with|along with))\b", re.IGNORECASE
)
"""What ends a claim that further people share: "I voted for Bob, and so did Ann."."""

_HAVING_SAID = re.compile(r"having said (?:all )?(?:that|this)\b(?=\s*[,;:])", re.IGNORECASE)
"""A turn of speech that takes up what was just said."""

_NOBODY_ELSE = re.compile(r",?(?:\s+(?:and|but))?\s+no ?(?:body|one) else did(?=\s*(?:[.!;]|$))", re.IGNORECASE)
"""What ends a claim that nobody shares: "Ann voted for Bob, and nobody else did."."""

_SENTENCE_END = re.compile(r"[.!?\n]+(?=\s|$)")
_ORDER = re.compile(r"(?<!back )\bthen\b|\b(?:afterwards|initially|originally)\b", re.IGNORECASE)
"""The order of two votes, which no check looks at."""
_INSIDE = "other frequency only repeat always keep or several most half hedge if without with by"
"""Classes of words inside a claim that its check does not cover."""
_NEXT = "because so but while if who wh which when before after as to think know stop quote"
"""Classes of words that begin another thought behind a claim."""
_BEFORE = (
    "because so but while who wh which when before after as that and then comma stop quote"
    " think know say said believe sure"
)
"""Classes of words that end another thought before it."""
_UNANIMOUSLY = "unanimously"
_EXCEPTIONS = frozenset({"except", "excluding", "besides", "apart"})


def tells_of_another_game(text: str, start: int, end: int) -> bool:
    """Whether the sentence around some words tells of another game than the one that is played."""
    return _OTHER_GAME.search(text, *_sentence(text, start, end)) is not None


def _unproven(passage: Passage, claim: Claim, claims: Sequence[Claim]) -> str:
    """The first words beside one of a message's claims that its check does not cover; "" where it covers all."""
    text = passage.message.text
    denied = passage.keep(("denied", claim.start, claim.end), lambda: _denied_or_added(text, claim))
    if denied is not None:
        return denied.group().strip()
    if claim.actor.kind == "vague":
        # Too vague, whatever else is said; but "not a single one of us" is somebody else.
        at = bisect_left(passage.coded.starts, claim.start) - 1
        return passage.text(at, at) if passage.has(at, "other not") and at >= 0 else ""
    start, end = _sentence(text, claim.start, claim.end)
    beside = [each for each in claims if start <= each.start < end]
    then = _ORDER.search(text, start, end)
    if then is not None and sum(each.act == "vote" for each in beside) > 1:
        return then.group()
    return _Surroundings(passage, claim, beside).left_over()


class _Surroundings:
    """The words in and beside a claim: a word of its clause that no check covers leaves it open.

    Args:
        passage: The message.
        claim: The claim.
        beside: All claims of its sentence.
    """

    def __init__(self, passage: Passage, claim: Claim, beside: Sequence[Claim]) -> None:
        self._passage, self._claim = passage, claim
        self._spans = [(each.start, each.end) for each in beside]
        self._spans += [
            passage.span(time.first, time.last) for time in passage.keep("times", lambda: find_times(passage))
        ]
        told = [who for each in beside for who in (each.actor, each.target, each.source) if who is not None]
        self._named = {passage.speaker}.union(*(who.names for who in told))
        starts = passage.coded.starts
        self._first = bisect_left(starts, claim.start)
        self._last = bisect_left(starts, claim.end) - 1

    def left_over(self) -> str:
        """The first word that is not understood; "" where all are."""
        inside = "or only repeat" if self._claim.is_noun else _INSIDE
        for at in range(self._first, self._last + 1):
            is_unnamed = self._passage.coded.players.get(at, self._passage.speaker) not in self._named
            if (self._passage.has(at, inside) and not self._is_checked(at)) or is_unnamed:
                return self._word(at)
        if self._claim.is_noun:
            # "I believe your Seer claim" weighs what the other one said just now; it tells nobody of the past.
            ends = self._word(self._last).lower() == "claim"
            is_weighed = ends and self._claim.act is Act.CLAIM_ROLE and self._claim.actor.words.lower() == "your"
            return self._claim.actor.words if is_weighed else ""
        return self._before() or self._behind()

    def _word(self, at: int) -> str:
        return self._passage.text(at, at)

    def _is_checked(self, at: int) -> bool:
        """Whether the check looks at a word that would leave other claims open: "most of you", "the only Mason"."""
        passage, claim = self._passage, self._claim
        if passage.has(at, "several most half"):
            return claim.actor.amount is not None or (passage.has(at, "most") and passage.has(at + 1, "sure adv"))
        if passage.has(at, "only"):
            is_one_voter = claim.act is Act.VOTE and claim.actor.kind == "players" and len(claim.actor.names) == 1
            return claim.has_only and (claim.act is Act.CLAIM_ROLE or is_one_voter)
        if claim.is_unanimous and self._word(at).casefold() == _UNANIMOUSLY:
            return True
        if passage.has(at, "with by"):
            return claim.act not in (Act.ELIMINATED, Act.VOTED, Act.SPOKE)
        is_loose = claim.act not in _STRICT and passage.has(at, "other frequency keep")
        return is_loose or (claim.act is Act.VOTE_TOGETHER and passage.has(at, "other"))

    def _is_plain(self, at: int) -> bool:
        passage = self._passage
        start = passage.coded.starts[at]
        is_told = any(begin <= start < end for begin, end in self._spans)
        is_told |= passage.coded.players.get(at, "") in (
            self._claim.actor.names + (self._claim.target.names if self._claim.target else ())
        )
        is_told |= self._claim.is_unanimous and self._word(at).casefold() == _UNANIMOUSLY
        return is_told or passage.has(at, "filler at out off last_night") or passage.is_vocative(at)

    def _before(self) -> str:
        passage, first = self._passage, self._first
        if passage.has(first - 1, "not neither") and (
            passage.has(first, "everyone") or passage.has(first - 1, "neither")
        ):
            # "Not everyone", "neither Ann nor Bob": the claim holds it.
            return ""
        if passage.has(first, "name") and self._word(first - 1).casefold() == "just" if first else False:
            return self._word(first - 1)
        if passage.any_of("who", first, self._last):
            # "Ann, who voted for Bob": what stands before says something else of Ann.
            return self._word(first - 1) if passage.has(first - 1, "not never") else ""
        start, _ = passage.sentence(first)
        for at in range(self._first - 1, start - 1, -1):
            if not self._is_plain(at):
                is_exception = passage.has(at, "but") and passage.has(at - 1, "nobody everyone")
                return "" if passage.has(at, _BEFORE) and not is_exception else self._word(at)
        return ""

    def _behind(self) -> str:
        passage, claim = self._passage, self._claim
        if claim.has_only and _NOBODY_ELSE.match(passage.message.text, claim.end):
            return ""
        _, end = passage.sentence(self._last)
        if claim.is_shared and (others := _SO_DID.search(passage.message.text, claim.end)):
            end = bisect_right(passage.coded.starts, others.start())
        for at in range(self._last + 1, end):
            is_group = claim.actor.kind in ("everyone", "nobody", "we")
            if passage.coded.words[at] in _EXCEPTIONS or (is_group and passage.has(at, "but")):
                return self._word(at)
            if passage.has(at, "comma") and passage.has(at + 1, "but and while"):
                continue
            if self._denies_another(at) or (
                claim.act in _STRICT and passage.has(at, "as") and passage.any_of("role", at + 1, at + 2)
            ):
                return self._word(at)
            is_charge = claim.act in (Act.ACCUSE, Act.DEFEND) and passage.has(at, "of")
            if (
                is_charge
                or passage.has(at, _NEXT)
                or (passage.has(at, "like") and passage.has(at + 1, "name i you third"))
            ):
                return ""
            if passage.has(at, "comma and"):
                following = at + 1 + (passage.has(at + 1, "and") or passage.has(at + 1, "filler"))
                if passage.has(following, "name third number nobody everyone") and not self._opens_a_clause(following):
                    return self._word(following)
                return ""
            if not self._is_plain(at) and not self._is_aside(at):
                return self._word(at)
        return ""

    def _denies_another(self, at: int) -> bool:
        """Whether "but Ann did not" or "and Bob did" follows, which speaks of the same act."""
        passage = self._passage
        person = at + 1
        if not passage.has(at, "but and comma while") or not passage.has(person, "name i you third everyone nobody"):
            return False
        follows = person + 1
        while passage.has(follows, "not skip did have"):
            follows += 1
        return follows > person + 1 and passage.has(follows, "break in ordinal round last_round")

    def _opens_a_clause(self, at: int) -> bool:
        """Whether a person behind a comma or an "and" is addressed, told of in a claim, or the subject of a verb."""
        passage = self._passage
        follows = at + 1
        while passage.has(follows, "skip"):
            follows += 1
        is_subject = passage.has(follows, "verbal predicate other_past evidence") and not passage.has(
            follows, "agree adv"
        )
        return self._is_plain(at) or is_subject

    def _is_aside(self, at: int) -> bool:
        """Whether it stands in "for no reason" or "without evidence", which says nothing of the act."""
        passage = self._passage
        is_reason = passage.has(at, "evidence strong_evidence") and passage.has(at - 1, "no the without")
        leads = passage.has(at, "for without") and (passage.has(at + 1, "no the") or passage.has(at + 1, "evidence"))
        return is_reason or leads or (passage.has(at, "no the") and passage.has(at - 1, "for without"))


def _denied_or_added(text: str, claim: Claim) -> re.Match[str] | None:
    start, end = _sentence(text, claim.start, claim.end)
    if claim.is_shared and (others := _SO_DID.search(text, claim.end, end)):
        # Who else did it is in the claim, and the sentence ends with them.
        end = others.start()
    elif claim.has_only and _NOBODY_ELSE.match(text, claim.end):
        end = claim.end
    return _DENIED.search(text, start, claim.end) or _ADDED.search(text, start, end)


def _shared(passage: Passage, claim: Claim, claims: Sequence[Claim]) -> Claim:
    """The claim with those who did the same, where its sentence ends with them: "and so did Ann", "nobody else did"."""
    text = passage.message.text
    _, end = _sentence(text, claim.start, claim.end)
    others = _SO_DID.search(text, claim.end, end)
    is_vote = claim.act is Act.VOTE and claim.actor.kind == "players" and claim.source is None
    if is_vote and not claim.negated and _NOBODY_ELSE.match(text, claim.end):
        return replace(claim, has_only=True)
    if others is None or not is_vote or claim.negated or claim.has_only:
        return claim
    first, last = (bisect_left(passage.coded.starts, place) for place in (others.end(), end))
    told = range(first, last)
    names = [passage.speaker if passage.has(at, "i") else passage.coded.players.get(at, "") for at in told]
    is_list = all(name or passage.has(at, "comma and full_stop stop") for at, name in zip(told, names, strict=True))
    is_between = any(claim.end <= one.start < end for one in claims)
    if is_between or not is_list or not any(names):
        return claim
    actors = tuple(dict.fromkeys((*claim.actor.names, *filter(None, names))))
    return replace(claim, actor=replace(claim.actor, names=actors), is_shared=True)


@lru_cache(maxsize=32)
def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """The sentence around the characters from ``start`` to ``end``."""
    last = next((one.start() for one in _SENTENCE_END.finditer(text, max(end - 1, 0))), len(text))
    return max((one.end() for one in _SENTENCE_END.finditer(text, 0, start)), default=0), last


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


_NOUNS = "vote claim accusation suspicion defence divined result last_round"
"""Classes of nouns that tell of an act ("Ann's vote for Bob")."""
_STRICT = frozenset({Act.VOTE, Act.VOTED, Act.VOTE_TOGETHER, Act.ELIMINATED, Act.SPOKE, Act.ROLE_WAS})
"""Acts in whose claims every word has to be known."""


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
        role: The role that is claimed or reported, as written.
        role_side: The side that this role stands for.
        never: Whether it is denied for every time ("never").
        is_exact_role: Whether the role is one among several of its side ("Seer"), not the side at large ("villager").
        count: How many votes are said to have been received; ``None`` for the most.
        has_only: Whether "only" stands in the clause itself.
        source: For a changed vote, whom it was for before.
        is_unanimous: Whether all are said to have voted so.
        is_noun: Whether a noun tells it ("Ann's vote for Bob"), so that what stands beside it is another thought.
        is_shared: Whether the last of its actors are added behind it ("and so did Ann"): all did it in one round.
        unproven: The first word in or beside it that no check covers ("except", another name); empty for none.
    """

    act: Act
    actor: Who
    target: Who | None
    when: When
    negated: bool
    never: bool
    start: int
    end: int
    role: str = ""
    role_side: Alignment | None = None
    is_exact_role: bool = False
    count: int | None = None
    has_only: bool = False
    source: Who | None = None
    is_unanimous: bool = False
    is_noun: bool = False
    is_shared: bool = False
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


def find_claims(passage: Passage) -> tuple[Claim, ...]:
    """The references to the past in a message, in order.

    Questions, conditions, plans, speculation ("maybe Alpha voted ...") and quoted words are none.
    """
    times = passage.keep("times", lambda: find_times(passage))
    every = passage.keep("hits", lambda: _hits(passage))
    if not every and not times:
        return ()
    hits = [hit for hit in every if not _states_nothing(passage, hit)]
    subjects = SubjectFinder(passage)
    claims: list[Claim] = []
    told: set[int] = set()
    for position, hit in enumerate(hits):
        following = hits[position + 1].verb[0] if position + 1 < len(hits) else len(passage.code)
        before = hits[position - 1].verb[1] if position else 0
        claim = _claim(passage, hit, subjects, assign_time(passage, times, hit.match.span(), before, following))
        if claim is not None and hit.pattern.attributes.get("repeats"):
            # "Four of us did that": the vote that was just told of.
            told_vote = claims[-1] if claims and claims[-1].act is Act.VOTE else None
            claim = told_vote and replace(claim, target=told_vote.target, when=told_vote.when)
        if claim is not None:
            claims.append(claim)
        if claim is not None or hit.pattern.attributes.get("needs") != "time":
            told.add(passage.sentence(hit.verb[0])[0])
    text = passage.message.text
    told_once = [claim for claim in _distinct(claims) if not tells_of_another_game(text, claim.start, claim.end)]
    told_once = [_shared(passage, claim, told_once) for claim in told_once]
    whole = [replace(claim, unproven=_unproven(passage, claim, told_once)) for claim in told_once]
    unclear = [
        claim for claim in _unclear(passage, times, told) if not tells_of_another_game(text, claim.start, claim.end)
    ]
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


def _hits(passage: Passage) -> list[_Hit]:
    """Every verb with the first form that matches it, in order of the text."""
    hits: list[_Hit] = []
    covered: set[int] = set()
    for pattern in patterns_for("memory").tried_on(passage.symbols):
        for match in pattern.regex.finditer(passage.code):
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
    source_at = hit.group("source")
    source = None if source_at is None else who_at(passage, source_at, other=actor, positions=(source_at,))
    if attributes.get("target") == "speaker":
        target = Who("players", (passage.speaker,), passage.speaker)
    if target_at is not None:
        subjects.remember_object(target_at)
    subjects.remember_subject(hit.verb[0], target if target is not None and actor.kind == "any" else actor)
    act = _settled_act(passage, act, hit, actor)
    is_dated = time is not None and time.when.kind != "this"
    if _is_no_reference(passage, act, hit, actor, target, is_dated=is_dated):
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
        "" if role_at is None else passage.coded.words[role_at],
        None if role_at is None else "mafia" if passage.has(role_at, "evil") else "town",
        role_at is not None and passage.has(role_at, "power_role"),
        None if count_at is None else passage.grammar.number(passage.coded.words[count_at]) or 0,
        passage.any_of("only", min(first, hit.verb[0] - 1), hit.match.end() - 1),
        source,
        act is Act.ELIMINATED
        and (actor.kind == "everyone" or _UNANIMOUSLY in passage.coded.words[first : passage.sentence(first)[1]]),
        attributes["subject"] != "left" and passage.any_of(_NOUNS, hit.verb[0], hit.verb[1] - 1),
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


def _is_no_reference(passage: Passage, act: Act, hit: _Hit, actor: Who, target: Who | None, *, is_dated: bool) -> bool:
    """Whether the text matches a form without referring to the past."""
    speaker = (passage.speaker,)
    if hit.pattern.attributes.get("present") and (actor.kind != "players" or passage.speaker in actor.names):
        # "I accuse Bravo" does it now.
        return True
    if (
        passage.has(hit.verb[1] - 1, "say cast")
        and not passage.any_of("did have", *hit.verb)
        and actor.names == speaker
    ):
        # "I say Bravo is the one", "I cast my vote for Bravo": now, unless a time stands there.
        return not is_dated
    if act is Act.ROLE_WAS:
        return target is None or passage.speaker in target.names
    if _HAVING_SAID.match(passage.message.text, passage.coded.starts[hit.verb[0]]):
        return True
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
        opens = next(
            (at for at in range(first, last + 1) if not passage.has(at, "filler and but so then comma")), first
        )
        actor = who_at(passage, opens) if passage.has(opens, "vague") else PEOPLE["any"]
        yield Claim(Act.UNCLEAR, actor, None, time.when, False, False, start, end)
