"""Metric 2, strategic depth: how many messages argue with the rubric's strategic words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from evaluation.rubric.definitions import STRATEGIC_DEPTH
from evaluation.rubric.discussion import Discussion, LanguagePack, PreparedMessage
from evaluation.rubric.speech import Reading, read
from evaluation.score import PROOF, Evidence, LedgerRow, MetricResult, decided, row_id_of, summarise
from evaluation.text.display import quoted
from evaluation.text.tokens import Token
from evaluation.transcript import Transcript

BARE_KEYWORD = "bare keyword"
"""Kind of a row that counts, but may be shallow."""
NO_KEYWORD = "no keyword"
"""Kind of a row that does not count, but may be deep."""
# In words.
_LONGEST_BARE = 6
_SHORTEST_DEEP = 9
_REASON_WORDS = frozenset({"because", "becouse", "becuse", "cuz", "coz", "bc", "due", "reason", "since"})
# "Since" gives a reason before a person, elsewhere a time ("since birth"). Ends of sentences are words here.
_REASON = re.compile(
    r"(?<! no )\b(?:because|becouse|becuse|cuz|coz|bc|due to|the reason (?:is|for)"
    r"|since(?= (?:i|you|u|he|she|they|we|NAME)\b))"
    r" (?P<given>[^.?]+)(?P<end>[.?]|$)"
)
# Says the accusation again, or only what all have to do, in place of a reason.
_HOLLOW = re.compile(
    r"(?:of (?:that|this|reasons?)|reasons?|(?:(?:NAME|he|she|they|you|u|it|i)(?:'s|'re|'m)?"
    r"|i'm|he's|she's|you're|they're|it's)? ?(?:is|are|am)? ?(?:just |clearly |definitely |obviously )?(?:an? |the )?"
    r"(?:mafia|wolf|werewolf|evil|scum|bad|guilty|sus|suspicious|villager|town|innocent|good)?) ?"
    r"|we(?: all)? (?:have to|need to|must|should)\b.*"
)
# Grants a reason of others, to go on with "but": "I know that we look odd due to NAME's claim, but I am honest".
_GRANTED = re.compile(r"\bi (?:do |can |fully )?(?:understand|know|realize|see|get)\b(?:(?! but | however )[^.?])*$")
_ABOUT_THE_GAME = re.compile(
    r"\b(?:NAME|you|u|your|he|she|they|him|her|vot\w+|mafia|wol[fv]\w*|seer|town|villager|round)\b"
)
_AGREES = re.compile(
    r"(?:i )?(?:\w+ly )?(?:agree|disagree)(?: with (?:that|this|it|you|him|her|them|NAME)(?: NAME)?)?(?: NAME)?"
)
_JOINS = frozenset({"and", "also", "but", "that", "just", "then", "so", "yes", "no", "well", "ok", "oh"})
_EVENTS = frozenset({"vote", "voted", "vote_together", "votes_received", "abstained", "eliminated", "role_was"})


def measure(transcript: Transcript, *, threshold: float | None = None) -> MetricResult:
    """The share of public messages that argue (rubric 1.0, metric 2).

    100 x messages that argue / all public messages, less those that a reader leaves open. A message argues with at
    least one keyword, in any inflection or another form of its family and as a whole word; a keyword inside a player's
    name is none. A reader, a judge or a person may decide a row otherwise: the rubric's manual override. Three kinds of
    rows are *proven* (``details["proof"]``), with or without a keyword, so that only a person decides them otherwise: a
    stated reason about the game argues, however short ("cuz you were silent"), unless it only says the accusation again
    ("because she is Mafia") or what all must do ("since we need to find them"); bare reports of votes or eliminations
    and plain agreement do not.

    Args:
        transcript: The transcript to measure.
        threshold: In percent; the rubric's 60 when left out.

    Returns:
        A percent result with one row per public message, its keywords as evidence. Rows that a person may
        decide otherwise have ``details["review"]``: their ``kind`` and the ``likelihood``, from 0 to 1.
        ``not_applicable`` without public
        messages or in another language than English. Messages in such a language among others are
        excluded and counted in a note.
    """
    discussion = Discussion.of(transcript)
    if discussion.pack is None:
        return summarise(STRATEGIC_DEPTH, (), threshold=threshold, not_applicable=discussion.unsupported_language)
    rows = [
        _row(prepared, prepared.pack or discussion.pack, reading)
        for prepared, reading in zip(discussion.messages, read(discussion), strict=True)
    ]
    reason = "" if rows else "no public messages"
    rows += discussion.left_out_rows(STRATEGIC_DEPTH.name)
    notes = discussion.left_out_notes
    return summarise(STRATEGIC_DEPTH, rows, threshold=threshold, not_applicable=reason, notes=notes)


def _row(prepared: PreparedMessage, pack: LanguagePack, reading: Reading) -> LedgerRow:
    message = prepared.message
    text, forms = message.text, pack.strategic_forms
    is_without = forms.keys().isdisjoint(prepared.word_set)
    found = () if is_without else [one for one in prepared.plain_tokens if one[0] in forms]
    words = list(dict.fromkeys([text[token.start : token.end] for token in found]))
    proof = _proof(prepared, reading)
    held = f"Holds {quoted(words)}." if found else "Holds none of the strategic keywords."
    counts, reason = proof or (bool(found), held)
    details: dict[str, Any] = {"keywords": list(dict.fromkeys([forms[token.text] for token in found]))}
    if proof is not None:
        details |= {PROOF: True, "review": None}
    else:
        details["review"] = _bare_keyword(prepared, found, pack) if found else _missed_depth(prepared, pack)
    return decided(
        row_id_of(STRATEGIC_DEPTH.name, message.id),
        "message",
        counts,
        reason,
        message_id=message.id,
        player=message.speaker,
        evidence=tuple([Evidence(token.start, token.end, text[token.start : token.end]) for token in found]),
        details=details,
    )


def _proof(prepared: PreparedMessage, reading: Reading) -> tuple[bool, str] | None:
    """Whether the message provably argues, or provably does not, with the reason; ``None`` where neither is proven."""
    words = prepared.word_set
    if not _REASON_WORDS.isdisjoint(words):
        said = " ".join(_words_and_stops(prepared))
        for reason in _REASON.finditer(said):
            is_told = reason["end"] != "?" and not _HOLLOW.fullmatch(reason["given"])
            is_granted = " but " in reason["given"] and _GRANTED.search(said[: reason.start()])
            if is_told and not is_granted and _ABOUT_THE_GAME.search(said):
                return True, "Gives a reason."
    if "agree" in words or "disagree" in words:
        said = " ".join(_words_and_stops(prepared)).strip(" .")
        return (False, "Agrees, without a reason of its own.") if _AGREES.fullmatch(said) else None
    spans = [(claim.start, claim.end) for claim in reading.claims if claim.act in _EVENTS]
    if spans:
        outside = [one for one in prepared.tokens if not any(start <= one.start < end for start, end in spans)]
        if all(one.text in _JOINS for one in outside):
            return False, "Only reports what happened."
    return None


def _words_and_stops(prepared: PreparedMessage) -> Iterator[str]:
    """The words of a message, every mention as one, with "." or "?" where a sentence ends."""
    text, position = prepared.message.text, prepared.body_start
    for piece in (*prepared.pieces, None):
        gap = text[position : piece.start if piece else len(text)]
        if gap != " " and not _STOPS.isdisjoint(gap):
            yield "?" if "?" in gap else "."
        if piece is not None:
            yield piece.text
            position = piece.end


_STOPS = frozenset(".!?\n")


def _bare_keyword(prepared: PreparedMessage, found: Sequence[Token], pack: LanguagePack) -> dict[str, Any] | None:
    """Offers a message that counts for a vote, an opinion or trust alone; with fewer words shallowness is likelier."""
    words = len(prepared.tokens)
    if len(found) > 1 or words > _LONGEST_BARE or found[0].text not in pack.bare_keywords:
        return None
    return {"kind": BARE_KEYWORD, "likelihood": round(1 - words / (2 * _LONGEST_BARE), 2)}


def _missed_depth(prepared: PreparedMessage, pack: LanguagePack) -> dict[str, Any] | None:
    """Offers a long message about other players without a keyword; each sign of reasoning makes depth likelier."""
    if len(prepared.tokens) < _SHORTEST_DEEP or prepared.named <= {prepared.message.speaker}:
        return None
    signs = [not words.isdisjoint(prepared.word_set) for words in pack.signs_of_depth.values()]
    return {"kind": NO_KEYWORD, "likelihood": round((1 + sum(signs)) / (2 + 2 * len(signs)), 2)}
