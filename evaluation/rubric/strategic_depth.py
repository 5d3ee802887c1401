"""Metric 2, strategic depth: how many messages argue with the rubric's strategic words."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.rubric.definitions import STRATEGIC_DEPTH
from evaluation.rubric.discussion import Discussion, PreparedMessage
from evaluation.rubric.wording import quoted
from evaluation.score import Evidence, LedgerRow, MetricResult, decided, summarise
from evaluation.transcript import Transcript


def measure(transcript: Transcript, *, threshold: float | None = None) -> MetricResult:
    """The share of public messages that hold a strategic keyword (rubric 1.0, metric 2).

    100 x messages with at least one keyword, in any inflection and as a whole word, / all public messages. A keyword
    inside a player's name is none. A judge or a person may decide a row otherwise: the rubric's manual override.

    Args:
        transcript: The transcript to measure.
        threshold: In percent; the rubric's 60 when left out.

    Returns:
        A percent result with one row per public message, its keywords as evidence. ``not_applicable`` without public
        messages or in a language without a pack.
    """
    discussion = Discussion.of(transcript)
    if discussion.pack is None:
        return summarise(STRATEGIC_DEPTH, (), threshold=threshold, not_applicable=discussion.unsupported_language)
    forms = discussion.pack.strategic_forms
    rows = [_row(prepared, forms) for prepared in discussion.messages]
    return summarise(STRATEGIC_DEPTH, rows, threshold=threshold, not_applicable="" if rows else "no public messages")


def _row(prepared: PreparedMessage, forms: Mapping[str, str]) -> LedgerRow:
    message = prepared.message
    text = message.text
    found = [token for token in prepared.plain_tokens if token.text in forms]
    words = list(dict.fromkeys([text[token.start : token.end] for token in found]))
    return decided(
        f"{STRATEGIC_DEPTH.name}:{message.id}",
        "message",
        bool(found),
        f"Holds {quoted(words)}." if found else "Holds none of the strategic keywords.",
        message_id=message.id,
        player=message.speaker,
        evidence=tuple([Evidence(token.start, token.end, text[token.start : token.end]) for token in found]),
        details={"keywords": list(dict.fromkeys([forms[token.text] for token in found]))},
    )
