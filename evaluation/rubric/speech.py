"""The messages of a discussion parsed once: claims about the past, and speech acts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from evaluation.rubric._claims import Act as ClaimAct
from evaluation.rubric._claims import Claim, find_claims, tells_of_another_game
from evaluation.rubric._grammar import Pattern, grammar, patterns_for
from evaluation.rubric._passage import SCENE, Passage, Scene
from evaluation.rubric.discussion import Discussion, PreparedMessage, kept_with_discussion
from evaluation.text.tokens import Token
from evaluation.transcript import Message


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
    DEFEND_SELF = "defend_self"
    """Rejects a suspicion against oneself."""
    REVEAL_ROLE = "reveal_role"


PLANS = r"(?:i|we)(?:['’]ll|['’]m going to|['’]re going to| am going to| are going to| will)"
"""The words by which a speaker announces something, for a regular expression that knows no case."""

ACCUSATIONS = frozenset({ActKind.ACCUSE, ActKind.ACCUSE_AGGRESSIVELY, ActKind.BUILD_CASE})


@dataclass(frozen=True, slots=True)
class SpeechAct:
    """One act.

    Attributes:
        kind: What is done.
        target: The player at whom it is aimed; ``None`` for acts without one.
        start: Where the words that show it begin, in code points of the original text.
        end: Where they end, exclusive.
        grounded: Whether the message gives grounds for it in the same sentence or the ones beside it; ``None`` where
            that is not known.
        is_mild: Whether it only remarks on conduct ("you are quiet"), which a question takes the sting out of.
        has_case: Whether the grounds are the target's conduct, words or votes, not what the speaker saw at night.
        is_vote: Whether it calls for a vote or announces one.
        is_direct: For a question: whether it names the player and says "you".
        role: For a revealed role: ``evil``, ``town`` or the town role, as written.
        follows: In words, on what else it may rest; empty where it stands alone.
    """

    kind: ActKind
    target: str | None
    start: int
    end: int
    grounded: bool | None = False
    is_vote: bool = False
    is_mild: bool = False
    has_case: bool = False
    is_direct: bool = False
    role: str = ""
    follows: str = ""


# "Why Alpha?", "Alpha last words?" and "what?" ask without any word of the game.
_SHORT_QUESTION = 3
_SHORT_CALL = 4
# What makes a question to a player one about the game.
_ASKED_FOR = "relevant opinion who why know agree said"


def find_questions(passage: Passage) -> Iterator[SpeechAct]:
    """Questions and demands that concern the game, put to a player or about one."""
    start = 0
    if passage.grammar.classes["end_question interrogative demand"].isdisjoint(passage.symbols):
        return
    for end in passage.sentence_ends:
        first, start = start, end + 1
        if not passage.has(end, "end_question") and not passage.any_of("interrogative demand", first, end):
            continue
        words = [at for at in range(first, end) if passage.coded.words[at]]
        if not words or passage.is_quoted(words[0]):
            continue
        asks = passage.has(end, "end_question") or passage.is_question(words[0])
        if asks or _demands(passage, words):
            targets = dict.fromkeys(_asked_players(passage, words, asks=asks))
            span = passage.span(words[0], end)
            # "Why did you vote for Bravo?" asks a suspect, whoever that is.
            names_a_vote = passage.any_of("why", words[0], words[-1]) and passage.any_of(
                "vote voted", words[0], words[-1]
            )
            names = passage.coded.players.items() if any(passage.has(at, "you your") for at in words) else ()
            called = {name for at, name in names if _is_called(passage, at, words)}
            for target in targets:
                if target != passage.speaker:
                    yield SpeechAct(
                        ActKind.QUESTION,
                        target,
                        *span,
                        grounded=target is None and names_a_vote,
                        is_direct=target in called,
                    )


def _demands(passage: Passage, words: Sequence[int]) -> bool:
    if not passage.any_of("demand", words[0], words[-1]):
        return False
    # "Explain your vote", "Alpha, please explain", "come forward and explain"; not "the answer" or "I would answer".
    start = words[0]
    for at in range(words[0], words[-1] + 1):
        if passage.has(at, "comma stop"):
            start = at + 1
        is_verb = passage.has(at, "demand") and not passage.has(at + 1, "be_now be_past of seem have")
        if is_verb and all(passage.has(before, "opening please other") for before in range(start, at)):
            return True
    return False


def _asked_players(passage: Passage, words: Sequence[int], *, asks: bool) -> Iterator[str | None]:
    """The player to whom a question or demand is put, else whom it is about; nobody for small talk."""
    is_short = len(words) <= _SHORT_CALL and not passage.any_of("small_talk", words[0], words[-1])
    if not (is_short or passage.any_of(_ASKED_FOR, words[0], words[-1])):
        return
    called = [at for at in words if _is_called(passage, at, words)]
    suspects = any(passage.has(at, "it") and passage.has(at + 1, "you") for at in words)
    is_about_the_game = suspects or passage.any_of(_ASKED_FOR, words[0], words[-1])
    if called:
        # "Alpha Bravo, what do you think?" calls both.
        yield from (passage.coded.players[at - 1] for at in called if passage.has(at - 1, "name"))
        yield from (passage.coded.players[at] for at in called)
    elif any(passage.has(at, "you your yourself") for at in words):
        target = passage.addressee(words[0]) or passage.last_called(words[-1]) or passage.partner
        # "What do the rest of you think?" asks all; of "why did you accuse Toshio?" Toshio is not asked.
        is_another = any(passage.coded.players.get(at) == target for at in words)
        if is_another or any(passage.has(at, "of") and passage.has(at + 1, "you") for at in words):
            target = None
        if is_about_the_game and (asks or target is not None):
            yield target
    elif asks:
        yield from _asked_about(passage, words)
    else:
        target = passage.last_called(words[-1]) or passage.partner
        yield from () if target is None else (target,)


def _is_called(passage: Passage, position: int, words: Sequence[int]) -> bool:
    """Whether the name at ``position`` is that of somebody asked: "Alpha, why?", "any thoughts Alpha or Bravo?"."""
    if not passage.has(position, "name"):
        return False
    # "Bravo no offense but why have you" calls, "Bravo said you" tells.
    opens = position == words[0] and not passage.has(position + 1, "predicate")
    if passage.is_vocative(position) or (opens and any(passage.has(at, "you your") for at in words)):
        return True
    before = position - 1
    while passage.has(before, "and or comma name"):
        before -= 1
    is_last = position == words[-1] or passage.has(position + 1, "and or comma")
    return is_last and passage.has(before, "opinion")


def _asked_about(passage: Passage, words: Sequence[int]) -> Iterator[str | None]:
    for at in words:
        name = passage.coded.players.get(at)
        if name is not None and name != passage.speaker:
            if at == words[0] and passage.any_of("relevant opinion", at, words[-1]):
                yield name
                return
            if passage.has(at - 1, "auxiliary why about"):
                # "Why would Alpha lie?" speaks of Alpha to somebody else.
                yield passage.partner if passage.has(at - 1, "why") and passage.partner != name else None
                return
    if passage.any_of("opinion", words[0], words[-1]) and passage.last_called(words[-1]) is not None:
        yield passage.last_called(words[-1])
    elif passage.any_of("anyone who", words[0], words[-1]) and passage.any_of("relevant opinion", words[0], words[-1]):
        yield None
    elif len(words) <= _SHORT_QUESTION and passage.has(words[0], "why who wh") and passage.partner is not None:
        is_bare = len(words) == 1 or passage.has(words[0], "why")
        yield from (passage.partner,) if is_bare else ()


# How far to the left the subject of a verb is looked for, in words.
_FARTHEST_SUBJECT = 8
_FEWEST_SHOUTED_WORDS = 3


def find_acts(passage: Passage, claims: Sequence[Claim]) -> tuple[SpeechAct, ...]:
    """The speech acts of a message, in order.

    What another player is said to think, what stands under a condition and what is quoted are not the speaker's acts.
    A question neither accuses nor defends. A negated accusation defends, and the other way round. Nobody accuses or
    defends himself. Who accuses does not deflect in the same message, and a message that makes one case has grounds.

    Args:
        passage: The message.
        claims: Its references to the past: they are evidence, and those about votes analyse votes.
    """
    acts = [*_stated(passage), *find_questions(passage), *_vote_claims(passage, claims)]
    denied = find_denied(passage)
    acts = [act for act in acts if (act.kind, act.target) not in denied]
    asked = {act.target for act in acts if act.kind is ActKind.QUESTION}
    # "You are quiet, any thoughts?" asks; it accuses nobody. Who asks somebody asks no longer anybody.
    acts = [act for act in acts if not (act.is_mild and act.target in asked)]
    if len(asked) > 1:
        acts = [act for act in acts if act.kind is not ActKind.QUESTION or act.target is not None]
    text = passage.message.text
    acts = [
        act
        for act in acts
        if act.kind is not ActKind.REVEAL_ROLE or not tells_of_another_game(text, act.start, act.end)
    ]
    accusations = [act for act in acts if act.kind in ACCUSATIONS]
    if accusations:
        # Who accuses does not deflect; and a message that makes one case is not random in its other accusations.
        acts = [act for act in acts if act.kind is not ActKind.DEFLECT]
    if passage.has(0, "greeting") and passage.any_of("salutation", 0, 1):
        # "Hello all, let's find the wolves!" analyses nothing.
        acts = [act for act in acts if act.kind is not ActKind.ANALYSE]
    if any(act.grounded for act in accusations):
        acts = [replace(act, grounded=True) if act.kind in ACCUSATIONS else act for act in acts]
    cases = [replace(act, kind=ActKind.BUILD_CASE) for act in acts if act.kind in ACCUSATIONS and act.has_case]
    return _merged([*acts, *cases])


def _merged(acts: Sequence[SpeechAct]) -> tuple[SpeechAct, ...]:
    """The acts in order of the text, each kind at each player once, with all that its repetitions add."""
    merged: dict[tuple[ActKind, str | None, str], SpeechAct] = {}
    for act in sorted(acts, key=lambda act: (act.start, act.end)):
        key = (act.kind, act.target, act.role)
        first = merged.setdefault(key, act)
        if first is not act:
            grounded, is_vote = first.grounded or act.grounded, first.is_vote or act.is_vote
            has_case = first.has_case or act.has_case
            merged[key] = replace(first, grounded=grounded, is_vote=is_vote, has_case=has_case)
    return tuple(merged.values())


def _stated(passage: Passage) -> Iterator[SpeechAct]:
    covered: set[int] = set()
    for pattern, match in passage.keep("stated", lambda: _matches(passage)):
        verb = range(*match.span("verb"))
        if covered.isdisjoint(verb) and _is_own(passage, pattern, match):
            acts = list(_acts(passage, pattern, match))
            covered.update(verb if acts else ())
            yield from acts


def _matches(passage: Passage) -> list[tuple[Pattern, re.Match[str]]]:
    patterns = patterns_for("speech_acts").tried_on(passage.symbols)
    return [(pattern, match) for pattern in patterns for match in pattern.regex.finditer(passage.code)]


def _is_own(passage: Passage, pattern: Pattern, match: re.Match[str]) -> bool:
    """Whether the match is something that the speaker states."""
    first, verb = match.start(), match.end("verb") - 1
    if passage.is_quoted(verb) or passage.follows_condition(first):
        return False
    if passage.is_reported(first) and not pattern.attributes.get("rebuts"):
        return False
    before = passage.message.text[: passage.span(verb, verb)[0]]
    if pattern.attributes.get("no_plan") and re.search(rf"\b{PLANS}\s(?:\w+\s){{0,3}}$", before, re.IGNORECASE):
        return False
    if "=" in passage.message.text and _is_logged(passage, match):
        return False
    is_asked = pattern.attributes.get("asked") or pattern.attributes["act"] == ActKind.ANALYSE_VOTES
    if not is_asked and passage.is_question(first):
        return False
    return not pattern.attributes.get("own") or _has_own_subject(passage, match.start("verb"))


def find_denied(passage: Passage) -> frozenset[tuple[ActKind, str | None]]:
    """The acts that a message denies or doubts ("I'm less sure I trust Alpha"), where that is not the opposite act."""
    return frozenset(
        (ActKind(pattern.attributes["act"]), target)
        for pattern, match in passage.keep("stated", lambda: _matches(passage))
        if pattern.attributes.keys().isdisjoint(("negated", "fixed", "only_negated"))
        and _is_own(passage, pattern, match)
        and _is_negated(passage, match)
        for target, _ in _targets(passage, match, _target_positions(passage, match))
        if target is not None
    )


def _is_logged(passage: Passage, match: re.Match[str]) -> bool:
    """Whether the match is another's result in shorthand: "Alpha N0 Bravo=Human", "Alpha/Bravo Charlie=Wolf"."""
    start, end = passage.span(match.start(), match.end() - 1)
    return "=" in passage.message.text[start:end] and passage.any_of("name", match.start() - 3, match.start() - 1)


