"""Metric 2, strategic depth: how many messages argue with the rubric's strategic words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluation.rubric.definitions import STRATEGIC_DEPTH
from evaluation.rubric.discussion import Discussion, LanguagePack, PreparedMessage
from evaluation.score import Evidence, LedgerRow, MetricResult, decided, row_id_of, summarise
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


def measure(transcript: Transcript, *, threshold: float | None = None) -> MetricResult:
    """The share of public messages that hold a strategic keyword (rubric 1.0, metric 2).

    100 x messages with at least one keyword, in any inflection or another form of its family and as a whole word, / all
    public messages. A keyword inside a player's name is none. A judge or a person may decide a row otherwise: the
    rubric's manual override.

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
    rows = [_row(prepared, prepared.pack or discussion.pack) for prepared in discussion.messages]
    reason = "" if rows else "no public messages"
    rows += discussion.left_out_rows(STRATEGIC_DEPTH.name)
    notes = discussion.left_out_notes
    return summarise(STRATEGIC_DEPTH, rows, threshold=threshold, not_applicable=reason, notes=notes)


def _row(prepared: PreparedMessage, pack: LanguagePack) -> LedgerRow:
    message = prepared.message
    text, forms = message.text, pack.strategic_forms
    found = () if prepared.word_set.isdisjoint(forms) else [one for one in prepared.plain_tokens if one[0] in forms]
    words = list(dict.fromkeys([text[token.start : token.end] for token in found]))
    return decided(
        row_id_of(STRATEGIC_DEPTH.name, message.id),
        "message",
        bool(found),
        f"Holds {quoted(words)}." if found else "Holds none of the strategic keywords.",
        message_id=message.id,
        player=message.speaker,
        evidence=tuple([Evidence(token.start, token.end, text[token.start : token.end]) for token in found]),
        details={
            "keywords": list(dict.fromkeys([forms[token.text] for token in found])),
            "review": _bare_keyword(prepared, found, pack) if found else _missed_depth(prepared, pack),
        },
    )


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
