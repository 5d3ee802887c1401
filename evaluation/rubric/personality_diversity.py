"""Metric 5, personality diversity: how many players speak unlike every other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from evaluation.rubric.definitions import PERSONALITY_DIVERSITY
from evaluation.rubric.discussion import Discussion
from evaluation.rubric.wording import counted
from evaluation.score import LedgerRow, MetricResult, decided, summarise
from evaluation.transcript import Transcript

# The rubric's "less than 70 % similar to all others".
ALIKE_FROM = 70.0
FEWEST_WORDS = 20
# Some 3,000 distinct words: more than anybody uses in a game, and few enough that a hostile text costs no time.
_MOST_CHARACTERS = 20_000


def measure(transcript: Transcript, *, threshold: float | None = None) -> MetricResult:
    """The share of players whose language resembles nobody else's (rubric 1.0, metric 5).

    All public words of a player are joined, players' names left out. A player is unique when the ``token_set_ratio`` to
    every other player's text is below 70; the ratio compares sets of words, of which the first 20,000 characters count.
    Players with fewer than 20 words (without names) are excluded and listed.

    Args:
        transcript: The transcript to measure.
        threshold: In percent; the rubric's 50 when left out.

    Returns:
        A percent result with one row per player. ``details`` holds the pairwise similarities: ``names`` of the counted
        players and ``rows``, one list of numbers from 0 to 100 per name in the same order, 100 on the diagonal.
        ``not_applicable`` when fewer than two players count, or words cannot be told in that language.
    """
    discussion = Discussion.of(transcript)
    words = words_by_player(discussion)
    names = [name for name, said in words.items() if len(said) >= FEWEST_WORDS]
    matrix = similarities([words[name] for name in names])
    compared = [_compared_row(names, index, matrix, len(words[name])) for index, name in enumerate(names)]
    excluded = [_excluded_row(name, len(said)) for name, said in words.items() if len(said) < FEWEST_WORDS]
    reason = discussion.without_words or _too_few(names)
    details = {"names": names, "rows": [[round(float(cell), 2) for cell in row] for row in matrix]}
    return summarise(
        PERSONALITY_DIVERSITY, [*compared, *excluded], threshold=threshold, not_applicable=reason, details=details
    )


def words_by_player(discussion: Discussion) -> dict[str, list[str]]:
    """What every player said in public, as normalised words without players' names; players in their order."""
    words: dict[str, list[str]] = {name: [] for name in discussion.transcript.player_names}
    for prepared in discussion.messages:
        words[prepared.message.speaker].extend([token.text for token in prepared.plain_tokens])
    return words


def similarities(texts: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """The ``token_set_ratio`` of every pair of word lists, 0 to 100; shape (texts, texts).

    The time of a pair grows with the square of the distinct words; of very long texts only the first are compared.
    """
    joined = [_distinct(words) for words in texts]
    if not joined:
        return np.empty((0, 0))
    return process.cdist(joined, joined, scorer=fuzz.token_set_ratio, dtype=np.float64)


def _distinct(words: Sequence[str]) -> str:
    """The distinct words, which are all that the ratio looks at, as one text of limited length."""
    distinct = list(dict.fromkeys(words))
    lengths = accumulate(len(word) + 1 for word in distinct)
    return " ".join([word for word, end in zip(distinct, lengths, strict=True) if end <= _MOST_CHARACTERS])


def _too_few(names: Sequence[str]) -> str:
    if len(names) >= 2:
        return ""
    who = f"only {names[0]} said" if names else "nobody said"
    return f"fewer than two players to compare: {who} {FEWEST_WORDS} words or more"


def _compared_row(names: Sequence[str], index: int, matrix: NDArray[np.float64], word_count: int) -> LedgerRow:
    name = names[index]
    if len(names) == 1:
        return _decided(name, None, "Nobody else said enough to compare with.", {"words": word_count})
    others = matrix[index].copy()
    others[index] = -1.0
    nearest = int(others.argmax())
    similarity = float(others[nearest])
    is_unique = similarity < ALIKE_FROM
    verdict = "nobody speaks like them" if is_unique else f"at {ALIKE_FROM:g} or more their language is not their own"
    reason = f"Most like {names[nearest]}, {similarity:.1f} of 100: {verdict}."
    details = {"words": word_count, "nearest": names[nearest], "similarity": round(similarity, 2)}
    return _decided(name, is_unique, reason, details)


def _excluded_row(name: str, word_count: int) -> LedgerRow:
    reason = f"Said {counted(word_count, 'word')} besides names: too few to know a style by."
    return _decided(name, None, reason, {"words": word_count})


def _decided(name: str, counts: bool | None, reason: str, details: dict[str, Any]) -> LedgerRow:
    row_id = f"{PERSONALITY_DIVERSITY.name}:player:{name}"
    return decided(row_id, "player", counts, reason, player=name, details=details)
