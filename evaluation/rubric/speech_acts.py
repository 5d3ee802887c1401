"""What a message does in the game: accuse, defend, question, ally, deflect, analyse, reveal (rubric 1.0, metric 4)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from evaluation.rubric.claims import Act as ClaimAct
from evaluation.rubric.claims import Claim
from evaluation.rubric.grammar import Pattern, patterns_for
from evaluation.rubric.passage import Passage

# How far to the left the subject of a verb is looked for, in words.
_FARTHEST_SUBJECT = 8
_FEWEST_SHOUTED_WORDS = 3
# "Why Alpha?" asks for a reason without any word of the game.
_SHORT_QUESTION = 3


class ActKind(StrEnum):
    """The speech acts of the rubric's table."""

    ACCUSE = "accuse"
    ACCUSE_AGGRESSIVELY = "accuse_aggressively"
    DEFEND = "defend"
    QUESTION = "question"
    ANALYSE_VOTES = "analyse_votes"
    ANALYSE = "analyse"
    """Appears helpful and analytical without a case against anybody."""
    BUILD_CASE = "build_case"
    ALLY = "ally"
    DEFLECT = "deflect"
    REVEAL_ROLE = "reveal_role"


ACCUSATIONS = frozenset({ActKind.ACCUSE, ActKind.ACCUSE_AGGRESSIVELY, ActKind.BUILD_CASE})


@dataclass(frozen=True, slots=True)
class SpeechAct:
    """One act.

    Attributes:
        kind: What is done.
        target: The player at whom it is aimed; ``None`` for acts without one.
        start: Where the words that show it begin, in code points of the original text.
        end: Where they end, exclusive.
        grounded: Whether the message gives grounds for it in the same sentence or the ones beside it.
        is_vote: Whether it calls for a vote or announces one.
        role: For a revealed role: ``evil``, ``town`` or the town role, as written.
    """

    kind: ActKind
    target: str | None
    start: int
    end: int
    grounded: bool = False
    is_vote: bool = False
    role: str = ""


def find_acts(passage: Passage, claims: Sequence[Claim], language: str) -> tuple[SpeechAct, ...]:
    """The speech acts of a message, in order.

    What another player is said to think, what stands under a condition and what is quoted are not the speaker's acts.
    A question neither accuses nor defends. A negated accusation defends, and the other way round. Nobody accuses or
    defends himself. Who accuses does not deflect in the same message, and a message that makes one case has grounds.

    Args:
        passage: The message.
        claims: Its references to the past: they are evidence, and those about votes analyse votes.
        language: ISO 639-1 code of the pattern files.
    """
    found = patterns_for("speech_acts", language).tried_on(passage.symbols)
    acts = [*_stated(passage, found, language), *_questions(passage), *_vote_claims(passage, claims)]
    accusations = [act for act in acts if act.kind in ACCUSATIONS]
    if accusations:
        # Who accuses does not deflect; and a message that makes one case is not random in its other accusations.
        acts = [act for act in acts if act.kind is not ActKind.DEFLECT]
    if any(act.grounded for act in accusations):
        acts = [replace(act, grounded=True) if act.kind in ACCUSATIONS else act for act in acts]
    cases = [replace(act, kind=ActKind.BUILD_CASE) for act in acts if act.kind in ACCUSATIONS and act.grounded]
    return _merged([*acts, *cases])


def _merged(acts: Sequence[SpeechAct]) -> tuple[SpeechAct, ...]:
    """The acts in order of the text, each kind at each player once, with all that its repetitions add."""
    merged: dict[tuple[ActKind, str | None, str], SpeechAct] = {}
    for act in sorted(acts, key=lambda act: (act.start, act.end)):
        key = (act.kind, act.target, act.role)
        first = merged.setdefault(key, act)
        if first is not act:
            grounded, is_vote = first.grounded or act.grounded, first.is_vote or act.is_vote
            merged[key] = replace(first, grounded=grounded, is_vote=is_vote)
    return tuple(merged.values())


def _stated(passage: Passage, patterns: Sequence[Pattern], language: str) -> Iterator[SpeechAct]:
    covered: set[int] = set()
    for pattern in patterns:
        for match in pattern.regex.finditer(passage.code):
            verb = range(*match.span("verb"))
            if covered.isdisjoint(verb) and _is_own(passage, pattern, match):
                acts = list(_acts(passage, pattern, match, language))
                covered.update(verb if acts else ())
                yield from acts