def _has_own_subject(passage: Passage, verb: int) -> bool:
    """Whether "I", "we", "let's" or nobody (an imperative) is the subject of the verb at ``verb``."""
    for at in range(verb - 1, max(-1, verb - 1 - _FARTHEST_SUBJECT), -1):
        if passage.has(at, "i we lets please") or passage.has(at, "full_stop stop quote"):
            return True
        if passage.has(at, "did have"):
            return False
        if passage.has(at, "everyone you"):
            # "Everyone vote Alpha" and "you should vote Alpha" urge; "you are voting Alpha", "you suspect Alpha" tell.
            return not passage.has(at + 1, "be_now have did keep suspect accuse distrust trust agree")
        if passage.has(at, "name"):
            return _is_urged(passage, at, verb)
        if passage.has(at, "possessor third nobody vague anyone evil who that both"):
            return False
        if passage.has(at, "comma because but so"):
            return True
    return True


def _is_urged(passage: Passage, name: int, verb: int) -> bool:
    """Whether the name before the verb is addressed ("Alpha, vote for Bravo") instead of being its subject."""
    if passage.has(name - 1, "at") or passage.is_vocative(name):
        return True
    # "Kai vote Casey" urges, "Kai votes Casey" and "Kai will vote Casey" tell.
    return name == verb - 1 and not passage.coded.words[verb].endswith(("s", "ing"))


