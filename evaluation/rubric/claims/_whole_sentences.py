"""Words beside a claim that say more than the check of the claim can prove: exceptions, quantifiers, changes, names.

A record settles a claim only where it settles all that is said ("Nobody but Alpha voted for Bravo" is more than a vote
for Bravo). What is not proven whole is left open.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from evaluation.text.names import Mention

if TYPE_CHECKING:
    from evaluation.rubric.claims.parsing import Claim

_OTHER_GAME = re.compile(
    r"\b(?:last|previous|another|other|earlier|past|prior|different|first|second|next)\s+(?:games?|match(?:es)?|sessions?)\b"
    r"|\b(?:games?|match(?:es)?)\s+(?:ago|before this)\b|\bin (?:the|a) (?:tutorial|practice|test game)\b"
    r"|\bwhen (?:i|we) (?:last )?played\b"
    # Neither does what was supposed or will be tell of this one's past.
    r"|\blet(?:'|\u2019)?s (?:say|assume|suppose|imagine|pretend)\b|^\s*tomorrow\b",
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
    r"|[(;,]\s*(?:and\s+)?(?-i:[A-Z])[\w-]*\s+(?:too|as well)\b|\blikewise\b"
    r"|(?:[,;:(]|\band|\bwith)\s*no ?(?:body|one)(?: else)?\s+(?:else|follow\w*|join\w*|did|voted)\b"
    r"|\b(?:any|every|no) ?(?:one|body) else\b|\bsingle-?handed(?:ly)?\b"
    r"|\bsince (?:round|day|night)\b|(?<!a )\bfew\b|\bever since\b|\bevery (?:single )?time\b"
    r"|\b\d{1,2} ?(?:[-\u2013:]| to ) ?\d{1,2}\b",
    re.IGNORECASE,
)

_SENTENCE_END = re.compile(r"[.!?\n]+(?=\s|$)")
# What begins another thought: names and numbers behind it are not part of the claim.
_NEXT_THOUGHT = re.compile(
    r"(?:[,;:()\u2013\u2014-]\s*|\s)(?:so|because|since|which|hence|therefore|if|unless|what|why|how|maybe"
    r"|that(?:'|\u2019| i)s why|let(?:'|\u2019)?s?|and (?:so|that|we|now|yet|it|this)|this|it|we)\b"
    r"|(?:[,;:()\u2013\u2014-]\s*|\band |\bbut )I\b|[;()\u2013\u2014]",
    re.IGNORECASE,
)
_THOUGHT_BEFORE = re.compile(
    r"\b(?:that|because|since|so|remember|know|said|says?)\b|[;:()\u2013\u2014]", re.IGNORECASE
)
_GOES_ON = re.compile(r"\s*(?:not|who|nor|and|or|but|only|neither|both)\b", re.IGNORECASE)

_SOME = r"(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten)"
_ROUNDS = r"(?:rounds?|days?|nights?|times?|votes?|games?)"


class _Quantifier(NamedTuple):
    words: re.Pattern[str]
    is_checked: Callable[[Claim], bool]


def _quantifier(words: str, is_checked: Callable[[Claim], bool] = lambda _: False) -> _Quantifier:
    return _Quantifier(re.compile(words, re.IGNORECASE), is_checked)


def _is_repeated(claim: Claim) -> bool:
    return claim.act == "vote" and claim.actor.kind == "players" and (claim.always or claim.times is not None)


def _is_about_several(claim: Claim) -> bool:
    several = [who for who in (claim.actor, claim.target) if who is not None and len(who.names) > 1]
    return (
        bool(several) or (claim.actor.kind in ("everyone", "we") and claim.act != "eliminated") or _is_repeated(claim)
    )


def _is_counted(claim: Claim) -> bool:
    return claim.count is not None or claim.actor.count is not None


_ORDER = re.compile(r"(?<!back )\bthen\b|\b(?:afterwards|initially|originally)\b", re.IGNORECASE)
"""The order of two votes, which no check looks at."""
_QUANTIFIERS = (
    _quantifier(r"\b(?:except\w*|apart from|other than|aside from|save for|excluding|besides)\b"),
    _quantifier(
        r"\b(?:every ?one|every ?body|all|no ?body|no[ -]one|none|any ?one|any ?body)(?: of (?:us|you|them))? but\b"
    ),
    _quantifier(r"\bunanim\w+"),
    _quantifier(
        r"\b(?:few|many|several|some|differently|alike|(?:kept|keeps|stopped|started) vot\w+)\b|\bjust (?=(?-i:[A-Z]))"
    ),
    _quantifier(r"\b(?:first|last|second|third)\b(?= *(?:$|[.,;!?]|in (?:round|day)|of all))"),
    _quantifier(
        r"\b(?:round|day|night) after (?:round|day|night)\b|\bsince (?:round|day|night)\b|\bfrom (?:round|day|night)\b"
        r"|\b(?:rounds?|days?|nights?) \d+(?: ?, ?\d+)* (?:and|to|through|or) \d+\b"
    ),
    _quantifier(
        r"\bas (?:the|an?) (?:mafia|wol\w+|werewol\w+|villager|seer|doctor|town\w*)\b",
        lambda claim: claim.act != "eliminated",
    ),
    _quantifier(r"\b(?:at least|at most|up to|more than(?! half)|less than|fewer|almost|nearly|over)\b"),
    _quantifier(r"\b(?:every|each)\b(?! ?(?:one|body)\b)", _is_repeated),
    _quantifier(rf"\b(?:both|all|the same) (?:the |of the |{_SOME} )?{_ROUNDS}\b", _is_repeated),
    _quantifier(r"\b(?:both|all)\b", _is_about_several),
    _quantifier(r"\b(?:always|consistently|constantly|repeatedly|again|throughout)\b", _is_repeated),
    _quantifier(rf"\b(?:once|twice|thrice|{_SOME} times)\b(?<!at once)", _is_repeated),
    _quantifier(
        rf"(?<!round )(?<!day )(?<!night )\b{_SOME} (?:votes?|people|players|to {_SOME})\b"
        rf"|\b{_SOME} of (?:us|you|them)\b",
        _is_counted,
    ),
    _quantifier(r"\b(?:only|sole|solely)\b", lambda claim: claim.alone or claim.always),
    _quantifier(r"\b(?:first|last|second|third|final) (?:one|player|person|people|two|three|to)\b"),
    _quantifier(r"\bbetween (?:the )?rounds\b|\bin between\b"),
    _quantifier(r"\b(?:chang|switch|flip|swapp|mov|shift|jump)\w*\b.{0,40}\b(?:from|vote|mind)\b"),
    _quantifier(r"\btogether\b", lambda claim: claim.act == "vote_together"),
    _quantifier(
        r"\bby (?:every ?one|every ?body|all|most|us all|a majority)\b|^\s*every ?(?:one|body)\b",
        lambda claim: claim.act != "eliminated",
    ),
)


def is_about_another_game(text: str, claim: Claim) -> bool:
    """Whether the sentence of a claim tells of another game than the one that is played."""
    return _OTHER_GAME.search(text, *_sentence(text, claim)) is not None


def unproven_words(text: str, mentions: Sequence[Mention], claims: Sequence[Claim]) -> list[str]:
    """For each claim the first words beside it that its check does not cover; "" where it covers all of them.

    Args:
        text: The message.
        mentions: The players named in it.
        claims: The claims in it.
    """
    return [_unproven(text, mentions, claim, claims) for claim in claims]


def _unproven(text: str, mentions: Sequence[Mention], claim: Claim, claims: Sequence[Claim]) -> str:
    whole = _sentence(text, claim)
    if (denied := _DENIED.search(text, whole[0], claim.end)) or (denied := _ADDED.search(text, *whole)):
        return denied.group().strip()
    if claim.actor.kind == "vague":
        # Too vague, whatever else is said.
        return ""
    start, end = _extent(text, claim, mentions)
    said = text[start:end]
    for quantifier in _QUANTIFIERS:
        found = quantifier.words.search(said)
        if found is not None and not quantifier.is_checked(claim):
            return found.group().strip()
    beside = [each for each in claims if start <= each.start < end]
    then = _ORDER.search(said)
    if then is not None and sum(each.act == "vote" for each in beside) > 1:
        return then.group()
    covered = {name for each in beside for who in (each.actor, each.target) if who is not None for name in who.names}
    for mention in mentions:
        if start <= mention.start < end and mention.player not in covered:
            return text[mention.start : mention.end]
        if start <= mention.start < end and text[mention.end : mention.end + 6].lower() == " alone" and not claim.alone:
            return "alone"
    return ""


def _extent(text: str, claim: Claim, mentions: Sequence[Mention]) -> tuple[int, int]:
    """The stretch of a sentence that belongs to a claim: not what is thought of it before or behind."""
    start, end = _sentence(text, claim)
    behind = _NEXT_THOUGHT.search(text, claim.end, end)
    if behind is not None:
        end = behind.start()
    for one in _THOUGHT_BEFORE.finditer(text, start, claim.start):
        start = one.end()
    comma = text.rfind(",", start, claim.start)
    has_name = any(start <= mention.start < comma for mention in mentions)
    if comma >= 0 and has_name and not _GOES_ON.match(text, comma + 1):
        start = comma + 1
    return start, end


def _sentence(text: str, claim: Claim) -> tuple[int, int]:
    end = next((one.start() for one in _SENTENCE_END.finditer(text, max(claim.end - 1, 0))), len(text))
    start = max((one.end() for one in _SENTENCE_END.finditer(text, 0, claim.start)), default=0)
    return start, end