def _is_own(passage: Passage, pattern: Pattern, match: re.Match[str]) -> bool:
    """Whether the match is something that the speaker states."""
    first, verb = match.start(), match.end("verb") - 1
    if passage.is_quoted(verb) or passage.follows_condition(first) or passage.is_reported(first):
        return False
    if passage.is_question(first) and pattern.attributes["act"] != ActKind.ANALYSE_VOTES:
        return False
    return not pattern.attributes.get("own") or _has_own_subject(passage, match.start("verb"))


def _has_own_subject(passage: Passage, verb: int) -> bool:
    """Whether "I", "we", "let's" or nobody (an imperative) is the subject of the verb at ``verb``."""
    for at in range(verb - 1, max(-1, verb - 1 - _FARTHEST_SUBJECT), -1):
        if passage.has(at, "i we lets please") or passage.has(at, "full_stop stop quote"):
            return True
        if passage.has(at, "did have"):
            return False
        if passage.has(at, "everyone you"):
            # "Everyone vote Alpha" and "you should vote Alpha" urge; "you are voting Alpha" tells.
            return not passage.has(at + 1, "be_now have did keep")
        if passage.has(at, "name"):
            return _is_urged(passage, at, verb)
        if passage.has(at, "possessor third nobody vague anyone evil who that both"):
            return False
        if passage.has(at, "comma because but so"):
            return True
    return True


def _is_urged(passage: Passage, name: int, verb: int) -> bool:
    """Whether the name before the verb is called upon ("Alpha, vote for Bravo") instead of being its subject."""
    if passage.has(name - 1, "at") or passage.is_vocative(name):
        return True
    # "Kai vote Casey" urges, "Kai votes Casey" and "Kai will vote Casey" tell.
    return name == verb - 1 and not passage.coded.words[verb].endswith(("s", "ing"))


def _acts(passage: Passage, pattern: Pattern, match: re.Match[str], language: str) -> Iterator[SpeechAct]:
    attributes = pattern.attributes
    kind = ActKind(attributes["act"])
    first, verb = match.start(), match.end("verb") - 1
    if not attributes.get("fixed") and _is_negated(passage, match):
        if kind is ActKind.REVEAL_ROLE:
            yield from _denial(passage, match)
            return
        if "negated" not in attributes:
            return
        kind = ActKind(attributes["negated"])
    if kind is ActKind.REVEAL_ROLE:
        start, end = passage.span(first, match.end() - 1)
        yield SpeechAct(kind, None, start, end, role=_revealed(passage, match.start("role")))
        return
    positions = _target_positions(passage, match)
    start, end = passage.span(min((first, *positions)), max((match.end() - 1, *positions)))
    targets = _targets(passage, match, positions)
    grounded = bool(attributes.get("grounds")) or _has_grounds(passage, verb, language)
    if kind is ActKind.ACCUSE and _is_aggressive(passage, verb):
        kind = ActKind.ACCUSE_AGGRESSIVELY
    needs_target = kind in ACCUSATIONS or kind is ActKind.DEFEND
    for target in targets:
        if target == passage.speaker or (needs_target and target is None):
            continue
        yield SpeechAct(kind, target, start, end, grounded, bool(attributes.get("vote")))


def _is_negated(passage: Passage, match: re.Match[str]) -> bool:
    """Whether a match is negated within or before it ("I don't think that", "it can't be", "let's not vote")."""
    negations = sum(passage.has(at, "not never") for at in range(*match.span()))
    return (negations % 2 == 1) != passage.is_doubted(match.start())


def _denial(passage: Passage, match: re.Match[str]) -> Iterator[SpeechAct]:
    """ "I'm not the Mafia" claims the town's side; "I'm not the Seer" claims nothing."""
    if passage.has(match.start("role"), "evil"):
        start, end = passage.span(match.start(), match.end() - 1)
        yield SpeechAct(ActKind.REVEAL_ROLE, None, start, end, role="town")


def _revealed(passage: Passage, position: int) -> str:
    if passage.has(position, "evil"):
        return "evil"
    return "town" if passage.has(position, "innocent") else passage.coded.words[position]


def _target_positions(passage: Passage, match: re.Match[str]) -> tuple[int, ...]:
    if "target" not in match.re.groupindex or match.start("target") < 0:
        return ()
    position = match.start("target")
    return passage.listed_after(position) if position > match.start("verb") else passage.listed(position)


def _targets(passage: Passage, match: re.Match[str], positions: Sequence[int]) -> tuple[str | None, ...]:
    if "context" in match.re.groupindex:
        return (_topic(passage, match.start()),)
    return tuple(passage.person(at) for at in positions) or (None,)


