"""Metric 6, anti-repetition: how much of what players say is not a phrase they used before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from evaluation.rubric.definitions import ANTI_REPETITION
from evaluation.rubric.discussion import Discussion, LanguagePack
from evaluation.rubric.metrics.phrases import (
    WINDOW_TOKENS,
    MessagePhrases,
    Phrase,
    PlayerPhrases,
    in_order,
    is_telling,
    phrases_by_player,
    places_of,
    windowed_rate,
)
from evaluation.score import Evidence, LedgerRow, MetricResult, RowVerdict, row_id_of, summarise
from evaluation.text.display import counted
from evaluation.transcript import Transcript

# A phrase in this share of all messages of a discussion fails it, whatever the score (the rubric's FAIL example).
_FAILING_SHARE = 30
_SHORTEST_DISCUSSION = 20
# A phrase in this share of all messages, or of one player's with so many uses, is repetitive and does not fail.
_FLAGGED_SHARE = 15
_FLAGGED_USES = 5
# Nobody reads further, and a hostile transcript could fill the memory with places.
_MOST_PLACES_SHOWN = 200


def measure(transcript: Transcript, *, threshold: float | None = None) -> MetricResult:
    """100 less the rate of repeated three-word phrases in percent (rubric 1.0, metric 6).

    Score = 100 - 100 x uses of a phrase beyond the same player's first / all counted uses. Phrases lie within one
    message; every player's name in them is one word, NAME. Not counted are the game's own formulas ("vote for NAME"):
    phrases of NAME, game terms, numbers and function words with at least one of the first two. Nor is the own name
    before a message. The same phrase from two players is not a repetition.

    A discussion of 20 messages or more in which one phrase, whoever says it, stands in 30 % of the messages is robotic:
    it fails whatever the score. A phrase of function words alone ("we need to") never does that.

    Args:
        transcript: The transcript to measure.
        threshold: In percent; the rubric's 90 when left out.

    Returns:
        A percent result. Rows for the phrases that stand in 15 % of all messages come first; they are excluded, for
        the score is not made of them. Then one row per player and phrase used at least twice, most repeated first (its
        uses beyond the first are below the line only), then one row per player for the first uses of all their phrases,
        which count. ``details`` hold the flagged phrases (``player`` is ``None`` for those of the whole discussion,
        ``fails`` tells whether one fails it), and the score in windows of 500 tokens. ``not_applicable`` without
        phrases, or where words cannot be told.
    """
    discussion = Discussion.of(transcript)
    players = phrases_by_player(discussion)
    common = list(_common_rows(in_order(discussion, players), discussion.pack))
    repeated = sorted((row for player in players for row in _repeated_rows(player)), key=lambda row: -row.denominator)
    first_uses = [row for player in players if (row := _first_uses_row(player))]
    robotic = [row for row in repeated if row.details["robotic"]]
    reason = discussion.without_words or ("" if first_uses else "no phrase of three words")
    return summarise(
        ANTI_REPETITION,
        [*common, *repeated, *first_uses],
        threshold=threshold,
        not_applicable=reason,
        failure=next((_robotic_note(row.details, "", 0) for row in common if row.details["fails"]), ""),
        notes=(
            *_robotic_notes([*(row for row in common if not row.details["fails"]), *robotic]),
            *discussion.left_out_notes,
        ),
        details={
            "robotic": [_robotic_details(row) for row in (*common, *robotic)],
            **_window_details(discussion, players),
        },
    )


def _common_rows(messages: Sequence[MessagePhrases], pack: LanguagePack | None) -> Iterator[LedgerRow]:
    """One row per phrase that stands in 15 % of all messages, the most common first; none in a short discussion."""
    total = len(messages)
    if total < _SHORTEST_DISCUSSION:
        return
    uses = Counter(chain.from_iterable([message.phrases for message in messages]))
    fewest = -(-_FLAGGED_SHARE * total // 100)
    often = {phrase for phrase, count in uses.items() if count >= fewest}
    places = places_of({phrase for phrase in often if is_telling(phrase, pack)}, messages)
    found = [(_details(phrase, where, total), where) for phrase, where in places.items()]
    for details, where in sorted(found, key=lambda one: (-one[0]["messages"], one[0]["phrase"])):
        if not _reaches(details["messages"], total, _FLAGGED_SHARE):
            continue
        details |= {"fails": _reaches(details["messages"], total, _FAILING_SHARE)}
        yield LedgerRow(
            row_id_of(ANTI_REPETITION.name, f":{details['phrase']}"),
            "phrase",
            RowVerdict.EXCLUDED,
            _common_reason(details),
            evidence=_evidence_of(where),
            refers_to=where[0][0].message.id,
            details=details | {"robotic": True},
        )


def _reaches(count: int, total: int, percent: int) -> bool:
    """Whether ``count`` is ``percent`` of ``total`` or more, in whole numbers: 15 of 50 are 30 %."""
    return 100 * count >= percent * total


def _details(phrase: Phrase, places: Sequence[tuple[MessagePhrases, int]], total: int) -> dict[str, Any]:
    in_messages = len({message for message, _ in places})
    return {"phrase": " ".join(phrase), "uses": len(places), "messages": in_messages, "of_messages": total}


def _common_reason(details: Mapping[str, Any]) -> str:
    where = f'"{details["phrase"]}" stands in {details["messages"]} of {details["of_messages"]} messages'
    if details["fails"]:
        return f"{where}, {_FAILING_SHARE} % or more: robotic: it fails whatever its score."
    return f"{where}, {_FLAGGED_SHARE} % or more, which sounds repetitive."


def _repeated_rows(player: PlayerPhrases) -> Iterator[LedgerRow]:
    for phrase, places in player.places.items():
        details = _details(phrase, places, len(player.messages))
        is_common = _reaches(details["messages"], len(player.messages), _FLAGGED_SHARE)
        details["robotic"] = is_common and len(places) >= _FLAGGED_USES
        yield LedgerRow(
            row_id_of(ANTI_REPETITION.name, f"{player.player}:{' '.join(phrase)}"),
            "phrase",
            RowVerdict.DOES_NOT_COUNT,
            _repeated_reason(player.player, phrase, details),
            player=player.player,
            denominator=float(len(places) - 1),
            evidence=_evidence_of(places),
            refers_to=places[0][0].message.id,
            details=details,
        )


def _repeated_reason(player: str, phrase: Phrase, details: dict[str, Any]) -> str:
    uses, in_messages = details["uses"], details["messages"]
    where = f"{in_messages} of {details['of_messages']} messages" if in_messages > 1 else "one message"
    flagged = ", which sounds repetitive" if details["robotic"] else ""
    return f'{player} uses "{" ".join(phrase)}" {uses} times in {where}{flagged}; only the first use counts.'


def _evidence_of(places: Sequence[tuple[MessagePhrases, int]]) -> tuple[Evidence, ...]:
    return tuple([phrases.evidence(position) for phrases, position in places[:_MOST_PLACES_SHOWN]])


def _first_uses_row(player: PlayerPhrases) -> LedgerRow | None:
    different = len(player.counts)
    if not different:
        return None
    what = "1 phrase" if different == 1 else f"{different} different phrases"
    return LedgerRow(
        row_id_of(ANTI_REPETITION.name, f"player:{player.player}"),
        "player",
        RowVerdict.COUNTS,
        f"{player.player} uses {what}; the first use of each counts.",
        player=player.player,
        numerator=float(different),
        denominator=float(different),
        details={"phrases": different, "used_once": different - len(player.places)},
    )


def _robotic_notes(rows: Sequence[LedgerRow]) -> tuple[str, ...]:
    """One remark for the whole discussion and one per player, each with the phrase used most."""
    of_player: dict[str | None, list[LedgerRow]] = {}
    for row in rows:
        of_player.setdefault(row.player, []).append(row)
    return tuple(_robotic_note(of_one[0].details, name or "", len(of_one) - 1) for name, of_one in of_player.items())


def _robotic_note(worst: Mapping[str, Any], player: str, more: int) -> str:
    rest = f" (and {counted(more, 'more phrase')} like it)" if more else ""
    of_all = f"{worst['messages']} of {worst['of_messages']} messages"
    if not player:
        word, share = ("robotic", _FAILING_SHARE) if worst["fails"] else ("repetitive", _FLAGGED_SHARE)
        return f'{word}: "{worst["phrase"]}" stands in {of_all}, {share} % or more{rest}'
    return f'repetitive: {player} uses "{worst["phrase"]}" {worst["uses"]} times in {of_all}{rest}'


def _robotic_details(row: LedgerRow) -> dict[str, Any]:
    numbers = {key: row.details[key] for key in ("phrase", "uses", "messages", "of_messages")}
    return {"player": row.player, **numbers, "fails": row.details.get("fails", False)}


def _window_details(discussion: Discussion, players: tuple[PlayerPhrases, ...]) -> dict[str, Any]:
    rate, windows = windowed_rate(discussion, players)
    return {
        "window_tokens": WINDOW_TOKENS,
        "windows": windows,
        "windowed_score": None if rate is None else 100.0 - rate,
    }