def _acts(passage: Passage, pattern: Pattern, match: re.Match[str]) -> Iterator[SpeechAct]:
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
    elif attributes.get("only_negated"):
        return
    if kind is ActKind.REVEAL_ROLE:
        start, end = passage.span(first, match.end() - 1)
        yield SpeechAct(kind, None, start, end, role=_revealed(passage, match.start("role")))
        return
    positions = _target_positions(passage, match)
    span = passage.span(min((first, *positions)), max((match.end() - 1, *positions)))
    grounded, has_case = _grounds(passage, verb, is_defence=kind is ActKind.DEFEND)
    own_grounds = attributes.get("grounds")
    act = SpeechAct(
        _ACCUSED.get(_is_aggressive(passage, verb), kind) if kind is ActKind.ACCUSE else kind,
        None,
        *span,
        grounded=bool(own_grounds) or grounded,
        is_vote=bool(attributes.get("vote")),
        is_mild=bool(attributes.get("mild")),
        has_case=own_grounds is True or has_case,
    )
    for target, is_open in _targets(passage, match, positions):
        yield from _aimed(passage, act, target, is_open=is_open)


_ACCUSED = {True: ActKind.ACCUSE_AGGRESSIVELY, False: ActKind.ACCUSE}
_AIMED = ACCUSATIONS | {ActKind.DEFEND, ActKind.ALLY}
"""Acts that are none without somebody at whom they are aimed."""
_AIMLESS = frozenset({ActKind.ANALYSE, ActKind.DEFLECT, ActKind.DEFEND_SELF})


