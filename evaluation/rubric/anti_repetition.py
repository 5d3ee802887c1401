"""Metric 6, anti-repetition: how much of what players say is not a phrase they used before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation.rubric.definitions import ANTI_REPETITION
from evaluation.rubric.discussion import Discussion
from evaluation.rubric.phrases import (
    WINDOW_TOKENS,
    MessagePhrases,
    Phrase,
    PlayerPhrases,
    phrases_by_player,
    windowed_rate,
)
from evaluation.rubric.wording import counted
from evaluation.score import Evidence, LedgerRow, MetricResult, RowVerdict, summarise
from evaluation.transcript import Transcript

# A phrase in more than 15 % of a player's messages, at least 5 times, sounds robotic even when the score passes.
_ROBOTIC_SHARE = 0.15
_ROBOTIC_USES = 5
# Nobody reads further, and a hostile transcript could fill the memory with places.
_MOST_PLACES_SHOWN = 200


def measure(transcript: Transcript, *, threshold: float | None = None) -> MetricResult:
    """What is left of 100 when the rate of repeated three-word phrases is taken off (rubric 1.0, metric 6).

    Score = 100 - 100 x uses of a phrase beyond the same player's first / all counted uses. Phrases lie within one
    message; every player's name in them is one word, NAME. Phrases of NAME and game terms only are not counted, nor is
    the own name before a message. The same phrase from two players is no repetition.

    Args:
        transcript: The transcript to measure.
        threshold: In percent; the rubric's 90 when left out.

    Returns:
        A percent result. One row per player and phrase used at least twice, most repeated first (its uses beyond the
        first are below the line only), then one row per player for the first uses of all their phrases, which count.
        ``details`` hold the robotic phrases, and the score in windows of 500 tokens. ``not_applicable`` without
        phrases, or where words cannot be told.
    """
    discussion = Discussion.of(transcript)
    players = phrases_by_player(discussion)
    repeated = sorted((row for player in players for row in _repeated_rows(player)), key=lambda row: -row.denominator)
    first_uses = [row for player in players if (row := _first_uses_row(player))]
    robotic = [row for row in repeated if row.details["robotic"]]
    reason = discussion.without_words or ("" if first_uses else "no phrase of three words")
    return summarise(
        ANTI_REPETITION,
        [*repeated, *first_uses],
        threshold=threshold,
        not_applicable=reason,
        notes=_robotic_notes(robotic),
        details={"robotic": [_robotic_details(row) for row in robotic], **_window_details(discussion, players)},
    )


def _repeated_rows(player: PlayerPhrases) -> Iterator[LedgerRow]:
    for phrase, places in player.places.items():
        in_messages = len({message.message.id for message, _ in places})
        share = in_messages / len(player.messages)
        details = {
            "phrase": " ".join(phrase),
            "uses": len(places),
            "messages": in_messages,
            "of_messages": len(player.messages),
            "robotic": share > _ROBOTIC_SHARE and len(places) >= _ROBOTIC_USES,
        }
        yield LedgerRow(
            f"{ANTI_REPETITION.name}:{player.player}:{' '.join(phrase)}",
            "phrase",
            RowVerdict.DOES_NOT_COUNT,
            _repeated_reason(player.player, phrase, details),
            player=player.player,
            denominator=float(len(places) - 1),
            evidence=tuple([_evidence(message, position) for message, position in places[:_MOST_PLACES_SHOWN]]),
            refers_to=places[0][0].message.id,
            details=details,
        )


def _repeated_reason(player: str, phrase: Phrase, details: dict[str, Any]) -> str:
    uses, in_messages = details["uses"], details["messages"]
    where = f"{in_messages} of {details['of_messages']} messages" if in_messages > 1 else "one message"
    robotic = ", which sounds robotic" if details["robotic"] else ""
    return f'{player} uses "{" ".join(phrase)}" {uses} times in {where}{robotic}; only the first use counts.'


def _evidence(phrases: MessagePhrases, position: int) -> Evidence:
    start, end = phrases.span(position)
    return Evidence(start, end, phrases.message.text[start:end], phrases.message.id)


def _first_uses_row(player: PlayerPhrases) -> LedgerRow | None:
    different = len(player.counts)
    if not different:
        return None
    what = "1 phrase" if different == 1 else f"{different} different phrases"
    return LedgerRow(
        f"{ANTI_REPETITION.name}:player:{player.player}",
        "player",
        RowVerdict.COUNTS,
        f"{player.player} uses {what}; the first use of each counts.",
        player=player.player,
        numerator=float(different),
        denominator=float(different),
        details={"phrases": different, "used_once": different - len(player.places)},
    )


def _robotic_notes(rows: Sequence[LedgerRow]) -> tuple[str, ...]:
    """One remark per player, with the phrase used most."""
    of_player: dict[str | None, list[LedgerRow]] = {}
    for row in rows:
        of_player.setdefault(row.player, []).append(row)
    return tuple(_robotic_note(of_one[0].details, str(player), len(of_one) - 1) for player, of_one in of_player.items())


def _robotic_note(worst: Mapping[str, Any], player: str, more: int) -> str:
    where = f"{worst['uses']} times in {worst['messages']} of {worst['of_messages']} messages"
    rest = f" (and {counted(more, 'more phrase')} like it)" if more else ""
    return f'robotic: {player} uses "{worst["phrase"]}" {where}{rest}'


def _robotic_details(row: LedgerRow) -> dict[str, Any]:
    return {"player": row.player, **{key: row.details[key] for key in ("phrase", "uses", "messages", "of_messages")}}


def _window_details(discussion: Discussion, players: tuple[PlayerPhrases, ...]) -> dict[str, Any]:
    rate, windows = windowed_rate(discussion, players)
    return {
        "window_tokens": WINDOW_TOKENS,
        "windows": windows,
        "windowed_score": None if rate is None else 100.0 - rate,
    }