def _topic(passage: Passage, position: int) -> str | None:
    """Whom "that's suspicious" is about: the subject of the sentence before, else the one addressed or answered."""
    start, _ = passage.sentence(position)
    before = passage.sentence(start - 1)[0] if start > 0 else 0
    named = [(at, name) for at, name in sorted(passage.coded.players.items()) if before <= at < position]
    about = [name for at, name in named if name != passage.speaker and not passage.is_vocative(at)]
    return about[0] if about else passage.last_called(position)


def _has_grounds(passage: Passage, position: int, language: str) -> bool:
    """Whether the sentence at ``position`` or one beside it argues or cites something that happened."""
    start, end = passage.sentence(position)
    first = passage.sentence(start - 1)[0] if start > 0 else start
    last = passage.sentence(end + 1)[1] if end + 1 < len(passage.code) else end
    around = passage.code[first : last + 1]
    for hollow in patterns_for("speech_acts", language, "no_grounds").tried_on(set(around)):
        around = hollow.regex.sub("", around)
    if not passage.grammar.classes["grounds"].isdisjoint(around):
        return True
    patterns = patterns_for("speech_acts", language, "grounds").tried_on(set(around))
    return any(pattern.regex.search(around) for pattern in patterns)


def _is_aggressive(passage: Passage, position: int) -> bool:
    """Whether the sentence at ``position`` is sure ("definitely"), insults, or shouts (capitals, "!!", "must ...!")."""
    start, end = passage.sentence(position)
    if passage.any_of("sure insult", start, end):
        return True
    if passage.has(end, "end_exclaim") and passage.any_of("must", start, end):
        return True
    text = passage.message.text[passage.coded.starts[start] : passage.coded.ends[end]]
    words = [word for word in text.split() if len(word) > 1 and word.upper() != word.lower()]
    return "!!" in text or (len(words) >= _FEWEST_SHOUTED_WORDS and all(word.isupper() for word in words))


def _questions(passage: Passage) -> Iterator[SpeechAct]:
    """Questions and demands that concern the game, put to a player or about one."""
    start = 0
    for end in passage.sentence_ends:
        first, start = start, end + 1
        if not (passage.any_of("relevant", first, end) or passage.any_of("why", first, first + _SHORT_QUESTION)):
            continue
        words = [at for at in range(first, end) if passage.coded.words[at]]
        if words and not passage.is_quoted(words[0]) and _concerns_the_game(passage, words):
            asks = passage.has(end, "end_question") or passage.is_question(words[0])
            if asks or _demands(passage, words):
                yield from _question(passage, words, end, asks=asks)


def _demands(passage: Passage, words: Sequence[int]) -> bool:
    if not passage.any_of("demand", words[0], words[-1]):
        return False
    # "Explain your vote", "Alpha, please explain", "can you explain"; but not "no answer" or "he does not explain".
    demands = [
        at for at in words if passage.has(at, "demand") and not passage.has(at + 1, "be_now be_past of seem have")
    ]
    return any(at == words[0] or passage.has(at - 1, "name comma stop please adv opening") for at in demands)


def _concerns_the_game(passage: Passage, words: Sequence[int]) -> bool:
    if len(words) <= _SHORT_QUESTION and passage.any_of("why", words[0], words[-1]):
        return True
    return passage.any_of("relevant", words[0], words[-1])


def _question(passage: Passage, words: Sequence[int], end: int, *, asks: bool) -> Iterator[SpeechAct]:
    span = passage.span(words[0], end)
    if any(passage.has(at, "you your") or passage.is_vocative(at) for at in words):
        target = passage.addressee(words[0]) or passage.last_called(words[-1])
        if target != passage.speaker and (asks or target is not None):
            yield SpeechAct(ActKind.QUESTION, target, *span)
        return
    for at in words if asks else ():
        name = passage.coded.players.get(at)
        if name is not None and name != passage.speaker and passage.has(at - 1, "auxiliary why about"):
            yield SpeechAct(ActKind.QUESTION, name, *span)
            return


def _vote_claims(passage: Passage, claims: Sequence[Claim]) -> Iterator[SpeechAct]:
    for claim in claims:
        if claim.act in (ClaimAct.VOTE, ClaimAct.VOTED, ClaimAct.VOTE_TOGETHER) and claim.actor.kind == "players":
            for name in claim.actor.names:
                if name != passage.speaker:
                    yield SpeechAct(ActKind.ANALYSE_VOTES, name, claim.start, claim.end)