def _aimed(passage: Passage, act: SpeechAct, target: str | None, *, is_open: bool) -> Iterator[SpeechAct]:
    """``act`` at ``target``; ``is_open`` says that somebody is meant who cannot be told."""
    if act.kind in _AIMLESS:
        yield act
    elif target == passage.speaker:
        if act.kind is ActKind.DEFEND and passage.speaker in passage.coded.players.values():
            # "Alpha is a villager", said by Alpha.
            yield replace(act, kind=ActKind.REVEAL_ROLE, role="town")
        elif act.kind is ActKind.DEFEND:
            yield replace(act, kind=ActKind.DEFEND_SELF)
    elif target is not None or act.kind not in _AIMED or (is_open and act.kind in ACCUSATIONS):
        yield replace(act, target=target)


def _is_negated(passage: Passage, match: re.Match[str]) -> bool:
    """Whether a match is negated within or before it ("I don't think that", "it can't be", "let's not vote")."""
    negations = sum(passage.has(at, "not never") for at in range(*match.span()))
    return (negations % 2 == 1) != passage.is_doubted(match.start())


def _denial(passage: Passage, match: re.Match[str]) -> Iterator[SpeechAct]:
    """ "I'm not the Mafia" claims the town's side; "I'm not the Seer" claims nothing."""
    if passage.has(match.start("role"), "evil"):
        span = passage.span(match.start(), match.end() - 1)
        yield SpeechAct(ActKind.REVEAL_ROLE, None, *span, role="town")
        yield SpeechAct(ActKind.DEFEND_SELF, None, *span)


