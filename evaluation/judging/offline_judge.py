"""The judge without a model: it scores what counting can measure honestly, and says so."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from evaluation.judging.answers import HIGHEST_SCORE, ScoreAnswer
from evaluation.judging.protocol import (
    ImmediateJudge,
    JudgeKind,
    Judgement,
    JudgementStatus,
    JudgeRequest,
    OfflineInput,
    unscored,
)
from evaluation.text.tokens import tokenize

OFFLINE_MODEL = "rules-1"
"""Stands where a model's name would; changes with any rule below."""

NEEDS_A_MODEL = "needs an LLM judge"

_FEWEST_PHRASES = 10
_FEWEST_WORDS = 20
_FEWEST_CHARACTERS = 100
# A hostile text costs no more than a long one.
_MOST_CHARACTERS = 200_000


@dataclass(frozen=True, slots=True)
class Measured:
    """A rule's measurement: a share from 0 (bad) to 1 (good), ``None`` when there is too little text, and a reason."""

    share: float | None
    reason: str


class OfflineJudge(ImmediateJudge):
    """Scores fluency, convergence and consistency by counting; the rest is "not scored: needs an LLM judge"."""

    def _answer(self, request: JudgeRequest) -> Judgement:
        if request.offline is None or request.offline.dimension not in _RULES or request.answer is not ScoreAnswer:
            return _not_scored(request, NEEDS_A_MODEL)
        measured = _RULES[request.offline.dimension](_shortened(request.offline))
        if measured.share is None:
            return _not_scored(request, measured.reason)
        score = math.floor(HIGHEST_SCORE * measured.share + 0.5)
        return Judgement(
            key=request.key(OFFLINE_MODEL),
            status=JudgementStatus.SCORED,
            judge=JudgeKind.OFFLINE,
            model=OFFLINE_MODEL,
            reason=f"Counted, not judged by a model: {measured.reason}",
            score=HIGHEST_SCORE - score if request.offline.is_inverted else score,
            asked=request.prompt,
        )


def _not_scored(request: JudgeRequest, detail: str) -> Judgement:
    return unscored(request, JudgementStatus.NOT_SCORED, detail, judge=JudgeKind.OFFLINE, model=OFFLINE_MODEL)


def _shortened(given: OfflineInput) -> tuple[tuple[str, ...], ...]:
    return tuple([tuple([text[:_MOST_CHARACTERS] for text in group]) for group in given.groups])


def fluency(groups: Sequence[Sequence[str]]) -> Measured:
    """The share of three-word phrases that are used for the first time, over all messages of the first group."""
    phrases: Counter[tuple[str, ...]] = Counter()
    for text in groups[0] if groups else ():
        words = _words(text)
        phrases.update(zip(words, words[1:], words[2:], strict=False))
    uses = phrases.total()
    if uses < _FEWEST_PHRASES:
        return Measured(None, f"{uses} phrases of three words are too few to count; {_FEWEST_PHRASES} are needed")
    again = uses - len(phrases)
    return Measured(len(phrases) / uses, f"{again} of {uses} three-word phrases were used before.")


def convergence(groups: Sequence[Sequence[str]]) -> Measured:
    """Difference of the speakers' vocabularies: 1 less the mean share of words that two speakers have in common.

    Of two speakers the longer is cut to the length of the shorter, as longer texts share more words. Speakers with
    fewer than 20 words are left out.
    """
    said = [[word for text in group for word in _words(text)] for group in groups]
    speakers = [words for words in said if len(words) >= _FEWEST_WORDS]
    if len(speakers) < 2:
        return Measured(None, f"fewer than two speakers say {_FEWEST_WORDS} words")
    shares = [_in_common(one, other) for one, other in combinations(speakers, 2)]
    mean = sum(shares) / len(shares)
    return Measured(1 - mean, f"two of the {len(speakers)} speakers share {mean:.0%} of their words on average.")


def consistency(groups: Sequence[Sequence[str]]) -> Measured:
    """Similarity in style of earlier and later messages: the cosine of their counts of character triples.

    Triples of characters catch endings, punctuation and small words, whatever the language.
    """
    if len(groups) < 2:
        return Measured(None, "there are no earlier messages to compare with")
    earlier, later = (" ".join("\n".join(group).lower().split()) for group in groups[:2])
    if min(len(earlier), len(later)) < _FEWEST_CHARACTERS:
        return Measured(None, f"the earlier or the later messages hold fewer than {_FEWEST_CHARACTERS} characters")
    alike = _cosine(_triples(earlier), _triples(later))
    return Measured(alike, f"the style of the earlier and the later messages is alike by {alike:.0%}.")


_RULES: Mapping[str, Callable[[Sequence[Sequence[str]]], Measured]] = {
    "fluency": fluency,
    "convergence": convergence,
    "consistency": consistency,
}


def _words(text: str) -> list[str]:
    return [token.text for token in tokenize(text)]


def _in_common(one: Sequence[str], other: Sequence[str]) -> float:
    length = min(len(one), len(other))
    first, second = set(one[:length]), set(other[:length])
    return len(first & second) / len(first | second)


def _triples(text: str) -> Counter[str]:
    return Counter([text[start : start + 3] for start in range(len(text) - 2)])


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    product = sum(count * other[triple] for triple, count in one.items())
    return min(1.0, product / math.sqrt(_square(one) * _square(other)))


def _square(counts: Counter[str]) -> int:
    return sum(count * count for count in counts.values())
