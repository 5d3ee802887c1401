"""Metric 5, personality diversity: how many players speak unlike every other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate, combinations, islice
from math import isqrt
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from evaluation.rubric.definitions import PERSONALITY_DIVERSITY
from evaluation.rubric.discussion import Discussion, LanguagePack
from evaluation.rubric.metrics.phrases import Phrase, PlayerPhrases, is_telling, phrases_by_player, places_of
from evaluation.score import Evidence, LedgerRow, MetricResult, decided, row_id_of, summarise
from evaluation.text.display import counted, quoted
from evaluation.transcript import Player, Transcript

# The rubric's "less than 70 % similar to all others".
ALIKE_FROM = 70.0
FEWEST_WORDS = 40
LONGEST_WINDOW = 150
"""Players are compared on windows of so many words, or of as many as the shorter of two texts has."""
MOST_WINDOWS = 9
# Each costs some 20 microseconds. Up to 32 players get all their windows, 500 get one each.
_MOST_RATIOS = 40_000
# No more than anybody writes in a window, and few enough that a hostile text costs no time.
_MOST_CHARACTERS = 4_000
_SHOWN_PHRASES = 3


def measure(transcript: Transcript, *, threshold: float | None = None) -> MetricResult:
    """The share of players whose language resembles nobody else's (rubric 1.0, metric 5).

    All public words of a player are joined, players' names left out. Two players are compared on equal amounts of text:
    windows of 150 words, or of all the words of the shorter text, evenly spaced over each text, up to 9. Their
    similarity is the median ``token_set_ratio`` over the pairs of windows. A player is unique when it is below 70 to
    every other. Players with fewer than 40 words (without names) are excluded and listed.

    Args:
        transcript: The transcript to measure.
        threshold: In percent; the rubric's 50 when left out.

    Returns:
        A percent result with one row per player: ``nearest`` is the player most like them, ``shared`` up to three
        phrases that both use (the evidence shows where), ``marks`` the rubric's marks of the personality that the
        transcript declares for them, with their counts. ``details`` hold the pairwise similarities: ``names`` of the
        counted players and ``rows``, one list of numbers from 0 to 100 per name in the same order, 100 on the diagonal.
        ``not_applicable`` when fewer than two players count, or words cannot be told in that language.
    """
    discussion = Discussion.of(transcript)
    words = words_by_player(discussion)
    names = [name for name, said in words.items() if len(said) >= FEWEST_WORDS]
    matrix = similarities([words[name] for name in names])
    phrases = {player.player: player for player in phrases_by_player(discussion)}
    marks = {player.name: _marks(player, words[player.name], discussion) for player in transcript.players}
    compared = [
        _compared_row(names, index, matrix, words, phrases, marks, discussion.pack) for index in range(len(names))
    ]
    excluded = [_excluded_row(name, len(said), marks[name]) for name, said in words.items() if len(said) < FEWEST_WORDS]
    reason = discussion.without_words or _too_few(names)
    details = {"names": names, "rows": [[round(float(cell), 2) for cell in row] for row in matrix]}
    return summarise(
        PERSONALITY_DIVERSITY,
        [*compared, *excluded],
        threshold=threshold,
        not_applicable=reason,
        notes=discussion.left_out_notes,
        details=details,
    )


def words_by_player(discussion: Discussion) -> dict[str, list[str]]:
    """Public words of every player, normalised, without players' names; players in their order."""
    words: dict[str, list[str]] = {name: [] for name in discussion.transcript.player_names}
    for prepared in discussion.messages:
        words[prepared.message.speaker].extend(prepared.plain_words)
    return words