def _revealed(passage: Passage, position: int) -> str:
    if passage.has(position, "evil"):
        return "evil"
    return "town" if passage.has(position, "innocent") else passage.coded.words[position]


def _target_positions(passage: Passage, match: re.Match[str]) -> tuple[int, ...]:
    if "target" not in match.re.groupindex or match.start("target") < 0:
        return ()
    position = match.start("target")
    return passage.listed_after(position) if position > match.start("verb") else passage.listed(position)


def _targets(passage: Passage, match: re.Match[str], positions: Sequence[int]) -> Iterator[tuple[str | None, bool]]:
    """The players aimed at, each with whether somebody is meant who cannot be told."""
    groups = match.re.groupindex
    if "context" in groups:
        yield _topic(passage, match.start()), False
    elif "elided" in groups:
        is_agreement = passage.any_of("agree exactly greeting_word", match.start(), match.end())
        about = passage.partner if is_agreement else passage.topic or passage.partner
        yield passage.last_called(match.start()) or about, False
    elif not positions:
        yield None, False
    for at in positions:
        person = passage.person(at)
        if person is None and passage.has(at, "you your"):
            person = passage.last_called(at)
        person = person or passage.person_in_scene(at)
        yield person, person is None and passage.has(at, "you your")


def _topic(passage: Passage, position: int) -> str | None:
    """The target of "that's suspicious": the subject of the sentence before, else the one addressed or answered."""
    start, _ = passage.sentence(position)
    before = passage.sentence(start - 1)[0] if start > 0 else 0
    named = [(at, name) for at, name in sorted(passage.coded.players.items()) if before <= at < position]
    about = [(at, name) for at, name in named if name != passage.speaker and not passage.is_vocative(at)]
    if about and passage.any_of("you your", about[0][0], position):
        return None
    is_addressed = not about or passage.any_of("you your", before, about[0][0])
    return passage.last_called(position) if is_addressed else about[0][1]


def _grounds(passage: Passage, position: int, *, is_defence: bool) -> tuple[bool, bool]:
    """Whether the sentence at ``position`` or one beside it argues or cites something, and whether that is conduct.

    A night's result is a ground, but no case about what somebody said or did.
    """
    start, end = passage.sentence(position)
    first = passage.sentence(start - 1)[0] if start > 0 else start
    last = passage.sentence(end + 1)[1] if end + 1 < len(passage.code) else end
    if is_defence:
        # "I don't think it is Alpha, but she lied": what comes after "but" speaks against her.
        last = next((at for at in range(position + 1, last + 1) if passage.has(at, "but")), last)
    around = passage.code[first : last + 1]
    for hollow in patterns_for("speech_acts", "no_grounds").tried_on(set(around)):
        around = hollow.regex.sub("", around)
    symbols = set(around)
    classes = passage.grammar.classes
    if not classes["case_grounds"].isdisjoint(symbols):
        return True, True
    has_case = any(pattern.regex.search(around) for pattern in patterns_for("speech_acts", "grounds").tried_on(symbols))
    return has_case or not classes["night_grounds"].isdisjoint(symbols), has_case


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


def _vote_claims(passage: Passage, claims: Sequence[Claim]) -> Iterator[SpeechAct]:
    for claim in claims:
        if claim.act in (ClaimAct.VOTE, ClaimAct.VOTED, ClaimAct.VOTE_TOGETHER) and claim.actor.kind == "players":
            for name in claim.actor.names:
                if name != passage.speaker:
                    yield SpeechAct(ActKind.ANALYSE_VOTES, name, claim.start, claim.end)


