"""One result of several parts: nothing is asked again, so what parts say differently is called mixed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evaluation.insight.findings import Opinion, Quote, Theme

MIXED = "mixed"


def merge_opinions(opinions: Sequence[Opinion]) -> list[Opinion]:
    """One opinion per speaker: points and messages of all parts, the lowest confidence."""
    groups: dict[str, list[Opinion]] = {}
    for one in opinions:
        groups.setdefault(one.agent_id, []).append(one)
    return [
        Opinion(
            agent,
            _common(one.stance for one in group),
            " ".join(dict.fromkeys(one.summary for one in group)),
            _each_once(point for one in group for point in one.key_points),
            min(one.confidence for one in group),
            _each_once(message for one in group for message in one.message_ids),
        )
        for agent, group in groups.items()
    ]


def merge_themes(themes: Sequence[Theme]) -> list[Theme]:
    """One theme per name, whatever its case; the most frequent first."""
    groups: dict[str, list[Theme]] = {}
    for one in themes:
        groups.setdefault(" ".join(one.name.casefold().split()), []).append(one)
    merged = [_theme(group) for group in groups.values()]
    return sorted(merged, key=lambda one: -one.frequency)


def _theme(group: Sequence[Theme]) -> Theme:
    messages = _each_once(message for one in group for message in one.message_ids)
    quotes = _each_once(quote for one in group for quote in one.representative_quotes)
    return Theme(group[0].name, len(messages), quotes, _common(one.sentiment for one in group), messages)


def merge_quotes(quotes: Sequence[Quote]) -> list[Quote]:
    """Each quote once, the most relevant first."""
    by_relevance = sorted(quotes, key=lambda one: -one.relevance_score)
    return list({(one.message_id, one.content): one for one in reversed(by_relevance)}.values())[::-1]


def _common(words: Iterable[str]) -> str:
    said = set(words)
    return said.pop() if len(said) == 1 else MIXED


def _each_once(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
