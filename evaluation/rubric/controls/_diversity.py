"""Personality diversity of the same messages by other authors.

:func:`diversity_score` repeats the rule of ``evaluation.rubric.metrics.personality_diversity`` on the words of each
message. ``tests/unit/rubric/test_controls.py`` checks that both give the same scores.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evaluation.rubric.controls._draws import DRAWS
from evaluation.rubric.discussion import Discussion
from evaluation.rubric.metrics.personality_diversity import (
    ALIKE_FROM,
    FEWEST_WORDS,
    LONGEST_WINDOW,
    MOST_WINDOWS,
    similarities,
)

Words = Sequence[Sequence[str]]
# Windows that are compared in about a tenth of a second.
_MOST_RATIOS = 5_000
_FEWEST_DRAWS = 20


def words_of_messages(discussion: Discussion) -> Words:
    """The words of each public message, players' names left out."""
    return [[token.text for token in prepared.plain_tokens] for prepared in discussion.messages]


def diversity_score(messages: Words, speakers: Sequence[str]) -> float | None:
    """The score in percent, ``None`` where fewer than two players said enough.

    Args:
        messages: The words of each message.
        speakers: Its author.
    """
    of_player: dict[str, list[str]] = {}
    for words, speaker in zip(messages, speakers, strict=True):
        of_player.setdefault(speaker, []).extend(words)
    compared = [words for words in of_player.values() if len(words) >= FEWEST_WORDS]
    if len(compared) < 2:
        return None
    matrix = similarities(compared)
    np.fill_diagonal(matrix, -1.0)
    return float(100.0 * (matrix.max(axis=1) < ALIKE_FROM).mean())


def draws_in_time(messages: Words, speakers: Sequence[str]) -> int:
    """The number of copies that can be scored in a fraction of a second; fewer where players say more."""
    lengths: dict[str, int] = {}
    for words, speaker in zip(messages, speakers, strict=True):
        lengths[speaker] = lengths.get(speaker, 0) + len(words)
    windows = [min(MOST_WINDOWS, round(length / LONGEST_WINDOW) or 1) for length in lengths.values()]
    ratios = sum(one * other for place, one in enumerate(windows) for other in windows[:place])
    return max(_FEWEST_DRAWS, min(DRAWS, _MOST_RATIOS // max(1, ratios)))