# What makes a message one about the game -> the word classes that show it.
_MARKS = {
    "vote": "vote voted voting",
    "role": "role innocent suspicious lied",
    "past act": "said claimed accused defended past_verb talked eliminated",
    "question": "end_question",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """A public message with its claims about the past, its speech acts and the players it names.

    Attributes:
        message: The message itself.
        claims: Its references to the past, in order.
        acts: Its speech acts, in order.
        named: The players that it names, and the one that it replies to.
        takes_a_stance: Whether it holds any word of suspicion or defence.
        tells_result: Whether it speaks of a result of a night, such as a divination.
        claims_sight: Whether the speaker tells what they divined, as only a Seer or the like could.
        is_addressed: Whether it says "you" and names nobody.
        is_contradicted: Whether acts were left open because the record contradicts a reference in it.
        is_exposed: Whether its speaker, of the Mafia, revealed the role in an earlier message.
        topics: Its keywords by stem.
        denied: Acts with their targets that it denies or doubts: no reader finds them in it.
        is_rubric_line: Whether it holds one of the rubric's own sentences, of which the rule's reading stands.
        marks: What it says about the game beside a player's name ("vote", "role", "past act", "question"); empty for a
            message that names nobody.
    """

    message: Message
    claims: tuple[Claim, ...]
    acts: tuple[SpeechAct, ...]
    named: frozenset[str]
    takes_a_stance: bool
    tells_result: bool
    claims_sight: bool
    marks: tuple[str, ...] = ()
    is_rubric_line: bool = False
    is_addressed: bool = False
    denied: frozenset[tuple[ActKind, str | None]] = frozenset()
    is_contradicted: bool = False
    is_exposed: bool = False
    topics: Mapping[str, Token] = field(default_factory=dict)


@kept_with_discussion
def read(discussion: Discussion) -> tuple[Reading, ...]:
    """The public messages of ``discussion``, read in order; none in another language than English."""
    if discussion.unsupported_language:
        return ()
    messages = discussion.messages
    readings = [_read(prepared, discussion, messages[max(0, at - SCENE) : at]) for at, prepared in enumerate(messages)]
    left = {one.player: one.round for one in discussion.transcript.eliminations}
    return tuple(
        [replace(one, acts=acts_at_players(one.acts, one.message, left)) if one.acts else one for one in readings]
        if left
        else readings
    )


def acts_at_players(
    acts: Sequence[SpeechAct], message: Message, left: Mapping[str, int | None]
) -> tuple[SpeechAct, ...]:
    """The acts without those against players who had left the game: what is said of them is history.

    Args:
        acts: Of the message.
        message: Where they are done.
        left: Player -> the round in which they left.
    """
    number = message.round
    gone = {player for player, out in left.items() if number is not None and out is not None and out < number}
    return tuple(act for act in acts if act.kind not in _AGAINST or act.target not in gone)


_AGAINST = ACCUSATIONS | {ActKind.QUESTION, ActKind.DEFEND, ActKind.ALLY}


def _read(prepared: PreparedMessage, discussion: Discussion, before: Sequence[PreparedMessage]) -> Reading:
    message = prepared.message
    answered = None if message.reply_to is None else discussion.transcript.message(message.reply_to)
    author = None if answered is None or answered.channel == "system" else answered.speaker
    return read_message(prepared, author, Scene(message.speaker, message.round, before))


def read_message(prepared: PreparedMessage, author: str | None, scene: Scene) -> Reading:
    """One message read; what it holds follows from these arguments alone.

    Args:
        prepared: The message.
        author: Who wrote the message that it replies to; ``None`` for no reply, or one to the moderator.
        scene: The conversation before it, which remembers what was asked of it.
    """
    message, classes = prepared.message, grammar().classes
    passage = Passage(prepared, grammar(), None if author == message.speaker else author, scene)
    claims = find_claims(passage)
    acts = find_acts(passage, claims)
    named = prepared.named | {author} if author else prepared.named
    stance = not classes["stance"].isdisjoint(passage.symbols)
    tells_result = "=" in message.text or not classes["divined result"].isdisjoint(passage.symbols)
    sights = patterns_for("memory", "sights").tried_on(passage.symbols)
    sees = any(pattern.regex.search(passage.code) for pattern in sights)
    marks = _marks(prepared, passage) if not acts else ()
    lines = patterns_for("speech_acts", "rubric_lines").tried_on(passage.symbols)
    is_line = bool(acts) and any(line.regex.search(passage.code) for line in lines)
    return Reading(
        message,
        claims,
        acts,
        named,
        stance,
        tells_result,
        sees,
        marks,
        is_line,
        not named and prepared.is_addressed,
        find_denied(passage),
        topics=prepared.topics,
    )


def _marks(prepared: PreparedMessage, passage: Passage) -> tuple[str, ...]:
    """Marks of statements about the game in a message without acts, with "name" where it names a player."""
    if not prepared.mentions and not passage.symbols & passage.grammar.classes["you your"]:
        return ()
    found = tuple(mark for mark, names in _MARKS.items() if passage.symbols & passage.grammar.classes[names])
    return ("name", *found) if prepared.mentions and found else found
