"""Personality diversity of the same messages by other authors.

The seam: :func:`diversity_score` repeats the rule of ``evaluation.rubric.personality_diversity`` on the words of each
message. ``tests/unit/test_controls.py`` holds it to what the metric itself says.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evaluation.rubric.controls._draws import DRAWS
from evaluation.rubric.discussion import Discussion
from evaluation.rubric.personality_diversity import ALIKE_FROM, FEWEST_WORDS, similarities

Words = Sequence[Sequence[str]]
# Products of distinct words that are compared in about a tenth of a second.
_MOST_WORK = 10**8
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
    """How many copies can be scored in a fraction of a second; fewer where players use many different words."""
    of_player: dict[str, set[str]] = {}
    for words, speaker in zip(messages, speakers, strict=True):
        of_player.setdefault(speaker, set()).update(words)
    sizes = sorted(map(len, of_player.values()))
    work = sum(one * other for place, one in enumerate(sizes) for other in sizes[:place])
    return max(_FEWEST_DRAWS, min(DRAWS, _MOST_WORK // max(1, work)))