def similarities(texts: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """Similarity of every pair of word lists, 0 to 100, on equal amounts of text; shape (texts, texts).

    Time grows with the number of pairs. Where there are more than 32 texts, fewer windows are taken from each.
    """
    found = np.full((len(texts), len(texts)), 100.0)
    pairs = len(texts) * (len(texts) - 1) // 2
    most = min(MOST_WINDOWS, max(1, isqrt(_MOST_RATIOS // max(1, pairs))))
    cut: dict[tuple[int, int], list[str]] = {}

    def windows(text: int, size: int) -> list[str]:
        if (text, size) not in cut:
            cut[text, size] = _windows(texts[text], size, most)
        return cut[text, size]

    for one, other in combinations(range(len(texts)), 2):
        size = min(len(texts[one]), len(texts[other]), LONGEST_WINDOW)
        ratios = process.cdist(windows(one, size), windows(other, size), scorer=fuzz.token_set_ratio, dtype=np.float64)
        found[one, other] = found[other, one] = median(ratios.ravel().tolist())
    return found


def _windows(words: Sequence[str], size: int, most: int) -> list[str]:
    """Windows of ``size`` words, evenly spaced, one for each time that the text holds as many, and at most ``most``."""
    count = min(most, round(len(words) / size))
    last = len(words) - size
    starts = [round(number * last / (count - 1)) for number in range(count)] if count > 1 else [0]
    return [_distinct(words[start : start + size]) for start in starts]


def _distinct(words: Sequence[str]) -> str:
    """The distinct words, which are all that the ratio looks at, sorted as it does, as one text of limited length."""
    distinct = sorted(set(words))
    joined = " ".join(distinct)
    if len(joined) <= _MOST_CHARACTERS:
        return joined
    lengths = accumulate(len(word) + 1 for word in distinct)
    return " ".join([word for word, end in zip(distinct, lengths, strict=True) if end <= _MOST_CHARACTERS])


def _marks(player: Player, words: Sequence[str], discussion: Discussion) -> dict[str, Any] | None:
    """The rubric's marks of the declared personality that the text shows; ``None`` where none is declared or known."""
    declared = (player.personality or "").strip().casefold()
    marks = discussion.pack.personality_marks.get(declared) if discussion.pack else None
    if marks is None:
        return None
    lengths = {len(mark) for mark in marks}
    runs = (zip(*(words[start:] for start in range(length)), strict=False) for length in lengths)
    counts = Counter(run for of_length in runs for run in of_length if run in marks)
    found = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return {"personality": declared, "found": {" ".join(mark): count for mark, count in found}}


def _marks_words(marks: Mapping[str, Any] | None) -> str:
    if marks is None:
        return ""
    found = quoted([str(mark) for mark in marks["found"]])
    shown = f"shows it in {found}" if found else "shows no mark of it"
    return f" Described as {marks['personality']}; the text {shown}."


def _too_few(names: Sequence[str]) -> str:
    if len(names) >= 2:
        return ""
    who = f"only {names[0]} said" if names else "nobody said"
    return f"fewer than two players to compare: {who} {FEWEST_WORDS} words or more"


def _compared_row(
    names: Sequence[str],
    index: int,
    matrix: NDArray[np.float64],
    words: Mapping[str, Sequence[str]],
    phrases: Mapping[str, PlayerPhrases],
    marks: Mapping[str, dict[str, Any] | None],
    pack: LanguagePack | None,
) -> LedgerRow:
    name = names[index]
    details: dict[str, Any] = {"words": len(words[name]), "marks": marks[name]}
    if len(names) == 1:
        return _decided(name, None, f"Nobody else said enough to compare with.{_marks_words(marks[name])}", details)
    others = matrix[index].copy()
    others[index] = -1.0
    nearest = int(others.argmax())
    similarity = float(others[nearest])
    is_unique = similarity < ALIKE_FROM
    verdict = (
        f"below {ALIKE_FROM:g}, so this language counts as their own"
        if is_unique
        else f"from {ALIKE_FROM:g} on a player's language does not count as their own"
    )
    shared = _shared_phrases(phrases[name], phrases[names[nearest]], pack)
    both = f" Both say {quoted([' '.join(phrase) for phrase in shared])}." if shared else ""
    reason = f"Most like {names[nearest]}, {similarity:.1f} of 100: {verdict}.{both}{_marks_words(marks[name])}"
    details |= {
        "nearest": names[nearest],
        "similarity": round(similarity, 2),
        "shared": [" ".join(phrase) for phrase in shared],
    }
    evidence = (*_first_uses(phrases[name], shared), *_first_uses(phrases[names[nearest]], shared))
    return _decided(name, is_unique, reason, details, evidence)


def _shared_phrases(one: PlayerPhrases, other: PlayerPhrases, pack: LanguagePack | None) -> list[Phrase]:
    """The phrases of three words that both use most, words of function alone left out."""
    shared = one.counts.keys() & other.counts.keys()
    by_use = sorted(shared, key=lambda phrase: (-min(one.counts[phrase], other.counts[phrase]), phrase))
    return list(islice((phrase for phrase in by_use if is_telling(phrase, pack)), _SHOWN_PHRASES))


def _first_uses(player: PlayerPhrases, phrases: Sequence[Phrase]) -> list[Evidence]:
    first = [places[0] for places in places_of(set(phrases), player.messages).values()]
    return [message.evidence(position) for message, position in first]


def _excluded_row(name: str, word_count: int, marks: dict[str, Any] | None) -> LedgerRow:
    reason = f"Said {counted(word_count, 'word')} besides names: too few to know a style by."
    return _decided(name, None, reason + _marks_words(marks), {"words": word_count, "marks": marks})


def _decided(
    name: str, counts: bool | None, reason: str, details: dict[str, Any], evidence: tuple[Evidence, ...] = ()
) -> LedgerRow:
    row_id = row_id_of(PERSONALITY_DIVERSITY.name, f"player:{name}")
    return decided(row_id, "player", counts, reason, player=name, details=details, evidence=evidence)
